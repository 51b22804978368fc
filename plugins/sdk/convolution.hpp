// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, as far as they are the same for every plugin: shapes and parameters.
#pragma once

#include <cstdint>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

inline constexpr int spatial_axes = 3;

/// Throws plugin_error where a convolution, which fits its row, has parameters or strides that do
/// not fit, or positions that leave 62 bits.
void check_convolution(const operator_call& call);

/// Parameters at full size.
tutti_convolution_params convolution_params(const operator_call& call);

/// Multiply-adds of the call, about.
double convolution_work(const operator_call& call);

}  // namespace tutti::sdk
