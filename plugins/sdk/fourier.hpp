// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent parts of the Fourier transform: shapes, parameters, factors of a length.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// Throws plugin_error if TUTTI_OPERATOR_FFT that matches its row has invalid parameters.
void check_fourier(const operator_call& call);

/// Parameters at full size, checked.
tutti_fft_params fft_params(const operator_call& call);

/// A transform of `points`, computed by transforms of `length` points, the product of its
/// `radices`; as a convolution if `length` differs from `points` (Bluestein 1970).
struct fourier_plan {
  uint64_t points, length;
  std::vector<uint32_t> radices;  // 2, 4, 8 or an odd prime up to largest_radix
  bool is_convolution() const { return length != points; }
};
inline constexpr uint32_t largest_radix = 13;
fourier_plan plan_fourier(uint64_t points);

}  // namespace tutti::sdk
