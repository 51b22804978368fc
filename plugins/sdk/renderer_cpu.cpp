// SPDX-License-Identifier: Apache-2.0
//
// The CPU schedule: one work-item per group, each with an even share of the units; innermost loops
// that the compiler vectorises; no local memory, no barriers.
#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {

// Units [first, last) of this group.
void program::cpu_share(const char* count) {
  out_.line("const ", index_, " group = ", words_.group_index, ";");
  out_.line("const ", index_, " groups = ", words_.group_count, ";");
  out_.line("const ", index_, " first = ", count, " * group / groups;");
  out_.line("const ", index_, " last = ", count, " * (group + 1) / groups;");
}

// The pointers of the first operands into the line that begins at the current coordinates and
// `start`.
void program::cpu_line_pointers(uint32_t inner, uint32_t operands) {
  for (uint32_t n = 0; n < operands; ++n) {
    const std::string step = operand_desc(n).access == TUTTI_ACCESS_UNIT
                                 ? std::string("start")
                                 : join("start * ", operand(n), "_stride", inner);
    out_.line(pointer_type(n), " p_", operand(n), " = ", operand(n), " + (",
              base(n, 0, inner, true), " + ", step, ");");
  }
}

// The innermost loop over `length` elements at the pointers.
void program::cpu_line(uint32_t inner) {
  const auto at = [&](uint32_t n) {
    const uint8_t how = operand_desc(n).access;
    return place{"p_" + operand(n), how == TUTTI_ACCESS_UNIT ? std::string("i")
                                    : how == TUTTI_ACCESS_ZERO
                                        ? std::string("0")
                                        : join("i * ", operand(n), "_stride", inner)};
  };
  hoisted_loads(at);
  vector_pragma();
  out_.line("for (", index_, " i = 0; i < length; ++i) {");
  body(at, true, "linear + i");
  store_outputs(at);
  out_.line("}");
}

void program::cpu_map() {
  if (layout_.tiled) return cpu_tiles();
  const uint32_t inner = layout_.kept - 1;
  cpu_share("units");
  out_.line(index_, " piece = first % segments;");
  if (inner > 0) {
    // Increments the row coordinates instead of dividing for each row.
    out_.line(index_, " row = first / segments;");
    for (uint32_t d = inner; d-- > 0;) {
      out_.line(index_, " c", d, " = ", d ? join("row % n", d) : std::string("row"), ";");
      if (d) out_.line("row /= n", d, ";");
    }
  }
  out_.line("for (", index_, " unit = first; unit < last; ++unit) {");
  out_.line("const ", index_, " start = piece * segment;");
  out_.line("const ", index_, " rest = n", inner, " - start;");
  out_.line("const ", index_, " length = rest < segment ? rest : segment;");
  cpu_line_pointers(inner, layout_.inputs + layout_.outputs);
  if (uses_iota()) {
    std::string row = inner ? "c0" : "0";
    for (uint32_t d = 1; d < inner; ++d) row = join("(", row, " * n", d, " + c", d, ")");
    out_.line("const ", index_, " linear = ", row, " * n", inner, " + start;");
  }
  cpu_line(inner);
  out_.line("if (++piece == segments) {");
  out_.line("piece = 0;");
  for (uint32_t d = inner; d-- > 0;) {
    if (d == 0) {
      out_.line("++c0;");
    } else {
      out_.line("if (++c", d, " == n", d, ") {");
      out_.line("c", d, " = 0;");
    }
  }
  for (uint32_t d = 1; d < inner; ++d) out_.line("}");
  out_.line("}");
  out_.line("}");
}

