// SPDX-License-Identifier: Apache-2.0
//
// The GPU schedule: grid-stride loops with coalesced accesses, and trees in local memory for
// reductions of the fastest-moving axis.
#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {

void program::gpu_map() {
  const std::string wide = type(TUTTI_I64);
  out_.line("for (", wide, " n = ", words_.global_index, "; n < units; n += ", words_.global_size,
            ") {");
  if (layout_.vector > 1) {
    gpu_map_vectors();
    out_.line("}");
    return;
  }
  out_.line("const ", index_, " linear = (", index_, ")n;");
  coordinates("linear", 0, layout_.kept);
  const auto at = [&](uint32_t n) { return place{operand(n), base(n, 0, layout_.kept, true)}; };
  body(at, false, "linear");
  store_outputs(at);
  out_.line("}");
}

void program::gpu_map_vectors() {
  const uint32_t inner = layout_.kept - 1;
  out_.line("const ", index_, " vector = (", index_, ")n;");
  vector_place("vector", 0, layout_.kept);
  out_.line("const ", index_, " c", inner, " = start;");
  load_vectors();
  for (uint32_t n = layout_.inputs; n < layout_.inputs + layout_.outputs; ++n)
    declare_vector(n, layout_.kept);
  each_lane();
  body([&](uint32_t n) { return lane(n, ""); }, true, join("line * n", inner, " + start + k"));
  store_outputs([&](uint32_t n) { return lane(n, ""); });
  out_.line("}");
  store_vectors();
}

// Adds the reduced element number n to the total.
void program::gpu_element() {
  out_.line("const ", index_, " step = (", index_, ")n;");
  coordinates("step", layout_.kept, layout_.reduced);
  body([&](uint32_t n) { return place{operand(n), base(n, 0, layout_.rank(), true)}; }, false, "");
  add_to_total(reduced_value(), "step");
}

// Adds the vectors of the reduced elements n, n + lanes ..
void program::gpu_elements() {
  load_rows("lanes", true);
  each_row();
  hoist_row();
  each_lane();
  out_.line("if (k < counts[r]) {");
  body([&](uint32_t n) { return lane(n, "[r]"); }, true, "");
  add_to_total(reduced_value(), "positions[r] + k");
  out_.line("}");
  out_.line("}");
  out_.line("}");
}

void program::declare_tree() {
  out_.line(words_.local, accumulator_type(), " tree[", layout_.work_group, "];");
  if (layout_.finds_index())
    out_.line(words_.local, type(TUTTI_I64), " tree_at[", layout_.work_group, "];");
  out_.line("const int local_index = ", words_.local_index, ";");
}

void program::enter_tree() {
  out_.line("tree[local_index] = total;");
  if (layout_.finds_index()) out_.line("tree_at[local_index] = total_at;");
  out_.line(words_.barrier);
}

// Halves the totals of work-items in local memory until `least` times two are left per reduction.
void program::gpu_tree(const char* least) {
  enter_tree();
  out_.line("for (int w = lanes / 2; w > ", least, "; w /= 2) {");
  out_.line("if (lane < w) {");
  combine("tree[local_index]", "tree[local_index + w]", "tree_at[local_index]",
          "tree_at[local_index + w]");
  out_.line("}");
  out_.line(words_.barrier);
  out_.line("}");
}

// The rest of the tree within a warp, without local memory.
void program::gpu_shuffles() {
  const auto from = [&](const std::string& value) {
    return replaced(replaced(as_text(words_.shuffle), "$v", value), "$d", "w");
  };
  out_.line("for (int w = lanes > 32 ? 16 : lanes / 2; w > 0; w /= 2) {");
  std::string moved = from("total");
  if (is_complex(layout_.accumulator)) {
    const uint8_t part = part_dtype(layout_.accumulator);
    moved = call("complex", part, join(from("total.re"), ", ", from("total.im")));
  }
  out_.line("const ", accumulator_type(), " other = ", moved, ";");
  if (layout_.finds_index()) {
    out_.line("const ", type(TUTTI_I64), " other_at = ", from("total_at"), ";");
  }
  combine("total", "other", "total_at", "other_at");
  out_.line("}");
}

void program::gpu_inner() {
  const std::string group = std::to_string(layout_.work_group);
  const std::string wide = type(TUTTI_I64);
  const bool index = layout_.finds_index();
  declare_tree();
  out_.line("const int lanes = (int)segment;");
  out_.line("const int lane = local_index & (lanes - 1);");
  out_.line("const int slots = ", group, " / lanes;");
  out_.line("const int slot = local_index / lanes;");
  out_.line("for (", wide, " base = (", wide, ")", words_.group_index,
            " * slots; base < units; base += (", wide, ")", words_.group_count, " * slots) {");
  out_.line("const ", wide, " unit = base + slot;");
  // Most reductions have one part and need no divisions.
  out_.line("const ", index_, " kept_index = (", index_, ")(parts == 1 ? unit : unit / parts);");
  out_.line("const ", index_, " part = (", index_, ")(unit - (", wide, ")kept_index * parts);");
  coordinates("kept_index", 0, layout_.kept);
  declare_total("total");
  if (compensates()) out_.line(accumulator_type(), " lost = ", identity(), ";");
  out_.line("if (unit < units) {");
  const bool vectors = layout_.vector > 1;
  gpu_part(" + lane", join("n += ", vectors ? rows() : 1, " * lanes"));
  vectors ? gpu_elements() : gpu_element();
  out_.line("}");
  out_.line("}");
  if (words_.shuffle.empty()) {
    gpu_tree("0");
  } else {
    out_.line("if (lanes > 32) {");
    gpu_tree("16");
    out_.line("total = tree[local_index];");
    if (index) out_.line("total_at = tree_at[local_index];");
    out_.line("}");
    gpu_shuffles();
  }
  out_.line("if (lane == 0 && unit < units) {");
  if (words_.shuffle.empty()) {
    out_.line("total = tree[local_index];");
    if (index) out_.line("total_at = tree_at[local_index];");
  }
  store_result("kept_index");
  out_.line("}");
  out_.line(words_.shuffle.empty() ? "" : "if (lanes > 32) ", words_.barrier);
  out_.line("}");
}

