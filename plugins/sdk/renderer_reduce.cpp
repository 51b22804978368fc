// SPDX-License-Identifier: Apache-2.0
//
// Renders the common code of reductions: identities, combining, compensated totals, and the kernel
// that folds the partial results of a reduction in parts.
#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {
namespace {

// The smallest or largest value of an integer dtype as text.
std::string limit(uint8_t dtype, bool largest) {
  const bool is_signed = dtype <= TUTTI_I64;
  const uint32_t bits = dtype_size(dtype) * 8;
  if (!is_signed && !largest) return "0";
  const uint64_t top = is_signed ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0} >> (64 - bits);
  const std::string text = std::to_string(top) + (is_signed ? (bits == 64 ? "L" : "") : "UL");
  return largest ? text : join("(-", text, " - 1)");
}

}  // namespace

std::string program::identity() const {
  const uint8_t dtype = layout_.accumulator;
  const bool floating = is_floating(dtype);
  if (is_complex(dtype)) {
    return join("tutti_complex_", dtype_name(part_dtype(dtype)),
                layout_.reduction == TUTTI_REDUCE_PROD ? "(1, 0)" : "(0, 0)");
  }
  switch (layout_.reduction) {
    case TUTTI_REDUCE_PROD:
      return "1";
    case TUTTI_REDUCE_ALL:
      return "1";
    case TUTTI_REDUCE_MIN:
    case TUTTI_REDUCE_ARGMIN:
      if (dtype == TUTTI_BOOL) return "1";
      return floating ? "INFINITY" : limit(dtype, true);
    case TUTTI_REDUCE_MAX:
    case TUTTI_REDUCE_ARGMAX:
      if (dtype == TUTTI_BOOL) return "0";
      return floating ? "-INFINITY" : limit(dtype, false);
    default:
      return "0";
  }
}

std::string program::combined(const std::string& a, const std::string& b) {
  const uint8_t dtype = layout_.accumulator;
  const bool floating = is_floating(dtype);
  if (is_complex(dtype)) {
    const bool product = layout_.reduction == TUTTI_REDUCE_PROD;
    return call(product ? "multiply" : "add", dtype, join(a, ", ", b));
  }
  const auto arithmetic = [&](const char* op) {
    if (floating) return join(a, op, b);
    const std::string u = join("(", type(unsigned_dtype(dtype)), ")");
    return join("(", type(dtype), ")(", u, a, op, u, b, ")");
  };
  const auto extremum = [&](const char* op, const char* function) {
    if (!floating) return join(a, op, b, " ? ", a, " : ", b);
    const std::string name = join(function, dtype_name(dtype));
    helpers_.functions.insert(name);
    return join(name, "(", a, ", ", b, ")");
  };
  switch (layout_.reduction) {
    case TUTTI_REDUCE_PROD:
      return arithmetic(" * ");
    case TUTTI_REDUCE_MIN:
    case TUTTI_REDUCE_ARGMIN:
      return extremum(" < ", "tutti_minimum_");
    case TUTTI_REDUCE_MAX:
    case TUTTI_REDUCE_ARGMAX:
      return extremum(" > ", "tutti_maximum_");
    case TUTTI_REDUCE_ANY:
      return join("(", a, " | ", b, ")");
    case TUTTI_REDUCE_ALL:
      return join("(", a, " & ", b, ")");
    default:
      return arithmetic(" + ");
  }
}

void program::combine(const std::string& into, const std::string& value, const std::string& into_at,
                      const std::string& value_at) {
  if (!layout_.finds_index()) {
    out_.line(into, " = ", combined(into, value), ";");
    return;
  }
  // The lower index wins for equal values and for NaNs, so any order of combining is correct.
  const bool floating = is_floating(layout_.accumulator);
  const char* better = layout_.reduction == TUTTI_REDUCE_ARGMIN ? " < " : " > ";
  out_.line("{");
  out_.line("const ", accumulator_type(), " x = ", value, ";");
  out_.line("const ", accumulator_type(), " y = ", into, ";");
  out_.line("const ", position_type(), " xi = ", value_at, ";");
  out_.line("const ", position_type(), " yi = ", into_at, ";");
  const char* wins = floating ? " | ((x != x) & (y == y))" : "";
  const char* ties = floating ? "((x == y) | ((x != x) & (y != y)))" : "(x == y)";
  out_.line("const bool take = (x", better, "y)", wins, " | (", ties, " & (xi < yi));");
  out_.line(into, " = take ? x : y;");
  out_.line(into_at, " = take ? xi : yi;");
  out_.line("}");
}

