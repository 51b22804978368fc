// SPDX-License-Identifier: Apache-2.0
//
// Common steps of public operations before they create a node: promotion with weak scalars, casts,
// checks of dtypes and axes, and the views that reductions and indexing need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "graph/build.hpp"
#include "graph/fold.hpp"
#include "graph/sizes.hpp"
#include "semantics/row_kinds.hpp"
#include "tutti/extension.hpp"
#include "tutti/indexing.hpp"
#include "tutti/ops.hpp"

namespace tutti::op {

using host::row_kind;
using host::row_result;

/// The common dtype of operands, and whether all of them are weak scalars.
struct common_type {
  dtype type;
  bool weak;
};

/// Promotion of operands, including weak scalars, then the rule of `kind`. Throws dtype_error with
/// `op` and the dtypes.
common_type promote_operands(array_list operands, row_kind kind, std::string_view op);

/// An elementwise call: promotes, casts and creates the node. Moves from the operands.
array apply(tutti_opcode opcode, row_kind kind, row_result rule, std::span<array> operands,
            std::string_view op);

/// View of the region of a that begins at `starts` and has `extents` elements with `steps`.
array strided_slice(const array& a, const shape& starts, const shape& extents, const shape& steps);
/// Copy of base with that region replaced by `update`, which has its shape and dtype.
array update_region(const array& base, const array& update, const shape& starts,
                    const shape& steps);

/// a summed over the axes along which broadcasting from `target` repeated it.
array unbroadcast(const array& a, const shape& target);

/// Throws shape_error unless `a` and `b` have the same rank and, except for `axis`, extents.
void require_same_beside(int axis, const shape& a, const shape& b, std::string_view op);

/// `first`, then the extents from axis `from` on.
shape with_rest(const shape& first, const shape& extents, int from);
/// The row-major position among the leading axes of `extents` for one index per axis, checked,
/// broadcast, i64. Throws as checked_indices.
array joined_index(array_list indices, const shape& extents, std::string_view op);

/// Whether a is a constant 0. The terms of such a cotangent are omitted, even if they would be NaN.
bool is_known_zero(const array& a);

/// The smallest and the largest element of i32 or i64, evaluated.
std::pair<std::int64_t, std::int64_t> evaluated_range(const array& values);

}  // namespace tutti::op
