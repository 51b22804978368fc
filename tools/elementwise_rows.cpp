// SPDX-License-Identifier: Apache-2.0
//
// Reads op_table.def.
#include "elementwise_rows.hpp"

#include <vector>

namespace tutti::tools {
namespace {

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

}  // namespace

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

}  // namespace tutti::tools
