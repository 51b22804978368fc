// SPDX-License-Identifier: Apache-2.0
//
// Windows over arrays: views of them, their maxima and means, and resampling of spatial axes. x is
// [N, C, spatial...] with one to three spatial axes, or with channel_order::last [N, spatial...,
// C]; results have the same order. Extents that do not fit throw shape_error, options out of range
// value_error, both naming the function and the values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/convolution.hpp"

namespace tutti {

/// A view of all windows of these extents along `axes` (as many; without axes, along all): the axes
/// keep as many places as the window has, the windows' own axes come last, as NumPy's. Throws
/// shape_error for a window that is empty or longer than its axis, or for more than 8 axes.
TUTTI_API array sliding_window_view(const array& x, const shape& window,
                                    const axis_list& axes = {});
/// Elements at offset + sum of index * stride of the flattened array: a view where x is contiguous.
/// Differentiable: what is seen more than once adds up. Throws index_error where an element would
/// lie outside x.
TUTTI_API array as_strided(const array& x, const shape& extents, const shape& strides,
                           std::int64_t offset = 0);

struct pooling_options {
  std::optional<per_axis> stride = {};  ///< without one, the window
  window_padding padding = 0;           ///< never chosen by max_pool
  per_axis dilation = 1;
  bool count_padding = true;  ///< avg_pool: zeros around x count as elements
  channel_order order = channel_order::first;
  bool ceil_mode = false;  ///< a last window that begins within x counts though it ends beyond
};

/// The largest element of each window, NaN if there is one. Real numbers. The cotangent goes to the
/// first of equal elements. A window that lies in the padding only gives the lowest number.
TUTTI_API array max_pool(const array& x, const per_axis& window,
                         const pooling_options& options = {});
struct max_pool_result {
  array values;
  array indices;  ///< i64: where each stands in the flattened spatial axes of x
};
/// The same, with where the largest elements stand: the first of equal ones, -1 for a window that
/// lies in the padding only.
TUTTI_API max_pool_result max_pool_with_indices(const array& x, const per_axis& window,
                                                const pooling_options& options = {});
/// The mean of each window; of one that lies in the padding only 0, whether that counts or not.
/// What ceil_mode adds never counts. As conv2d and the like for dtypes.
TUTTI_API array avg_pool(const array& x, const per_axis& window,
                         const pooling_options& options = {});

/// Over all spatial axes, which keep an extent of 1. The cotangent of a maximum is shared by equal
/// elements.
TUTTI_API array global_max_pool(const array& x, channel_order order = channel_order::first);
TUTTI_API array global_avg_pool(const array& x, channel_order order = channel_order::first);

/// `places` windows along each axis, from floor(i * extent / places) to ceil((i + 1) * extent /
/// places). Throws shape_error for no elements to pool.
TUTTI_API array adaptive_max_pool(const array& x, const per_axis& places,
                                  channel_order order = channel_order::first);
TUTTI_API array adaptive_avg_pool(const array& x, const per_axis& places,
                                  channel_order order = channel_order::first);

enum class resampling : std::uint8_t {
  nearest,  ///< one element
  linear,   ///< of the two neighbours along each axis: bilinear, trilinear
  cubic,    ///< of four, by R. Keys' kernel (IEEE ASSP 29, 1981): bicubic
  area,     ///< adaptive_avg_pool
};
/// Where place i of `size` lies among `extent` elements.
enum class resampling_places : std::uint8_t {
  automatic,   ///< asymmetric for nearest, half_pixel for the others
  half_pixel,  ///< (i + 1/2) * extent / size - 1/2
  asymmetric,  ///< i * extent / size
};
/// Which element is nearest; halves go down or up.
enum class nearest_rounding : std::uint8_t { floor, ceil, halves_down, halves_up };
struct interpolate_options {
  resampling mode = resampling::nearest;
  /// i * (extent - 1) / (size - 1): the outermost elements keep their places. Not for area, nor for
  /// nearest unless places are given.
  bool align_corners = false;
  channel_order order = channel_order::first;
  resampling_places places = resampling_places::automatic;
  nearest_rounding rounding = nearest_rounding::floor;
  double cubic_coefficient = -0.75;  ///< a of Keys' kernel
  /// linear, cubic: where x gets smaller the kernel is wider by extent / size. PyTorch's with a
  /// cubic_coefficient of -0.5.
  bool antialias = false;
  /// linear, cubic: elements beyond the edge have no weight, and the others' weights are divided by
  /// their sum; antialias always does so. Otherwise they are those of the edge.
  bool exclude_outside = false;
};
/// x with `size` elements along the spatial axes. Nearest takes any dtype, the others what avg_pool
/// takes. Throws shape_error for no elements to take, value_error for options that exclude each
/// other.
TUTTI_API array interpolate(const array& x, const per_axis& size,
                            const interpolate_options& options = {});
/// With floor(extent * scale) elements; places by the scale itself, not by the size that is left of
/// it. One scale for all spatial axes, or one for each; throws value_error unless they are positive
/// and finite.
TUTTI_API array interpolate_by(const array& x, const std::vector<double>& scales,
                               const interpolate_options& options = {});

}  // namespace tutti
