// SPDX-License-Identifier: Apache-2.0
//
// Joins op_table.def and elementwise_text.def.
#include "elementwise_rows.hpp"

#include <iterator>

namespace tutti::tools {
namespace {

struct description {
  std::string_view name, parameters, meaning, edges, source;
};
const description descriptions[] = {
#define TUTTI_TEXT(name, parameters, meaning, edges, source) \
  {#name, parameters, meaning, edges, source},
#include "elementwise_text.def"
#undef TUTTI_TEXT
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

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t comma = list.find(", ");
    out.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 2);
  }
  return out;
}

std::vector<elementwise_row> collect() {
  std::vector<elementwise_row> rows = {
#define TUTTI_OP(id, name, arity, kinds, result, floats, ints, host, gradient, low, high, ulp, \
                 doc)                                                                          \
  {section_of(id), id,  arity, #name, #kinds, #result, #gradient, low,                         \
   high,           ulp, doc,   {},    {},     {},      {}},
#include "tutti/op_table.def"
#undef TUTTI_OP
  };
  std::erase_if(rows, [](const elementwise_row& row) { return row.kinds == "IR"; });
  for (elementwise_row& row : rows)
    for (const description& d : descriptions) {
      if (d.name != row.name) continue;
      row.parameters = split(d.parameters);
      row.meaning = d.meaning;
      row.edges = d.edges;
      row.source = d.source;
    }
  return rows;
}

}  // namespace

std::span<const elementwise_row> elementwise_rows() {
  static const std::vector<elementwise_row> rows = collect();
  return rows;
}

std::span<const std::string_view> described_rows() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const description& d : descriptions) out.push_back(d.name);
    return out;
  }();
  return names;
}

std::string gradient_formulas(const elementwise_row& row) {
  constexpr std::string_view opening = "GRAD(";
  if (!row.gradient.starts_with(opening)) return {};
  return std::string(row.gradient.substr(opening.size(), row.gradient.size() - opening.size() - 1));
}

std::string reason_for_no_gradient(const elementwise_row& row) {
  if (row.result == "BOOL") return "none: truth values";
  if (row.kinds == "INTEGRAL") return "none: of integers";
  if (row.name == "nextafter") return "none: a matter of representation";
  return "none: constant in pieces";
}

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace tutti::tools
