// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and pooling share.
#pragma once

#include <cstdint>
#include <string>

#include "op/operands.hpp"
#include "tutti/convolution.hpp"

namespace tutti::op {

/// For messages.
inline std::string text(std::int64_t n) { return std::to_string(n); }

/// a with the padding around its axes from `first` on.
array padded(const array& a, const window_geometry& g, int first, pad_mode mode,
             const array& value);

}  // namespace tutti::op
