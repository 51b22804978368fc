// SPDX-License-Identifier: Apache-2.0
//
// Indexing by arrays of integers and of truth values, beside take() of ops.hpp, whose rules for
// indices and their checks hold here too. Values are differentiable, indices and masks are not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "tutti/array.hpp"

namespace tutti {

/// NumPy's a[i, j, ...] with integer arrays for the leading axes: they broadcast against each
/// other, and their shape replaces those axes. Throws index_error for more arrays than axes or an
/// index that is out of range, value_error for none at all.
TUTTI_API array index_with(const array& a, std::span<const array> indices);
TUTTI_API array index_with(const array& a, std::initializer_list<array> indices);

/// NumPy's a[mask]: the elements (or rows) whose mask is true, in row-major order. The mask has the
/// shape of a's leading axes. Evaluates the mask, since the extent of the result depends on it.
/// Throws shape_error for another shape.
TUTTI_API array mask_select(const array& a, const array& mask);
/// a with `value` where the mask is true; mask and value broadcast to a's shape, the dtype stays.
TUTTI_API array masked_fill(const array& a, const array& mask, const array& value);

/// a with updates added at indices along `axis`: what take(a, indices, axis) would give, plus the
/// updates, which broadcast to that shape; a place named several times gets the sum. Throws
/// shape_error where updates do not fit, dtype_error for bool.
TUTTI_API array scatter_add(const array& a, const array& indices, const array& updates,
                            std::int64_t axis = 0);
/// a with updates in place of what take(a, indices, axis) would give; of a place named several
/// times the last one stays, on every device. Evaluates the indices. Throws as scatter_add.
TUTTI_API array scatter_set(const array& a, const array& indices, const array& updates,
                            std::int64_t axis = 0);

}  // namespace tutti
