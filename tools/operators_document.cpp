// SPDX-License-Identifier: Apache-2.0
//
// The text of docs/operators.md.
#include "operators_document.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace tutti::tools {
namespace {

constexpr dtype_set of(std::initializer_list<int> dtypes) {
  dtype_set out;
  for (int d : dtypes) out.bits |= TUTTI_DTYPE_BIT(d);
  return out;
}

constexpr dtype_set NONE{};
constexpr dtype_set INTEGRAL =
    of({TUTTI_I8, TUTTI_I16, TUTTI_I32, TUTTI_I64, TUTTI_U8, TUTTI_U16, TUTTI_U32, TUTTI_U64});
constexpr dtype_set INDICES = of({TUTTI_I32, TUTTI_I64});
constexpr dtype_set HALVES = of({TUTTI_F16, TUTTI_BF16});
constexpr dtype_set DEVICE_HALVES = device_halves;
constexpr dtype_set FLOATS = HALVES + of({TUTTI_F32, TUTTI_F64});
constexpr dtype_set COMPLEX = of({TUTTI_C64, TUTTI_C128});
constexpr dtype_set REAL = INTEGRAL + FLOATS;
constexpr dtype_set ORDERED = REAL + of({TUTTI_BOOL});
constexpr dtype_set NUMERIC = REAL + COMPLEX;
constexpr dtype_set ANY = ORDERED + COMPLEX;
constexpr dtype_set REAL_FLOATING = FLOATS;
constexpr dtype_set FLOATING = FLOATS + COMPLEX;

// Indices of the rows of operators, and bit sets of them.
enum place {
#define TUTTI_OPERATOR(id, ...) place_##id,
#include "function_table.def"
#undef TUTTI_OPERATOR
};
enum bit : std::uint32_t {
#define TUTTI_OPERATOR(id, ...) id = 1u << place_##id,
#include "function_table.def"
#undef TUTTI_OPERATOR
};

const operator_row operators[] = {
#define TUTTI_OPERATOR(id, number, reference, opencl, cuda, files, doc) \
  {#id, number, reference, opencl, cuda, files, doc},
#include "function_table.def"
#undef TUTTI_OPERATOR
};

std::vector<function_row> collect_functions() {
  std::vector<function_row> out;
  const char *in = nullptr, *section = nullptr, *introduction = nullptr;
#define TUTTI_SECTION(header, title, text) in = #header, section = title, introduction = text;
#define TUTTI_FUNCTION(name, operands, gradient, tolerance, made_of, doc) \
  out.push_back(                                                          \
      {in, section, introduction, #name, #operands, operands, gradient, tolerance, made_of, doc});
#include "function_table.def"
#undef TUTTI_SECTION
#undef TUTTI_FUNCTION
  return out;
}

const other_header others[] = {
#define TUTTI_OTHER_HEADER(header, doc) {#header, doc},
#include "function_table.def"
#undef TUTTI_OTHER_HEADER
};

std::string_view section_of(int id) {
  struct section {
    int first;
    std::string_view title;
  };
  const section sections[] = {{81, "Parts of complex numbers"},
                              {70, "Rounding, classification and kin"},
                              {50, "Trigonometric and hyperbolic functions"},
                              {40, "Exponentials and logarithms"},
                              {20, "Comparison and logic"}};
  for (const section& s : sections)
    if (id >= s.first) return s.title;
  return "Arithmetic";
}

std::vector<elementwise_row> collect() {
  std::vector<elementwise_row> rows = {
#define TUTTI_OP(id, name, arity, kinds, result, floats, ints, host, gradient, low, high, ulp, \
                 doc)                                                                          \
  {section_of(id), id, arity, #name, #kinds, #result, #gradient, low, high, ulp, doc},
#include "tutti/op_table.def"
#undef TUTTI_OP
  };
  std::erase_if(rows, [](const elementwise_row& row) { return row.kinds == "IR"; });
  return rows;
}

// ---- text

std::string lower(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string dtype_names(dtype_set set) {
  static const char* const names[] = {"",    "bool", "i8",  "i16",  "i32", "i64", "u8",  "u16",
                                      "u32", "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  std::string text;
  for (unsigned d = TUTTI_BOOL; d <= TUTTI_C128; ++d)
    if ((set.bits >> d & 1) != 0) text += (text.empty() ? "" : ", ") + std::string(names[d]);
  return text;
}

std::string row_of(std::initializer_list<std::string_view> cells) {
  std::string text = "|";
  for (std::string_view cell : cells) {
    text += ' ';
    for (char c : cell) text += c == '|' ? "\\|" : std::string(1, c);
    text += " |";
  }
  return text + '\n';
}

std::string code(std::string_view text) { return '`' + std::string(text) + '`'; }

const char preamble[] = R"(<!-- SPDX-License-Identifier: Apache-2.0 -->
# Operators

Every public function on the values of arrays: `elementwise.hpp`, `ops.hpp`, `movement.hpp`,
`indexing.hpp`, `sorting.hpp`, `contractions.hpp`, `statistics.hpp` and `random.hpp`, in the order of
the headers, which tell shapes, arguments and errors. This page is generated from the tables that
the library is made of, `core/include/tutti/op_table.def` and `tools/function_table.def`
(`cmake --build build/release --target operators_document` writes it anew); tests fail where it is
out of date, where a function has no row, and where a plugin claims more or less than it says.

## How to read the tables

**dtypes** of the operands after promotion (`dtype.hpp`); others throw `dtype_error`. Where operands
are "none", the dtype is fixed or an argument.

)";

const char columns[] = R"(
A device may lack f64, and with it c128: making such an array there throws. f16 and bf16 are stored
everywhere and computed in f32 where the device does not compute in them.

**gradient**: what becomes of `g`, the cotangent of the result `y`, for each operand `a`, `b`. "As
its steps": the function is recorded as the operations that it is composed of, whose gradients do
the rest. Complex numbers follow `grad.hpp`. All are checked against central differences in f64, to
2e-7 relative and absolute.

**tolerance** of a result on a device.
- *n ulp*: at most that many representable numbers from the correctly rounded result, in f32 and in
  f64, over the range that the row names and over random bits; *exact* is 0 ulp; integers are
  always exact. f16 and bf16 are computed in f32 (with the ulp of f32) and rounded once. Complex
  results differ by at most 4 n units in the last place of the larger part, at least 4.
- *1e-6 (host)*: relative to the larger of the result and 1, in f32, against loops over doubles on
  the host; (NumPy) against vectors that NumPy and SciPy made; "f64" and what follows is the same
  for f64.
- *same bits everywhere*: on every plugin, as the documented arithmetic on Philox words gives;
  Kolmogorov-Smirnov and chi-square tests use fixed keys and bounds that one key in a thousand
  exceeds.

**plugins**: *all* are reference, opencl (in its schedules for CPUs and for GPUs) and cuda, with
kernels of their own; after the colon stand the operators of the plugin ABI that do the work. What
a device leaves out runs on the host, is counted and said once, or fails with
`TUTTI_FALLBACK=error`.

)";

std::string kinds_table() {
  struct kind {
    const char* name;
    const char* meaning;
  };
  const kind kinds[] = {
      {"any", "bool, integers, floats, complex"},
      {"ordered", "bool, integers, floats"},
      {"numeric", "integers, floats, complex"},
      {"real", "integers, floats"},
      {"floating", "floats, complex; bool and integers become f32"},
      {"real floating", "floats; bool and integers become f32"},
      {"floats", "f16, bf16, f32, f64"},
      {"integral", "i8 to i64, u8 to u64; bitwise operations and shifts also bool, one bit wide"},
      {"logical", "any, as truth values"},
  };
  std::string text = row_of({"name", "dtypes"}) + "| --- | --- |\n";
  for (const kind& k : kinds) text += row_of({k.name, k.meaning});
  return text;
}

constexpr std::string_view head =
    "| function | dtypes | gradient | tolerance | plugins | how |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

// ---- rows of op_table.def

std::string gradient_of(const elementwise_row& row) {
  constexpr std::string_view opening = "GRAD(";
  if (row.gradient.starts_with(opening))
    return code(row.gradient.substr(opening.size(), row.gradient.size() - opening.size() - 1));
  if (row.result == "BOOL") return "none: truth values";
  if (row.kinds == "INTEGRAL") return "none: of integers";
  if (row.name == "nextafter") return "none: a matter of representation";
  return "none: constant in pieces";
}

std::string tolerance_of(const elementwise_row& row) {
  if (row.ulp == 0) return "exact";
  return number(row.ulp) + " ulp, " + number(row.low) + " to " + number(row.high);
}

std::string result_of(const elementwise_row& row) {
  const std::string kinds = lower(std::string(row.kinds));
  const std::string_view result = row.result;
  if (result == "BOOL") return kinds + " to bool";
  if (result == "REAL_OF") return kinds + "; real results";
  if (result == "COMPLEX_OF") return kinds + "; complex results";
  return kinds;
}

std::string elementwise_sections() {
  std::string text =
      "## Elementwise (`elementwise.hpp`)\n\nEach is one instruction of the fused programs; "
      "operands broadcast. The operators\n`+ - * / % == != < <= > >= & | ^ ~ !` of `ops.hpp` are "
      "functions "
      "here.\n";
  std::string_view section;
  for (const elementwise_row& row : elementwise_rows()) {
    if (row.section != section) {
      section = row.section;
      text += "\n### " + std::string(section) + "\n\n" + std::string(head);
    }
    const std::string call = std::string(row.name) + (row.arity == 1 ? "(a)" : "(a, b)");
    text += row_of(
        {code(call), result_of(row), gradient_of(row), tolerance_of(row), "all: map", row.doc});
  }
  return text;
}

// ---- rows of function_table.def

// The dtypes of a function for which the plugin has no operator and which the core does not convert
// either: complex numbers are handled by their parts, f16 and bf16 in f32, bool as u8.
dtype_set missing(const function_row& f, const operator_row& op, dtype_set claimed) {
  const bool indices = op.number == TUTTI_OPERATOR_COUNT || op.number == TUTTI_OPERATOR_SELECT;
  if (op.number == 0 || indices) return {};
  return f.dtypes - COMPLEX - HALVES - of({TUTTI_BOOL}) - claimed;
}

std::string plugins_of(const function_row& f) {
  std::string names, gaps;
  for (std::size_t k = 0; k < std::size(operators); ++k) {
    if ((f.made_of >> k & 1) == 0) continue;
    const operator_row& op = operators[k];
    names += (names.empty() ? "" : ", ") + lower(op.id);
    const std::pair<const char*, dtype_set> plugins[] = {{"opencl", op.opencl}, {"cuda", op.cuda}};
    for (const auto& [plugin, claimed] : plugins) {
      const dtype_set gap = missing(f, op, claimed);
      if (gap == dtype_set{}) continue;
      gaps += "; " + lower(op.id) + " of " + dtype_names(gap) + ": not " + plugin;
    }
  }
  return "all: " + names + gaps;
}

std::string function_sections() {
  std::string text;
  std::string_view section;
  for (const function_row& f : function_rows()) {
    if (section != f.section) {
      section = f.section;
      text += "\n## " + std::string(section) + " (`" + f.header + "`)\n\n";
      if (*f.section_text != 0) text += std::string(f.section_text) + "\n\n";
      text += head;
    }
    text +=
        row_of({code(f.name), lower(f.operands), f.gradient, f.tolerance, plugins_of(f), f.doc});
  }
  return text;
}

std::string claim_text(dtype_set claimed) {
  if (claimed == ANY) return "any";
  if (claimed == ORDERED) return "ordered";
  if (claimed == NUMERIC) return "numeric";
  if (claimed == REAL) return "real";
  if (claimed == FLOATING - HALVES) return "f32, f64, complex";
  if (claimed == INDICES) return "indices (i32, i64)";
  if (claimed == REAL - HALVES) return "real, but no f16 and bf16";
  if (claimed == REAL - HALVES + DEVICE_HALVES)
    return "real; f16 and bf16 where the device computes in them";
  return dtype_names(claimed);
}

std::string operators_table() {
  std::string text =
      "\n## What the plugins do\n\nThe operators that all of the above come down to; complex "
      "numbers that a plugin does not claim are\nhandled by their real and imaginary parts, f16 "
      "and "
      "bf16 in f32, bool as u8.\n\n" +
      row_of({"operator", "what", "reference", "opencl", "cuda", "kernels"}) +
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const operator_row& op : operators)
    text += row_of({lower(op.id), op.doc, claim_text(op.reference), claim_text(op.opencl),
                    claim_text(op.cuda), op.files});
  text += "\n## Not on this page\n\n" + row_of({"header", "what"}) + "| --- | --- |\n";
  for (const other_header& h : others) text += row_of({code(h.header), h.doc});
  return text;
}

}  // namespace

std::span<const operator_row> operator_rows() { return operators; }
std::span<const elementwise_row> elementwise_rows() {
  static const std::vector<elementwise_row> rows = collect();
  return rows;
}

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::span<const function_row> function_rows() {
  static const std::vector<function_row> rows = collect_functions();
  return rows;
}
std::span<const other_header> other_headers() { return others; }

std::string operators_document() {
  return preamble + kinds_table() + columns + elementwise_sections() + function_sections() +
         operators_table();
}

}  // namespace tutti::tools
