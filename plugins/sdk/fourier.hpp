// SPDX-License-Identifier: Apache-2.0
//
// The discrete Fourier transform, as far as it is the same for every plugin: shapes, parameters and
// how a length is cut into factors.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// Throws plugin_error where TUTTI_OPERATOR_FFT, which fits its row, has parameters that do not
/// fit.
void check_fourier(const operator_call& call);

/// Parameters at full size, checked.
tutti_fft_params fft_params(const operator_call& call);

/// How a transform of `points` is done: by transforms of `length` points, as the product of its
/// `radices`, and where that is not `points` as a convolution (Bluestein 1970).
struct fourier_plan {
  uint64_t points, length;
  std::vector<uint32_t> radices;  // 2, 4, 8 or an odd prime up to largest_radix
  bool is_convolution() const { return length != points; }
};
inline constexpr uint32_t largest_radix = 13;
fourier_plan plan_fourier(uint64_t points);

}  // namespace tutti::sdk
