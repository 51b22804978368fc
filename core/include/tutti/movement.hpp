// SPDX-License-Identifier: Apache-2.0
//
// Data movement: splitting, repeating, reversing, padding and rearranging arrays. Results that
// strides can describe are views without cost; others are one copy. All are differentiable. Axes
// may be negative; an axis out of range throws index_error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

/// `sections` views of equal extent along `axis`. Throws shape_error if they do not divide it.
TUTTI_API std::vector<array> split(const array& a, std::int64_t sections, integer axis = 0);
/// Views of a[0:p0], a[p0:p1], ..., a[pn:] along `axis`. Positions are Python's: negative ones
/// count from the end, those outside are clipped.
TUTTI_API std::vector<array> split_at(const array& a, std::span<const std::int64_t> positions,
                                      integer axis = 0);
TUTTI_API std::vector<array> split_at(const array& a, std::initializer_list<integer> positions,
                                      integer axis = 0);
/// A view for each index along `axis`, which is removed.
TUTTI_API std::vector<array> unstack(const array& a, integer axis = 0);

/// a repeated `counts[i]` times along axis i, as NumPy's tile: leading ones are added to the
/// shorter of counts and shape. Throws value_error for a negative count.
TUTTI_API array tile(const array& a, const shape& counts);
/// Each element along `axis` repeated `count` times; without axis, of the flattened array.
TUTTI_API array repeat(const array& a, std::int64_t count, std::optional<integer> axis = {});
/// With a list of counts as repeat_each(), but a single count applies to all elements, as in the
/// Python array API standard. Counts in an array (integers, 1-d or 0-d) are evaluated, because the
/// extent of the result depends on them; throws shape_error for more dimensions, dtype_error for
/// other dtypes.
TUTTI_API array repeat(const array& a, std::span<const std::int64_t> counts,
                       std::optional<integer> axis = {});
TUTTI_API array repeat(const array& a, std::initializer_list<integer> counts,
                       std::optional<integer> axis = {});
TUTTI_API array repeat(const array& a, const array& counts, std::optional<integer> axis = {});
/// Element i along `axis` repeated counts[i] times; without axis, of the flattened array. Throws
/// shape_error if counts and axis differ in length, value_error for a negative count.
TUTTI_API array repeat_each(const array& a, std::span<const std::int64_t> counts,
                            std::optional<integer> axis = {});
TUTTI_API array repeat_each(const array& a, std::initializer_list<integer> counts,
                            std::optional<integer> axis = {});
/// Element i along each of `axes` moves to (i + distance) mod extent; without axes, in the
/// flattened array.
TUTTI_API array roll(const array& a, std::int64_t distance, const axis_list& axes = {});
/// distances[i] along axes[i]; those of a repeated axis are added. Throws value_error if the lists
/// differ in length.
TUTTI_API array roll(const array& a, const shape& distances, const axis_list& axes);
/// A view with the order reversed along `axes`, or along all.
TUTTI_API array flip(const array& a, const axis_list& axes = {});

enum class pad_mode : std::uint8_t {
  constant,  ///< a given value
  edge,      ///< the nearest element
  reflect,   ///< mirrored about the edge elements, which are not repeated
  wrap,      ///< continued from the opposite end
};
/// Elements to add before and after; negative widths remove elements.
using pad_width = std::pair<std::int64_t, std::int64_t>;
/// a with widths[i] elements around axis i; missing axes get none. `value` is for
/// pad_mode::constant and is converted to a's dtype. Negative widths are applied first. Throws
/// value_error for more widths than axes, widths that remove more than the extent, and for an empty
/// axis with another mode than constant.
TUTTI_API array pad(const array& a, std::span<const pad_width> widths,
                    pad_mode mode = pad_mode::constant, const array& value = 0);
TUTTI_API array pad(const array& a, std::initializer_list<pad_width> widths,
                    pad_mode mode = pad_mode::constant, const array& value = 0);

/// A view with axis source[i] at position destination[i], the others in their order. Throws
/// value_error if the lists differ in length or repeat an axis.
TUTTI_API array moveaxis(const array& a, const axis_list& source, const axis_list& destination);
/// Views with a common shape.
TUTTI_API std::vector<array> broadcast_arrays(array_list arrays);

/// A view of all windows with these extents along `axes` (by default all axes): the axes become the
/// window positions, and the axes of the windows come last, as in NumPy. Throws shape_error for a
/// window that is empty or longer than its axis, or for more than 8 axes.
TUTTI_API array sliding_window_view(const array& x, const shape& window,
                                    const axis_list& axes = {});
/// Elements at offset + sum of index * stride of the flattened array: a view if x is contiguous.
/// Differentiable: gradients of repeated elements are added. Throws index_error if an element is
/// outside of x.
TUTTI_API array as_strided(const array& x, const shape& extents, const shape& strides,
                           std::int64_t offset = 0);

/// A view of the elements whose index along axis2 is that along axis1 plus offset; both axes are
/// removed, and the diagonal is the last axis. Throws value_error if the axes are the same.
TUTTI_API array diagonal(const array& a, std::int64_t offset = 0, integer axis1 = 0,
                         integer axis2 = 1);
/// For a vector, the square matrix with it on the given diagonal and zeros elsewhere; for a matrix,
/// its diagonal. Throws shape_error for other ranks.
TUTTI_API array diag(const array& a, std::int64_t offset = 0);
/// Matrices (the last two axes) with zeros above / below the given diagonal. Throws shape_error for
/// fewer than two dimensions.
TUTTI_API array tril(const array& a, std::int64_t offset = 0);
TUTTI_API array triu(const array& a, std::int64_t offset = 0);

enum class mesh_order : std::uint8_t {
  ij,  ///< axis i belongs to vector i
  xy,  ///< Cartesian: the first two axes are swapped
};
/// The coordinates of a grid: views of the given vectors (1-d or 0-d), broadcast against each
/// other. Throws shape_error for an array of more dimensions.
TUTTI_API std::vector<array> meshgrid(array_list vectors, mesh_order order = mesh_order::xy);

/// `count` numbers evenly spaced from start to stop, which is the last one unless `endpoint` is
/// false. Both ends are exact (as represented in `type`); values are computed from the nearer end,
/// in f32 for f16 and bf16. Throws value_error for a negative count or bounds that are not finite
/// in the dtype of the computation, dtype_error for a dtype that is not floating.
TUTTI_API array linspace(double start, double stop, std::int64_t count, bool endpoint = true,
                         dtype type = dtype::f32, const device& on = default_device());
/// An array of `value` with a's shape and device, and a's dtype unless another is given.
TUTTI_API array full_like(const array& a, const array& value, std::optional<dtype> type = {});

}  // namespace tutti
