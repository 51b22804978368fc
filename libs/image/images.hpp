// SPDX-License-Identifier: Apache-2.0
//
// Common parts of functions of images: their axes and dtypes.
#pragma once

#include <string_view>

#include "tutti/extension.hpp"

namespace tutti::op {

/// Throws shape_error unless x is [..., height, width, channels].
void check_image(const array& x, std::string_view op);

/// The dtype of a result that is not rounded: x's own if that is floating, otherwise `compute`.
dtype unrounded_dtype(const array& x, dtype compute);
/// Combines all axes before the last three into one: [images, height, width, channels].
array as_batch(const array& x);

/// The pixels `row` rows below and `column` columns right of each, for an image with these extents
/// whose first pixel is at row 0 and column 0 of `wide`.
array image_neighbours(const array& wide, const shape& extents, std::int64_t row,
                       std::int64_t column);

/// The dtype for computing with floats and with u8 and u16 colours: f32 or f64. Throws dtype_error
/// for other dtypes.
dtype image_compute_dtype(const array& x, std::string_view op);

/// x in image_compute_dtype(), with unchanged values.
array image_numbers(const array& x, std::string_view op);
/// Converts the result y to x's dtype, rounded and clipped for integers.
array as_image_dtype(const array& y, dtype type, std::string_view op);

}  // namespace tutti::op
