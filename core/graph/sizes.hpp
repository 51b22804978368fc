// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of extents in one place: a size that no array can have is an error of the call that
// asks for it. What has passed here needs no checks later, because the product of any of an array's
// extents, times the bytes of an element, fits 63 bits (an extent of 0 counts as 1).
#pragma once

#include <cstdint>
#include <string_view>

#include "tutti/extension.hpp"

namespace tutti::graph {

/// `to` with the one extent that may be -1 found by the size of `from`. Throws shape_error naming
/// `op` and both where the sizes differ.
shape reshaped_extents(const shape& from, const shape& to, std::string_view op);

}  // namespace tutti::graph
