// SPDX-License-Identifier: Apache-2.0
//
// Lengths for Fourier transforms.
#pragma once

#include <cstdint>

namespace tutti::op {

/// The smallest product of powers of 2, 3 and 5 that is at least `least`.
std::int64_t smooth_length(std::int64_t least);

}  // namespace tutti::op
