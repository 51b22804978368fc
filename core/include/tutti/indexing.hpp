// SPDX-License-Identifier: Apache-2.0
//
// Indexing with arrays of integers and masks, in addition to take() of ops.hpp, whose rules for
// indices and their checks also apply here. Values are differentiable, indices and masks are not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "tutti/array.hpp"

namespace tutti {

/// NumPy's a[i, j, ...] with integer arrays for the leading axes: they broadcast against each
/// other, and their shape replaces those axes. Throws index_error for more arrays than axes or an
/// index out of range, value_error for no arrays.
TUTTI_API array index_with(const array& a, array_list indices);

/// NumPy's a[mask]: the elements (or rows) whose mask is true, in row-major order. The mask has the
/// shape of a's leading axes. Evaluates the mask, because the extent of the result depends on it.
/// Throws shape_error for another shape.
TUTTI_API array mask_select(const array& a, const array& mask);
/// a with `value` where the mask is true; mask and value broadcast to a's shape, the dtype is kept.
TUTTI_API array masked_fill(const array& a, const array& mask, const array& value);

// ---- scattering: elements at the given indices are combined with updates, which broadcast to
// them. If an index occurs several times, updates are applied in the order of the indices, and in
// the same way in each run: results are deterministic on every device. Dtypes promote; f16 and bf16
// are combined as f32 and rounded once. Indices are checked as those of take(): index_error;
// shape_error if updates do not match, dtype_error for dtypes without sums, products or order.

enum class scatter_mode : std::uint8_t {
  set,       ///< the last update is kept; the gradient goes to it
  add,       ///< integers wrap
  multiply,  ///< integers wrap
  min,       ///< propagates NaN; all elements equal to the extremum share the gradient equally
  max,
};

/// a with updates at indices along `axis`: at the elements that take(a, indices, axis) returns.
TUTTI_API array scatter(const array& a, const array& indices, const array& updates,
                        integer axis = 0, scatter_mode mode = scatter_mode::set);
/// NumPy's a[i, j, ...] = values: at the elements that index_with(a, indices) returns.
TUTTI_API array index_put(const array& a, array_list indices, const array& values,
                          scatter_mode mode = scatter_mode::set);
/// At indices into the flattened array, negative ones from its end: numpy.put with mode "raise",
/// but values are broadcast to the shape of indices instead of repeated.
TUTTI_API array put(const array& a, const array& indices, const array& values,
                    scatter_mode mode = scatter_mode::set);
/// At the elements that take_along_axis(a, indices, axis) returns.
TUTTI_API array put_along_axis(const array& a, const array& indices, const array& values,
                               integer axis = -1, scatter_mode mode = scatter_mode::set);

// scatter() with the mode in the name.
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
