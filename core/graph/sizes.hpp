// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of extents in one place: sizes that no array can have are errors of the call that
// requests them. Sizes that passed here need no further checks, because the product of any of an
// array's extents, times the bytes of an element, fits 63 bits (an extent of 0 counts as 1).
#pragma once

#include <cstdint>
#include <string_view>

#include "tutti/extension.hpp"

namespace tutti::graph {

/// `to` with the one extent that may be -1 computed from the size of `from`. Throws shape_error
/// with `op` and both if the sizes differ.
shape reshaped_extents(const shape& from, const shape& to, std::string_view op);

}  // namespace tutti::graph
