// SPDX-License-Identifier: Apache-2.0
//
// An array as [outer, length, inner] around one axis, and elements moved along that axis by index,
// for scans and sorts.
#pragma once

#include "op/operands.hpp"
#include "tutti/sorting.hpp"

namespace tutti::op {

/// The row-major positions, 1-d, that `index` (i64, in range) selects along the axis of an array
/// with `length` elements there and the other extents of index.
array flat_index_along(const array& index, int axis, std::int64_t length);
/// Elements of x at `index` (i64, in range) along the axis, and their adjoint: updates summed into
/// zeros [..., length, ...]. x and index have the same extents except for the axis.
array gather_along(const array& x, const array& index, int axis);
array scatter_along(const array& updates, const array& index, int axis, std::int64_t length);

/// The cumulative node over x [outer, length, inner], stored as dtype `result`.
array scan3(const array& x, tutti_scan kind, bool exclusive, bool reverse, dtype result,
            std::string_view op);

}  // namespace tutti::op