// Tiles of `parts` lines of `segment` elements, so that the next line reuses cache lines.
void program::cpu_tiles() {
  const uint32_t inner = layout_.kept - 1, across = inner - 1;
  cpu_share("units");
  out_.line("const ", index_, " bands = (n", across, " + parts - 1) / parts;");
  out_.line("for (", index_, " unit = first; unit < last; ++unit) {");
  out_.line("const ", index_, " band = unit / segments;");
  out_.line("const ", index_, " start = (unit - band * segments) * segment;");
  out_.line("const ", index_, " rest = n", inner, " - start;");
  out_.line("const ", index_, " length = rest < segment ? rest : segment;");
  out_.line("const ", index_, " outer = band / bands;");
  out_.line("const ", index_, " c", across, " = (band - outer * bands) * parts;");
  out_.line("const ", index_, " lines = n", across, " - c", across, ";");
  out_.line("const ", index_, " height = lines < parts ? lines : parts;");
  coordinates("outer", 0, across);
  cpu_line_pointers(inner, layout_.inputs + layout_.outputs);
  if (uses_iota()) out_.line(index_, " linear = c", across, " * n", inner, " + start;");
  out_.line("for (", index_, " line = 0; line < height; ++line) {");
  cpu_line(inner);
  for (uint32_t n = 0; n < layout_.inputs + layout_.outputs; ++n)
    out_.line("p_", operand(n), " += ", operand(n), "_stride", across, ";");
  if (uses_iota()) out_.line("linear += n", inner, ";");
  out_.line("}");
  out_.line("}");
}

void program::cpu_inner() {
  const uint32_t rank = layout_.rank(), kept = layout_.kept;
  cpu_share("units");
  out_.line("for (", index_, " unit = first; unit < last; ++unit) {");
  out_.line("const ", index_, " kept_index = unit / parts;");
  out_.line("const ", index_, " part = unit - kept_index * parts;");
  coordinates("kept_index", 0, kept);
  declare_total("total");
  if (compensates()) out_.line(accumulator_type(), " lost = ", identity(), ";");
  out_.line("const ", index_, " end = steps * (part + 1) / parts;");
  out_.line("for (", index_, " step = steps * part / parts; step < end; ++step) {");
  out_.line("const ", index_, " line = step / segments;");
  out_.line("const ", index_, " start = (step - line * segments) * segment;");
  out_.line("const ", index_, " rest = n", rank - 1, " - start;");
  out_.line("const ", index_, " length = rest < segment ? rest : segment;");
  coordinates("line", kept, layout_.reduced - 1);
  cpu_line_pointers(rank - 1, layout_.inputs);
  if (layout_.finds_index()) {
    out_.line("const ", index_, " linear = line * n", rank - 1, " + start;");
  }
  cpu_inner_row("$n");
  out_.line("}");
  store_result("kept_index");
  out_.line("}");
}

// One contiguous line of a reduction: element i is added to lane i % count, and the lanes are
// folded. `visited`: how many of the $n lanes the loop over the last_lanes last elements visits.
void program::cpu_inner_row(const std::string& visited) {
  const uint32_t inner = layout_.rank() - 1;
  const uint32_t lanes = dtype_size(layout_.accumulator) >= 8 ? 32 : 64;
  const std::string count = std::to_string(lanes);
  const bool index = layout_.finds_index();
  const auto at = [&](const std::string& i) {
    return [this, i, inner](uint32_t n) {
      const uint8_t how = operand_desc(n).access;
      return place{"p_" + operand(n), how == TUTTI_ACCESS_UNIT ? i
                                      : how == TUTTI_ACCESS_ZERO
                                          ? std::string("0")
                                          : join("(", i, ") * ", operand(n), "_stride", inner)};
    };
  };
  hoisted_loads(at("0"));
  out_.line(accumulator_type(), " lane[", count, "];");
  out_.line("for (int j = 0; j < ", count, "; ++j) lane[j] = ", identity(), ";");
  if (index) {
    out_.line(position_type(), " lane_at[", count, "];");
    out_.line("for (int j = 0; j < ", count, "; ++j) lane_at[j] = ", no_position(), ";");
  }
  // LLVM may read elements whatever the condition says in a loop that is declared parallel.
  const auto add_lanes = [&](const std::string& number, const char* condition) {
    if (*condition == '\0') vector_pragma();
    out_.line("for (int j = 0; j < ", number, "; ++j) {");
    out_.line(accumulator_type(), " next = lane[j];");
    if (index) out_.line(position_type(), " next_at = lane_at[j];");
    out_.line(condition, "{");
    body(at("i + j"), true, "");
    combine("next", reduced_value(), "next_at", "linear + i + j");
    out_.line("}");
    out_.line("lane[j] = next;");
    if (index) out_.line("lane_at[j] = next_at;");
    out_.line("}");
  };
  out_.line(index_, " i = 0;");
  out_.line("for (; i + ", count, " <= length; i += ", count, ") {");
  add_lanes(count, "");
  out_.line("}");
  out_.line("const int last_lanes = (int)(length - i);");
  out_.line("if (last_lanes > 0) {");
  add_lanes(replaced(visited, "$n", count), "if (j < last_lanes) ");
  out_.line("}");
  fold_lanes(lanes);
}

