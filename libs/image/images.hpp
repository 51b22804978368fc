// SPDX-License-Identifier: Apache-2.0
//
// What functions of images share: their axes and dtypes.
#pragma once

#include <string_view>

#include "tutti/extension.hpp"

namespace tutti::op {

/// Throws shape_error unless x is [..., height, width, channels].
void check_image(const array& x, std::string_view op);

/// The dtype of a result that is not rounded: x's own where that is floating, else `compute`.
dtype unrounded_dtype(const array& x, dtype compute);
/// The one axis that all before the last three make up, in front: [images, height, width,
/// channels].
array as_batch(const array& x);

/// The pixels `row` rows below and `column` columns right of each, of an image of these extents
/// whose first pixel `wide` has in row 0 and column 0.
array image_neighbours(const array& wide, const shape& extents, std::int64_t row,
                       std::int64_t column);

/// Where floats and colours of u8 and u16 are computed: f32, or f64. Throws dtype_error for other
/// dtypes.
dtype image_compute_dtype(const array& x, std::string_view op);

/// x in image_compute_dtype(), with the numbers that it has.
array image_numbers(const array& x, std::string_view op);
/// The result y of numbers in x's dtype, rounded and cut for integers.
array as_image_dtype(const array& y, dtype type, std::string_view op);

/// Numbers of the host, rounded once.
array image_constants(const device& on, const std::vector<double>& values, const shape& extents,
                      dtype type);

}  // namespace tutti::op
