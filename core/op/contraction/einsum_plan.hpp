// SPDX-License-Identifier: Apache-2.0
//
// The meaning of an Einstein summation and the order in which its operands are contracted; no
// arrays.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/shape.hpp"

namespace tutti::op {

/// Labels of axes: 0 ... 25 are A ... Z, 26 ... 51 are a ... z, 52 ... 59 the axes of "...",
/// counted so that those of all operands end at 59.
inline constexpr int label_count = 60;
using label_list = std::vector<int>;
/// Bit i: label i.
using label_set = std::uint64_t;

struct contraction {
  std::vector<label_list> inputs;  // one label for each axis
  label_list output;
  std::array<std::int64_t, label_count> extents{};  // after broadcasting; 0 where unused too
};

/// Reads `subscripts` for operands of these shapes. Throws as einsum does.
TUTTI_INTERNAL_API contraction parse_einsum(std::string_view subscripts,
                                            const std::vector<shape>& operands);

label_set labels_of(const label_list& list);

/// Pairs to contract, as indices into the inputs followed by the results so far. Throws shape_error
/// if every order needs more than max_rank axes.
TUTTI_INTERNAL_API std::vector<std::pair<int, int>> contraction_order(const contraction& c);

}  // namespace tutti::op