// Halves the lanes until one is left. The position of the best value is the least one of the lanes
// with this value; if it is NaN, of the lanes with a NaN.
void program::fold_lanes(uint32_t lanes) {
  const std::string count = std::to_string(lanes);
  const auto halve = [&](const std::string& array, const std::string& better) {
    uint32_t halvings = 0;
    while (lanes >> halvings > 1) ++halvings;
    out_.line(replaced(as_text(words_.unroll), "$n", std::to_string(halvings)));
    out_.line("for (int w = ", count, " / 2; w > 0; w /= 2) {");
    out_.line("for (int j = 0; j < w; ++j) ", array, "[j] = ", better, ";");
    out_.line("}");
  };
  if (!layout_.finds_index()) {
    halve("lane", combined("lane[j]", "lane[j + w]"));
    return add_to_total("lane[0]", "");
  }
  out_.line(accumulator_type(), " best[", count, "];");
  out_.line("for (int j = 0; j < ", count, "; ++j) best[j] = lane[j];");
  halve("best", combined("best[j]", "best[j + w]"));
  const char* nan = is_floating(layout_.accumulator) ? " | (lane[j] != lane[j])" : "";
  out_.line("const ", accumulator_type(), " best_value = best[0];");
  vector_pragma();
  out_.line("for (int j = 0; j < ", count, "; ++j) {");
  out_.line("const ", position_type(), " at = lane_at[j];");
  out_.line("lane_at[j] = ((lane[j] == best_value)", nan, ") ? at : ", no_position(), ";");
  out_.line("}");
  halve("lane_at", "lane_at[j] < lane_at[j + w] ? lane_at[j] : lane_at[j + w]");
  add_to_total("best_value", "lane_at[0]");
}

void program::cpu_outer() {
  const uint32_t kept = layout_.kept, inner = kept - 1, last = layout_.rank() - 1;
  const std::string block = std::to_string(layout_.block);
  const bool index = layout_.finds_index();
  cpu_share("units");
  out_.line("for (", index_, " unit = first; unit < last; ++unit) {");
  out_.line("const ", index_, " part = unit % parts;");
  out_.line("const ", index_, " column_block = unit / parts;");
  out_.line("const ", index_, " row = column_block / segments;");
  out_.line("const ", index_, " start = (column_block - row * segments) * ", block, ";");
  out_.line("const ", index_, " rest = n", inner, " - start;");
  out_.line("const ", index_, " width = rest < ", block, " ? rest : ", block, ";");
  coordinates("row", 0, inner);
  out_.line(accumulator_type(), " lane[", block, "];");
  out_.line("for (", index_, " j = 0; j < width; ++j) lane[j] = ", identity(), ";");
  if (compensates()) {
    out_.line(accumulator_type(), " totals[", block, "], losses[", block, "];");
    out_.line("for (", index_, " j = 0; j < width; ++j) totals[j] = losses[j] = ", identity(), ";");
    out_.line(index_, " added = 0;");
  }
  if (index) {
    out_.line(position_type(), " lane_at[", block, "];");
    out_.line("for (", index_, " j = 0; j < width; ++j) lane_at[j] = ", no_position(), ";");
    if (loads_apart()) out_.line(accumulator_type(), " value[", block, "];");
  }
  out_.line("const ", index_, " end = steps * (part + 1) / parts;");
  out_.line("for (", index_, " step = steps * part / parts; step < end;) {");
  coordinates("step", kept, layout_.reduced);
  out_.line(index_, " run = n", last, " - c", last, ";");
  out_.line("if (run > end - step) run = end - step;");
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    const std::string column = operand_desc(n).access == TUTTI_ACCESS_UNIT
                                   ? std::string("start")
                                   : join("start * ", operand(n), "_stride", inner);
    std::string outer = base(n, 0, inner, true) + " + " + base(n, kept, last + 1, false);
    out_.line(pointer_type(n), " p_", operand(n), " = ", operand(n), " + (", outer, " + ", column,
              ");");
  }
  out_.line("while (run > 0) {");
  if (loads_apart()) {
    cpu_outer_rows(1);
  } else {
    out_.line("if (run >= 8) {");
    cpu_outer_rows(8);
    out_.line("} else {");
    cpu_outer_rows(1);
    out_.line("}");
  }
  if (compensates()) {
    out_.line("if (added >= 256) {");
    out_.line("added = 0;");
    out_.line("for (", index_, " j = 0; j < width; ++j) {");
    out_.line(accumulator_type(), " total = totals[j], lost = losses[j];");
    add_to_total("lane[j]", "");
    out_.line("totals[j] = total;");
    out_.line("losses[j] = lost;");
    out_.line("lane[j] = ", identity(), ";");
    out_.line("}");
    out_.line("}");
  }
  out_.line("}");
  out_.line("}");
  out_.line("for (", index_, " j = 0; j < width; ++j) {");
  out_.line("const ", index_, " c", inner, " = start + j;");
  if (compensates()) {
    out_.line(accumulator_type(), " total = totals[j];");
    out_.line(accumulator_type(), " lost = losses[j];");
    add_last_lane();
  } else {
    out_.line("const ", accumulator_type(), " total = lane[j];");
  }
  if (index) out_.line("const ", position_type(), " total_at = lane_at[j];");
  store_result(join("row * n", inner, " + c", inner));
  out_.line("}");
  out_.line("}");
}

