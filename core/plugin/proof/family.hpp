// SPDX-License-Identifier: Apache-2.0
//
// Families of kernels: what a driver gets right or wrong as a whole, and is asked about once. A
// program belongs to one for each kind of number in it, and to one for its reduction; an operator
// to that of its number, its dtype and the way it is done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

struct kernel_family {
  enum kinds : std::uint8_t {
    transfers,    ///< writes, copies, reads, and the order that events give them
    arithmetic,   ///< fused programs; type: the class of the numbers
    random_bits,  ///< programs with Philox
    reductions,   ///< variant: reduction_variant(); type: the class of the accumulator
    operators     ///< and tutti_operator added; variant: see family.cpp
  };
  static constexpr std::size_t variants = 16, types = 16, count = 96 * variants * types;

  std::uint8_t kind = transfers;
  std::uint8_t variant = 0;
  std::uint8_t type = 0;  ///< tutti_dtype; 0 where there is none

  constexpr std::size_t index() const { return (kind * variants + variant) * types + type; }
  static constexpr kernel_family of_index(std::size_t i) {
    return {static_cast<std::uint8_t>(i / types / variants),
            static_cast<std::uint8_t>(i / types % variants), static_cast<std::uint8_t>(i % types)};
  }
  bool operator==(const kernel_family&) const = default;
};

/// Without these two nothing else is worth asking for.
inline constexpr std::array<kernel_family, 2> basic_families{
    {{kernel_family::transfers, 0, 0}, {kernel_family::arithmetic, 0, TUTTI_F32}}};

/// How TUTTI_OPERATOR_MATMUL is done: devices have kernels of their own for each.
enum class product_variant : std::uint8_t { small, large, vector, bias, relu, bias_and_relu };

/// What a reduction gives: numbers like those that it reads, truth values or positions.
enum class reduced : std::uint8_t { values, truths, positions };

constexpr std::uint8_t reduction_variant(bool outer, reduced what) {
  return static_cast<std::uint8_t>((outer ? 3 : 0) + static_cast<int>(what));
}

/// "products of f32"; two families never share a name.
TUTTI_INTERNAL_API std::string name_of(const kernel_family& family);

/// Those that a program belongs to.
std::vector<kernel_family> families_of(const tutti_program_desc& desc);
/// Nothing for an operator that this library does not know.
std::optional<kernel_family> family_of(const tutti_operator_desc& launch);

/// How many ways of doing an operator are told apart: variants from 0 on.
TUTTI_INTERNAL_API int variants_of(tutti_operator kind);

/// One of each kind, for a device that computes in these dtypes (a set of TUTTI_DTYPE_BIT).
TUTTI_INTERNAL_API std::vector<kernel_family> sample_families(std::uint32_t computed_dtypes);

}  // namespace tutti::detail
