// SPDX-License-Identifier: Apache-2.0
//
// Combines declarations and their documentation, formatted according to .clang-format.
#include "elementwise_header.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "elementwise_rows.hpp"

namespace tutti::tools {
namespace {

constexpr std::size_t width = 100;

const char opening[] = R"(// SPDX-License-Identifier: Apache-2.0
//
// The elementwise functions, one for each row of op_table.def. This header is generated from that
// table and tools/elementwise_text.def: change those, then
// cmake --build build/release --target elementwise_header. ops.hpp includes it.
//
// Each records one instruction and returns at once. Operands broadcast as in NumPy, to the shape of
// the result, and promote as in dtype.hpp; a dtype that the function does not take throws
// dtype_error, shapes that do not broadcast throw shape_error, operands on different devices
// device_error. f16 and bf16 are computed in f32 and rounded once.
//
// Results are exact unless a tolerance is given: a distance from the correctly rounded result in
// representable numbers of f32 and f64 (ulp), over the given range and over random bits. Integers
// are exact; complex results differ by at most 4 times as many in the last place of their larger
// part, and at least by 4.
//
// Functions with results of dtype bool and functions of integers have no gradient.
// Gradients are the cotangents of the operands: g is that of the result; complex numbers follow
// grad.hpp. Sources are of kernels_cl/math_*.cl, for CPUs; GPUs have functions as exact as those.
#pragma once

#include "tutti/array.hpp"

namespace tutti {
)";

// `text` in comment lines of at most `width` columns.
std::string comment(std::string_view text, std::string_view first, std::string_view next) {
  std::string out, line(first);
  bool begun = false;
  while (!text.empty()) {
    const std::size_t stop = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, stop);
    if (begun && line.size() + 1 + word.size() > width) {
      out += line + '\n';
      line = next;
      begun = false;
    }
    if (begun) line += ' ';
    line += word;
    begun = true;
    text.remove_prefix(std::min(stop + 1, text.size()));
  }
  return out + line + '\n';
}

std::string item(std::string_view text) { return comment(text, "/// - ", "///   "); }

std::string dtypes_of(const elementwise_row& row) {
  static const std::map<std::string_view, std::string_view> operands = {
      {"NUMERIC", "integers, floats, complex"},
      {"REAL", "integers, floats"},
      {"FLOATING", "floats, complex; bool and integers become f32"},
      {"REAL_FLOATING", "floats; bool and integers become f32"},
      {"INTEGRAL", "bool, integers"},
      {"LOGICAL", "all, as truth values"},
      {"ANY", "all"}};
  static const std::map<std::string_view, std::string_view> results = {
      {"SAME", "the same"},
      {"BOOL", "bool"},
      {"REAL_OF", "the same, of complex operands that of their parts"},
      {"COMPLEX_OF", "c128 for f64, else c64"}};
  std::string text = "dtypes: " + std::string(operands.at(row.kinds));
  if (row.name == "nextafter") text += "; f16 and bf16 are refused";
  return text + ". Result: " + std::string(results.at(row.result)) + '.';
}

// The parts of a list outside of parentheses.
std::vector<std::string> parts(std::string_view list) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : list) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  return out;
}

// A formula of the table with the names of the declaration.
std::string renamed(std::string_view formula, const std::vector<std::string>& parameters) {
  const auto name_for = [&](const std::string& word) -> std::string {
    if (word == "a") return parameters[0];
    if (word == "b") return parameters[1];
    return word == "y" ? "result" : word;
  };
  std::string out, word;
  for (const char c : formula) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
      word += c;
      continue;
    }
    out += name_for(word) + c;
    word.clear();
  }
  return out + name_for(word);
}

std::string gradient_of(const elementwise_row& row) {
  const std::string formulas = gradient_formulas(row);
  if (formulas.empty()) return "Gradient: " + reason_for_no_gradient(row) + '.';
  std::string text;
  const std::vector<std::string> cotangents = parts(formulas);
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    text += text.empty() ? "Gradient: " : "; ";
    if (row.arity > 1) text += "of " + row.parameters[i] + ' ';
    text += i < cotangents.size() ? '`' + renamed(cotangents[i], row.parameters) + '`' : "none";
  }
  return text + '.';
}

std::string tolerance_of(const elementwise_row& row) {
  return "Tolerance: " + number(row.ulp) + " ulp, from " + number(row.low) + " to " +
         number(row.high) + '.';
}

std::string declaration_of(const elementwise_row& row) {
  std::string text = comment(row.meaning, "/// ", "/// ");
  text += item(dtypes_of(row)) + item("Edges: " + std::string(row.edges));
  if (row.ulp > 0) text += item(tolerance_of(row));
  if (row.result != "BOOL" && row.kinds != "INTEGRAL") text += item(gradient_of(row));
  if (!row.source.empty()) text += item("Source: " + std::string(row.source) + '.');
  std::string signature;
  for (const std::string& parameter : row.parameters)
    signature += (signature.empty() ? "" : ", ") + ("const array& " + parameter);
  return text + "TUTTI_API array " + std::string(row.name) + '(' + signature + ");\n";
}

}  // namespace

std::string elementwise_header() {
  std::string text = opening;
  std::string_view section;
  for (const elementwise_row& row : elementwise_rows()) {
    if (row.parameters.empty()) continue;  // a test reports it
    if (row.section != section) {
      section = row.section;
      std::string title(section);
      title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
      text += "\n// ---- " + title + '\n';
    }
    text += '\n' + declaration_of(row);
  }
  return text + "\n}  // namespace tutti\n";
}

}  // namespace tutti::tools