// The loop over the steps of a part, without its end.
void program::gpu_part(const char* first, const std::string& next) {
  const std::string wide = type(TUTTI_I64);
  const auto bound = [&](const char* part) {
    return join("(", wide, ")steps * ", part, " / parts");
  };
  out_.line("const ", wide, " end = parts == 1 ? (", wide, ")steps : ", bound("(part + 1)"), ";");
  out_.line("const ", wide, " begin = parts == 1 ? (", wide, ")0 : ", bound("part"), ";");
  out_.line("for (", wide, " n = begin", first, "; n < end; ", next, ") {");
}

// In a group, `slots` neighbours process neighbouring points for coalesced reads of partial
// results; the work-items of one point share its parts (finish_slots of launch_plan.cpp).
void program::gpu_finish() {
  const std::string group = std::to_string(layout_.work_group);
  const std::string wide = type(TUTTI_I64);
  declare_tree();
  out_.line("int slots = 1;");
  out_.line("while (slots < kept && slots < ", group, " && (slots < 32 || ", group,
            " / slots > parts)) slots *= 2;");
  out_.line("const int lanes = ", group, " / slots;");
  out_.line("const int lane = local_index / slots;");
  out_.line("for (", wide, " first = (", wide, ")", words_.group_index,
            " * slots; first < kept; first += (", wide, ")", words_.group_count, " * slots) {");
  out_.line("const bool is_point = first + local_index % slots < kept;");
  out_.line("const ", index_, " k = is_point ? (", index_, ")first + local_index % slots : 0;");
  out_.line("const ", index_, " begin = is_point ? lane : parts;");
  add_parts("begin", "p += lanes");
  enter_tree();
  out_.line("for (int w = lanes / 2; w > 0; w /= 2) {");
  out_.line("if (lane < w) {");
  combine("tree[local_index]", "tree[local_index + w * slots]", "tree_at[local_index]",
          "tree_at[local_index + w * slots]");
  out_.line("}");
  out_.line(words_.barrier);
  out_.line("}");
  out_.line("if (lane == 0 && is_point) {");
  coordinates("k", 0, layout_.kept);
  out_.line("total = tree[local_index];");
  if (layout_.finds_index()) out_.line("total_at = tree_at[local_index];");
  store_finished();
  out_.line("}");
  out_.line(words_.barrier);
  out_.line("}");
}

void program::gpu_outer() {
  const std::string wide = type(TUTTI_I64);
  out_.line("const ", wide, " columns = parts == 1 ? (", wide, ")units : units / parts;");
  out_.line("for (", wide, " unit = ", words_.global_index,
            "; unit < units; unit += ", words_.global_size, ") {");
  // Neighbours process neighbouring columns of one part.
  out_.line("const ", index_, " part = (", index_, ")(parts == 1 ? (", wide,
            ")0 : unit / columns);");
  out_.line("const ", index_, " column = (", index_, ")(unit - part * columns);");
  if (layout_.vector > 1) {
    gpu_outer_vectors();
    out_.line("}");
    return;
  }
  coordinates("column", 0, layout_.kept);
  declare_total("total");
  if (compensates()) out_.line(accumulator_type(), " lost = ", identity(), ";");
  gpu_part("", "++n");
  gpu_element();
  out_.line("}");
  store_result("column");
  out_.line("}");
}

void program::gpu_outer_vectors() {
  const uint32_t inner = layout_.kept - 1, width = layout_.vector;
  const bool index = layout_.finds_index();
  vector_place("column", 0, layout_.kept);
  out_.line(accumulator_type(), " totals[", width, "];");
  if (compensates()) out_.line(accumulator_type(), " losses[", width, "];");
  if (index) out_.line(position_type(), " totals_at[", width, "];");
  each_lane();
  out_.line("totals[k] = ", identity(), ";");
  if (compensates()) out_.line("losses[k] = ", identity(), ";");
  if (index) out_.line("totals_at[k] = ", no_position(), ";");
  out_.line("}");
  gpu_part("", join("n += ", rows()));
  load_rows("1", false);
  each_row();
  out_.line("if (counts[r] > 0) {");
  hoist_row();
  each_lane();
  out_.line(accumulator_type(), " total = totals[k];");
  if (compensates()) out_.line(accumulator_type(), " lost = losses[k];");
  if (index) out_.line(position_type(), " total_at = totals_at[k];");
  body([&](uint32_t n) { return lane(n, "[r]"); }, true, "");
  add_to_total(reduced_value(), "positions[r]");
  out_.line("totals[k] = total;");
  if (compensates()) out_.line("losses[k] = lost;");
  if (index) out_.line("totals_at[k] = total_at;");
  out_.line("}");
  out_.line("}");
  out_.line("}");
  out_.line("}");
  each_lane();
  out_.line("if (k < count) {");
  out_.line("const ", index_, " c", inner, " = start + k;");
  out_.line("const ", accumulator_type(), " total = totals[k];");
  if (index) out_.line("const ", position_type(), " total_at = totals_at[k];");
  store_result(join("line * n", inner, " + c", inner));
  out_.line("}");
  out_.line("}");
}

}  // namespace tutti::sdk::detail
