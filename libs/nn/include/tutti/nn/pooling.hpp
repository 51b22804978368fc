// SPDX-License-Identifier: Apache-2.0
//
// Pooling of spatial axes. x is [N, C, spatial...] with one to three spatial axes, or with
// channel_order::last [N, spatial..., C]; results have the same order. Extents that do not match
// throw shape_error, options out of range value_error, both with the function and the values. The
// layers of these functions are in layers.hpp.
#pragma once

#include <optional>

#include "tutti/convolution.hpp"

namespace tutti {

struct pooling_options {
  std::optional<per_axis> stride = {};  ///< default: the window
  window_padding padding = 0;           ///< never selected by max_pool
  per_axis dilation = 1;
  bool count_padding = true;  ///< avg_pool: the zeros around x count as elements
  channel_order order = channel_order::first;
  bool ceil_mode = false;  ///< include a last window that begins within x but ends outside
};

/// The largest element of each window, or NaN if it contains one. Real numbers. The cotangent goes
/// to the first of equal elements. A window only within the padding gives the lowest number.
TUTTI_API array max_pool(const array& x, const per_axis& window,
                         const pooling_options& options = {});
struct max_pool_result {
  array values;
  array indices;  ///< i64: position of each in the flattened spatial axes of x
};
/// The same, with the positions of the largest elements: the first of equal ones, -1 for a window
/// only within the padding.
TUTTI_API max_pool_result max_pool_with_indices(const array& x, const per_axis& window,
                                                const pooling_options& options = {});
/// The mean of each window; 0 for a window only within the padding, with any count_padding.
/// Elements added by ceil_mode never count. Dtypes as conv2d.
TUTTI_API array avg_pool(const array& x, const per_axis& window,
                         const pooling_options& options = {});

/// Over all spatial axes, which are kept with an extent of 1. Equal elements share the cotangent of
/// a maximum.
TUTTI_API array global_max_pool(const array& x, channel_order order = channel_order::first);
TUTTI_API array global_avg_pool(const array& x, channel_order order = channel_order::first);

/// `places` windows along each axis, from floor(i * extent / places) to ceil((i + 1) * extent /
/// places). Throws shape_error for no elements to pool.
TUTTI_API array adaptive_max_pool(const array& x, const per_axis& places,
                                  channel_order order = channel_order::first);
TUTTI_API array adaptive_avg_pool(const array& x, const per_axis& places,
                                  channel_order order = channel_order::first);

}  // namespace tutti
