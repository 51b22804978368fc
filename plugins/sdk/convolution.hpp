// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent parts of convolutions: shapes and parameters.
#pragma once

#include <cstdint>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

inline constexpr int spatial_axes = 3;

/// Throws plugin_error if a convolution that matches its row has invalid parameters or strides, or
/// positions that exceed 62 bits.
void check_convolution(const operator_call& call);

/// Parameters at full size.
tutti_convolution_params convolution_params(const operator_call& call);

/// The approximate number of multiply-adds.
double convolution_work(const operator_call& call);

}  // namespace tutti::sdk
