// SPDX-License-Identifier: Apache-2.0
//
// Renders C++ functions over blocks of contiguous elements for the host engine
// (host_engine/write_routines.cpp): one instruction, and the steps of a reduction.
#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {

namespace {

constexpr const char* last_lanes = "TUTTI_LAST_LANES($n, last_lanes)";

void join_helpers(helpers& all, const helpers& more) {
  all.functions.insert(more.functions.begin(), more.functions.end());
  all.integers.insert(more.integers.begin(), more.integers.end());
  all.saturating.insert(more.saturating.begin(), more.saturating.end());
}

}  // namespace

std::string program::block_function(const std::string& name, helpers& needed) {
  const uint32_t output = layout_.inputs;
  const auto is_pair = [this](uint32_t n) { return is_complex(operand_desc(n).dtype); };
  bool has_pairs = is_pair(output);
  for (uint32_t n = 0; n < output; ++n) has_pairs = has_pairs || is_pair(n);
  out_.line("static void ", name, "(const void* const* in, void* out, ", index_, " count) {");
  // Complex numbers are taken apart, a piece at a time, so that a vector has real or imaginary
  // parts only: products of both in one are contracted by GCC 12, regardless of flags.
  const std::string from = has_pairs ? " + first" : "";
  if (has_pairs) {
    out_.line("for (", index_, " first = 0; first < count; first += tutti_piece) {");
    out_.line("const ", index_,
              " some = count - first < tutti_piece ? count - first : tutti_piece;");
  }
  for (uint32_t n = 0; n < output; ++n) {
    const std::string start = join("(", pointer_type(n), ")in[", n, "]", from);
    if (is_pair(n))
      out_.line("const tutti_parts<", type(operand_desc(n).dtype), "> ", operand(n), "(", start,
                ", some);");
    else
      out_.line(pointer_type(n), operand(n), " = ", start, ";");
  }
  const std::string end = join("(", pointer_type(output), ")out", from);
  if (is_pair(output))
    out_.line("tutti_parts<", type(operand_desc(output).dtype), "> out0;");
  else
    out_.line(pointer_type(output), "out0 = ", end, ";");
  vector_pragma();
  out_.line("for (", index_, " i = 0; i < ", has_pairs ? "some" : "count", "; ++i) {");
  body([this](uint32_t n) { return place{operand(n), "i"}; }, false, "");
  const uint32_t value = desc_.outputs[0].value;
  out_.line(
      store(0, place{"out0", "i"}, cast(join("v", value), dtypes_[value], desc_.outputs[0].dtype)));
  out_.line("}");
  if (is_pair(output)) out_.line("out0.join(", end, ", some);");
  if (has_pairs) out_.line("}");
  out_.line("}");
  see_complex_types();
  join_helpers(needed, helpers_);
  return out_.text;
}

std::string program::reduction_functions(const std::string& name, helpers& needed) {
  layout_.wide = true;  // programs of any size use these functions, with positions of any size
  const std::string acc = accumulator_type();
  out_.line("static void ", name, "_start(void* into, ", type(TUTTI_I64), "* into_at, ", index_,
            " count) {");
  out_.line("for (", index_, " j = 0; j < count; ++j) ((", acc, "*)into)[j] = ", identity(), ";");
  if (layout_.finds_index())
    out_.line("for (", index_, " j = 0; j < count; ++j) into_at[j] = 0x7fffffffffffffffL;");
  out_.line("}");
  reduction_of_a_line(name);
  reduction_of_rows(name, false);
  if (layout_.finds_index()) reduction_of_rows(name, true);
  if (compensates()) sums_of_rows(name);
  see_complex_types();
  join_helpers(needed, helpers_);
  return out_.text;
}

// The CPU schedule for one contiguous line; the values are input 0. Positions within it are narrow,
// so that more of them fit a vector.
void program::reduction_of_a_line(const std::string& name) {
  const std::string acc = accumulator_type(), at = type(TUTTI_I64);
  const bool index = layout_.finds_index();
  out_.line("static void ", name, "_line(const void* values, ", index_, " first, ", index_,
            " length, void* into, ", at, "* into_at, void* losses) {");
  out_.line(pointer_type(0), "p_in0 = (", pointer_type(0), ")values;");
  if (index) {
    layout_.wide = false;
    declare_total("total");
    out_.line("const ", position_type(), " linear = 0;");
    cpu_inner_row(last_lanes);
    layout_.wide = true;
    out_.line(acc, "* totals = (", acc, "*)into;");
    combine("*totals", "total", "*into_at", "first + total_at");
    out_.line("}");
    return;
  }
  out_.line(acc, " total = *(", acc, "*)into;");
  if (compensates()) out_.line(acc, " lost = *(", acc, "*)losses;");
  cpu_inner_row(last_lanes);
  out_.line("*(", acc, "*)into = total;");
  if (compensates()) out_.line("*(", acc, "*)losses = lost;");
  out_.line("}");
}

// Element by element. `numbered`: each value has its own index, else all have the index `step`.
void program::reduction_of_rows(const std::string& name, bool numbered) {
  const std::string acc = accumulator_type(), at = type(TUTTI_I64);
  out_.line("static void ", name, numbered ? "_join" : "_row", "(void* into, ", at,
            "* into_at, const void* values, ",
            numbered ? join("const ", at, "* value_at") : join(index_, " step"), ", ", index_,
            " count) {");
  out_.line(acc, "* lane = (", acc, "*)into;");
  out_.line(pointer_type(0), "in0 = (", pointer_type(0), ")values;");
  vector_pragma();
  out_.line("for (", index_, " j = 0; j < count; ++j) {");
  body([this](uint32_t n) { return place{operand(n), "j"}; }, false, "");
  combine("lane[j]", reduced_value(), "into_at[j]", numbered ? "value_at[j]" : "step");
  out_.line("}");
  out_.line("}");
}

// Compensated totals: adds the lanes to the totals and clears them; adds the last lanes.
void program::sums_of_rows(const std::string& name) {
  const std::string acc = accumulator_type();
  const auto open = [&](const char* step) {
    out_.line("static void ", name, step, "(void* into, void* loss, const void* values, ", index_,
              " count) {");
    out_.line(acc, "* totals = (", acc, "*)into;");
    out_.line(acc, "* losses = (", acc, "*)loss;");
    out_.line("const ", acc, "* lane = (const ", acc, "*)values;");
    vector_pragma();
    out_.line("for (", index_, " j = 0; j < count; ++j) {");
    out_.line(acc, " total = totals[j], lost = losses[j];");
  };
  open("_compensate");
  add_to_total("lane[j]", "");
  out_.line("totals[j] = total;");
  out_.line("losses[j] = lost;");
  out_.line("}");
  out_.line("}");
  open("_settle");
  add_last_lane();
  out_.line("totals[j] = total;");
  out_.line("}");
  out_.line("}");
}

}  // namespace tutti::sdk::detail
