// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, as far as they are the same for every plugin: shapes and parameters.
#pragma once

#include <cstdint>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

inline constexpr int spatial_axes = 3;

/// How many views the call must have.
uint32_t convolution_views(const operator_call& call);

/// Throws plugin_error naming the shapes where views or parameters do not fit each other or where
/// positions leave 62 bits; UNSUPPORTED for a dtype that convolutions are not defined for.
void check_convolution(const operator_call& call);

/// Parameters at full size.
tutti_convolution_params convolution_params(const operator_call& call);

/// Multiply-adds of the call, about.
double convolution_work(const operator_call& call);

}  // namespace tutti::sdk
