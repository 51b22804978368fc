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

// ---- scattering: what the places that indices name hold is combined with updates, which broadcast
// to those places. A place named several times is updated in the order of the indices, in the same
// way in each run: results are deterministic on every device. Dtypes promote; f16 and bf16 are
// combined as f32 and rounded once. Indices are checked as those of take(); index_error,
// shape_error where updates do not fit, dtype_error for what has no sums, products or order.

enum class scatter_mode : std::uint8_t {
  set,       ///< the last update stays; the gradient goes to it
  add,       ///< integers wrap
  multiply,  ///< integers wrap
  min,       ///< NaN wins; all that reach the extremum share the gradient equally
  max,
};

/// a with updates at indices along `axis`: at what take(a, indices, axis) would give.
TUTTI_API array scatter(const array& a, const array& indices, const array& updates,
                        integer axis = 0, scatter_mode mode = scatter_mode::set);
/// NumPy's a[i, j, ...] = values: at what index_with(a, indices) would give.
TUTTI_API array index_put(const array& a, std::span<const array> indices, const array& values,
                          scatter_mode mode = scatter_mode::set);
TUTTI_API array index_put(const array& a, std::initializer_list<array> indices, const array& values,
                          scatter_mode mode = scatter_mode::set);
/// At indices into the flattened array, negative ones from its end: numpy.put with mode "raise",
/// but that values broadcast to the shape of indices instead of being repeated.
TUTTI_API array put(const array& a, const array& indices, const array& values,
                    scatter_mode mode = scatter_mode::set);
/// At what take_along_axis(a, indices, axis) would give.
TUTTI_API array put_along_axis(const array& a, const array& indices, const array& values,
                               integer axis = -1, scatter_mode mode = scatter_mode::set);

// scatter() with the mode of the name.
TUTTI_API array scatter_set(const array& a, const array& indices, const array& updates,
                            integer axis = 0);
TUTTI_API array scatter_add(const array& a, const array& indices, const array& updates,
                            integer axis = 0);
TUTTI_API array scatter_multiply(const array& a, const array& indices, const array& updates,
                                 integer axis = 0);
TUTTI_API array scatter_min(const array& a, const array& indices, const array& updates,
                            integer axis = 0);
TUTTI_API array scatter_max(const array& a, const array& indices, const array& updates,
                            integer axis = 0);

}  // namespace tutti
