// SPDX-License-Identifier: Apache-2.0
//
// The loops of a program: which axes are kept and reduced, in what order, and which can be merged.
#pragma once

#include "fusion/lower.hpp"

namespace tutti::fusion {

/// Sets extents, ranks, layout, access classes and index width of a program over `space`, along
/// which its operands have their strides. Axes of extent 1 are removed, neighbours with compatible
/// strides in all operands are merged, and the axis along which memory is contiguous becomes the
/// innermost of its class.
void arrange(lowered& program, const shape& space, std::uint8_t reduced_axes);
/// The distance, in elements, between the first element of an operand and the last one.
std::int64_t reach_of(const lowered& program, const operand& x);
/// A program has narrow indices if its points and the positions of its operands are below this.
constexpr std::int64_t narrow_limit = (std::int64_t{1} << 31) - (1 << 16);

}  // namespace tutti::fusion
