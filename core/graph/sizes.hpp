// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of extents in one place: a size that no array can have is an error of the call that
// asks for it. What has passed here needs no checks later, because the product of any of an array's
// extents, times the bytes of an element, fits 63 bits (an extent of 0 counts as 1).
#pragma once

#include <cstdint>
#include <string_view>

#include "tutti/dtype.hpp"
#include "tutti/shape.hpp"

namespace tutti::graph {

/// The elements of an array of these extents. Throws shape_error naming `op`, extents and dtype for
/// a negative extent, or where its bytes do not fit 63 bits.
std::int64_t checked_elements(const shape& extents, dtype type, std::string_view op);

/// `to` with the one extent that may be -1 found by the size of `from`. Throws shape_error naming
/// `op` and both where the sizes differ.
shape reshaped_extents(const shape& from, const shape& to, std::string_view op);

/// Extents put together. Both are not negative; throws shape_error naming `op` and both where the
/// result does not fit.
std::int64_t extent_sum(std::int64_t a, std::int64_t b, std::string_view op);
std::int64_t extent_product(std::int64_t a, std::int64_t b, std::string_view op);

}  // namespace tutti::graph
