// SPDX-License-Identifier: Apache-2.0
//
// The public rows of op_table.def with their text from elementwise_text.def, for the generated
// files docs/operators.md and elementwise.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tools {

struct elementwise_row {
  std::string_view section;
  int id, arity;
  std::string_view name;
  std::string_view kinds, result;  // "NUMERIC", "SAME"
  std::string_view gradient;       // "GRAD(g, g)" or "NO_GRAD"
  double low, high, ulp;
  std::string_view doc;
  // From elementwise_text.def; no parameters if it has no such row.
  std::vector<std::string> parameters;
  std::string_view meaning, edges, source;
};
std::span<const elementwise_row> elementwise_rows();

/// Names of rows of elementwise_text.def, in its order.
std::span<const std::string_view> described_rows();

/// "g * b, g * a"; nothing if the row has no gradient.
std::string gradient_formulas(const elementwise_row& row);
/// "none: truth values"
std::string reason_for_no_gradient(const elementwise_row& row);

/// "0.5", without trailing zeros.
std::string number(double value);

}  // namespace tutti::tools
