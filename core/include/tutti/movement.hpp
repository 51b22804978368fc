// SPDX-License-Identifier: Apache-2.0
//
// Data movement: arrays cut, repeated, mirrored, padded and laid out anew. What strides can say is
// a view and costs nothing; the rest is one copy. All are differentiable. Axes may be negative; an
// axis out of range throws index_error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

/// `sections` views of equal extent along `axis`. Throws shape_error where they do not divide it.
TUTTI_API std::vector<array> split(const array& a, std::int64_t sections, integer axis = 0);
/// Views of a[0:p0], a[p0:p1], ..., a[pn:] along `axis`. Positions are Python's: negative ones
/// count from the end, those outside are clipped.
TUTTI_API std::vector<array> split_at(const array& a, std::span<const std::int64_t> positions,
                                      integer axis = 0);
TUTTI_API std::vector<array> split_at(const array& a, std::initializer_list<integer> positions,
                                      integer axis = 0);
/// A view for each index along `axis`, which is dropped.
TUTTI_API std::vector<array> unstack(const array& a, integer axis = 0);

/// a repeated `counts[i]` times along axis i, as NumPy's tile: the shorter of counts and shape gets
/// leading ones. Throws value_error for a negative count.
TUTTI_API array tile(const array& a, const shape& counts);
/// Each element along `axis` `count` times in a row; without axis, of the flattened array.
TUTTI_API array repeat(const array& a, std::int64_t count, std::optional<integer> axis = {});
/// With a list of counts as repeat_each(), but that a single count is for all elements, as in the
/// Python array API standard. Counts in an array (integers, 1-d or 0-d) are evaluated, since the
/// extent of the result depends on them; throws shape_error for more dimensions, dtype_error for
/// other dtypes.
TUTTI_API array repeat(const array& a, std::span<const std::int64_t> counts,
                       std::optional<integer> axis = {});
TUTTI_API array repeat(const array& a, std::initializer_list<integer> counts,
                       std::optional<integer> axis = {});
TUTTI_API array repeat(const array& a, const array& counts, std::optional<integer> axis = {});
/// Element i along `axis` counts[i] times; without axis, of the flattened array. Throws shape_error
/// where the axis is not as long as counts, value_error for a negative count.
TUTTI_API array repeat_each(const array& a, std::span<const std::int64_t> counts,
                            std::optional<integer> axis = {});
TUTTI_API array repeat_each(const array& a, std::initializer_list<integer> counts,
                            std::optional<integer> axis = {});
/// Element i along each of `axes` moves to (i + distance) mod extent; without axes, in the
/// flattened array.
TUTTI_API array roll(const array& a, std::int64_t distance, const axis_list& axes = {});
/// distances[i] along axes[i]; those of an axis named twice add up. Throws value_error where the
/// lists differ in length.
TUTTI_API array roll(const array& a, const shape& distances, const axis_list& axes);
/// A view with the order reversed along `axes`, or along all.
TUTTI_API array flip(const array& a, const axis_list& axes = {});

enum class pad_mode : std::uint8_t {
  constant,  ///< a given value
  edge,      ///< the nearest element
  reflect,   ///< mirrored about the edge elements, which are not repeated
  wrap,      ///< from the other end on
};
/// Elements to add before and after; negative ones take so many away.
using pad_width = std::pair<std::int64_t, std::int64_t>;
/// a with widths[i] elements around axis i; missing axes get none. `value` is for
/// pad_mode::constant and is converted to a's dtype. What negative widths take away goes first.
/// Throws value_error for more widths than axes, widths that take more than there is, and for an
/// empty axis that another mode than constant shall extend.
TUTTI_API array pad(const array& a, std::span<const pad_width> widths,
                    pad_mode mode = pad_mode::constant, const array& value = 0);
TUTTI_API array pad(const array& a, std::initializer_list<pad_width> widths,
                    pad_mode mode = pad_mode::constant, const array& value = 0);

/// A view with axis source[i] at place destination[i], the others in their order. Throws
/// value_error where the lists differ in length or name an axis twice.
TUTTI_API array moveaxis(const array& a, const axis_list& source, const axis_list& destination);
/// Views of one common shape.
TUTTI_API std::vector<array> broadcast_arrays(std::span<const array> arrays);
TUTTI_API std::vector<array> broadcast_arrays(std::initializer_list<array> arrays);

/// A view of the elements whose index along axis2 is that along axis1 plus offset; both axes go,
/// and the diagonal is the last axis. Throws value_error where the axes are the same.
TUTTI_API array diagonal(const array& a, std::int64_t offset = 0, integer axis1 = 0,
                         integer axis2 = 1);
/// Of a vector, the square matrix that has it on the given diagonal, zeros elsewhere; of a matrix,
/// its diagonal. Throws shape_error for other ranks.
TUTTI_API array diag(const array& a, std::int64_t offset = 0);
/// Matrices (the last two axes) with zeros above / below the given diagonal. Throws shape_error for
/// less than two dimensions.
TUTTI_API array tril(const array& a, std::int64_t offset = 0);
TUTTI_API array triu(const array& a, std::int64_t offset = 0);

enum class mesh_order : std::uint8_t {
  ij,  ///< axis i belongs to vector i
  xy,  ///< Cartesian: the first two axes change places
};
/// The coordinates of a grid: views of the given vectors (1-d or 0-d), broadcast against each
/// other. Throws shape_error for an array of more dimensions.
TUTTI_API std::vector<array> meshgrid(std::span<const array> vectors,
                                      mesh_order order = mesh_order::xy);
TUTTI_API std::vector<array> meshgrid(std::initializer_list<array> vectors,
                                      mesh_order order = mesh_order::xy);

/// `count` numbers evenly spaced from start to stop, which is the last one unless `endpoint` is
/// false. Both ends are met exactly (as `type` holds them); computed from the nearer end, in f32
/// for f16 and bf16. Throws value_error for a negative count or bounds that are not finite in the
/// dtype of the computation, dtype_error for a dtype that is not floating.
TUTTI_API array linspace(double start, double stop, std::int64_t count, bool endpoint = true,
                         dtype type = dtype::f32, const device& on = default_device());
/// An array of `value` with a's shape and device, and its dtype where none is given.
TUTTI_API array full_like(const array& a, const array& value, std::optional<dtype> type = {});

}  // namespace tutti
