// SPDX-License-Identifier: Apache-2.0
//
// The public rows of op_table.def, for docs/operators.md and for tests of elementwise.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::tools {

struct elementwise_row {
  std::string_view section;
  int id, arity;
  std::string_view name;
  std::string_view kinds, result;  // "NUMERIC", "SAME"
  std::string_view gradient;       // "GRAD(g, g)" or "NO_GRAD"
  double low, high, ulp;
  std::string_view doc;
};
std::span<const elementwise_row> elementwise_rows();

/// "0.5", without trailing zeros.
std::string number(double value);

}  // namespace tutti::tools