// PoCL's compiler does not vectorise a loop with both strided loads and a search for a position,
// but it does vectorise two separate loops.
bool program::loads_apart() const {
  const auto strided = [&](uint32_t n) { return operand_desc(n).access == TUTTI_ACCESS_STRIDED; };
  bool any = false;
  for (uint32_t n = 0; n < layout_.inputs; ++n) any = any || strided(n);
  return any && layout_.finds_index();
}

// Adds `rows` rows of the block of columns and advances. Compensated sums first add several rows to
// each other, so that a lane takes one eighth of the additions.
void program::cpu_outer_rows(uint32_t rows) {
  const uint32_t inner = layout_.kept - 1, last = layout_.rank() - 1;
  const auto at = [&](uint32_t n) {
    const uint8_t how = operand_desc(n).access;
    std::string i = how == TUTTI_ACCESS_UNIT   ? std::string("j")
                    : how == TUTTI_ACCESS_ZERO ? std::string()
                                               : join("j * ", operand(n), "_stride", inner);
    if (rows > 1) i += join(i.empty() ? "" : " + ", "u * ", operand(n), "_stride", last);
    return place{"p_" + operand(n), i.empty() ? std::string("0") : i};
  };
  vector_pragma();
  out_.line("for (", index_, " j = 0; j < width; ++j) {");
  const bool apart = rows > 1 && compensates();
  if (apart) out_.line(accumulator_type(), " rows_sum = ", identity(), ";");
  if (rows > 1) {
    out_.line(replaced(as_text(words_.unroll), "$n", std::to_string(rows)));
    out_.line("for (int u = 0; u < ", rows, "; ++u) {");
  }
  body(at, false, "");
  std::string value = reduced_value();
  if (loads_apart()) {
    out_.line("value[j] = ", value, ";");
    out_.line("}");
    vector_pragma();
    out_.line("for (", index_, " j = 0; j < width; ++j) {");
    value = "value[j]";
  }
  combine(apart ? "rows_sum" : "lane[j]", value, "lane_at[j]", rows > 1 ? "step + u" : "step");
  if (rows > 1) out_.line("}");
  if (apart) combine("lane[j]", "rows_sum", "", "");
  out_.line("}");
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    out_.line("p_", operand(n), " += ", rows, " * ", operand(n), "_stride", last, ";");
  }
  out_.line("run -= ", rows, ";");
  out_.line("step += ", rows, ";");
  if (compensates()) out_.line("added += ", rows, ";");
}

}  // namespace tutti::sdk::detail