bool program::compensates() const {
  return layout_.reduction == TUTTI_REDUCE_SUM && is_floating(part_dtype(layout_.accumulator));
}

std::vector<std::string> program::parts_of(const std::string& name) const {
  if (!is_complex(layout_.accumulator)) return {name};
  return {name + ".re", name + ".im"};
}

void program::declare_total(const std::string& name) {
  out_.line(accumulator_type(), " ", name, " = ", identity(), ";");
  if (layout_.finds_index()) out_.line(position_type(), " ", name, "_at = ", no_position(), ";");
}

// On CPUs positions are 32-bit unless the program is wide, like values of that width.
uint8_t program::position_dtype() const {
  return layout_.kind == schedule::cpu && !layout_.wide ? TUTTI_I32 : TUTTI_I64;
}

std::string program::position_type() const { return type(position_dtype()); }

std::string program::no_position() const { return limit(position_dtype(), true); }

// Float sums are compensated (Kahan, 1965), except after an infinity or NaN.
void program::add_to_total(const std::string& value, const std::string& at) {
  if (!compensates()) {
    combine("total", value, "total_at", at);
    return;
  }
  const std::vector<std::string> totals = parts_of("total"), losses = parts_of("lost");
  std::vector<std::string> values = parts_of("added_value");
  if (values.size() == 1) {
    values[0] = value;
  } else {
    out_.line("{");
    out_.line("const ", accumulator_type(), " added_value = ", value, ";");
  }
  const std::string part = type(part_dtype(layout_.accumulator));
  for (size_t k = 0; k < totals.size(); ++k) {
    out_.line("{");
    out_.line("const ", part, " corrected = ", values[k], " - ", losses[k], ";");
    out_.line("const ", part, " sum = ", totals[k], " + corrected;");
    out_.line(losses[k], " = sum - sum == 0 ? (sum - ", totals[k], ") - corrected : 0;");
    out_.line(totals[k], " = sum;");
    out_.line("}");
  }
  if (totals.size() > 1) out_.line("}");
}

// Adds the last lane to the compensated `total` in OUTER reductions.
void program::add_last_lane() {
  for (const std::string& part : parts_of(""))
    out_.line("total", part, " += lane[j]", part, " - lost", part, ";");
}

// Stores `total` for the kept point with coordinates c0.. and linear index `kept_index`.
void program::store_result(const std::string& kept_index) {
  out_.line("if (parts > 1) {");
  out_.line("partial[part * kept + ", kept_index, "] = total;");
  if (layout_.finds_index()) out_.line("partial_at[part * kept + ", kept_index, "] = total_at;");
  out_.line("} else {");
  store_finished();
  out_.line("}");
}

void program::store_finished() {
  const bool index = layout_.finds_index();
  const std::string value =
      cast(index ? "total_at" : "total", index ? position_dtype() : layout_.accumulator,
           desc_.outputs[0].dtype);
  out_.line(store(0, {"out0", base(layout_.inputs, 0, layout_.kept, true)}, value));
}

void program::finish_kernel_text() {
  out_.line();
  open_kernel(finish_kernel, false);
  if (layout_.kind == schedule::cpu) {
    cpu_share("kept");
    out_.line("for (", index_, " k = first; k < last; ++k) {");
    coordinates("k", 0, layout_.kept);
    add_parts("0", "++p");
    store_finished();
    out_.line("}");
  } else {
    gpu_finish();
  }
  out_.line("}");
}

// Adds up the partial results of point `k` from part `first` on.
void program::add_parts(const char* first, const char* next) {
  declare_total("total");
  if (compensates()) out_.line(accumulator_type(), " lost = ", identity(), ";");
  out_.line("for (", index_, " p = ", first, "; p < parts; ", next, ") {");
  add_to_total("partial[p * kept + k]", "partial_at[p * kept + k]");
  out_.line("}");
}

}  // namespace tutti::sdk::detail
