// SPDX-License-Identifier: Apache-2.0
//
// docs/operators.md from the tables of operators: the text, and functions for tests of the tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tutti/plugin.h"

namespace tutti::tools {

/// A set of dtypes: TUTTI_DTYPE_BIT of each; bit 0 represents f16 and bf16 if the device computes
/// in them.
struct dtype_set {
  std::uint32_t bits = 0;
  friend constexpr dtype_set operator+(dtype_set a, dtype_set b) { return {a.bits | b.bits}; }
  friend constexpr dtype_set operator-(dtype_set a, dtype_set b) { return {a.bits & ~b.bits}; }
  friend constexpr bool operator==(dtype_set a, dtype_set b) = default;
};
inline constexpr dtype_set device_halves{1};

/// A row TUTTI_OPERATOR of tools/function_table.def.
struct operator_row {
  const char* id;
  std::int32_t number;
  dtype_set reference, opencl, cuda;
  const char* files;
  const char* doc;
};
std::span<const operator_row> operator_rows();

/// A row TUTTI_FUNCTION, with its section.
struct function_row {
  const char* header;  // "ops.hpp"
  const char* section;
  const char* section_text;
  const char* name;
  const char* operands;  // "ANY"
  dtype_set dtypes;
  const char* gradient;
  const char* tolerance;
  std::uint32_t made_of;  // bits of the rows of operators
  const char* doc;
};
std::span<const function_row> function_rows();

struct other_header {
  const char* header;
  const char* doc;
};
std::span<const other_header> other_headers();

/// A public row of op_table.def.
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

/// The Markdown.
std::string operators_document();

}  // namespace tutti::tools
