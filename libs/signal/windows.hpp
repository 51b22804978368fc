// SPDX-License-Identifier: Apache-2.0
//
// Windows as host numbers, for the arrays of the public functions and for filters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tutti/extension.hpp"
#include "tutti/signal.hpp"

namespace tutti::op {

/// n values of a window. Throws value_error with `op` for an invalid parameter and for a negative
/// n, out_of_memory if host memory does not suffice.
std::vector<double> window_values(const signal::window& which, std::int64_t n,
                                  signal::symmetry kind, std::string_view op);

/// Host numbers as f32 or f64; throws dtype_error with `op` for other dtypes.
array host_numbers(const device& on, const std::vector<double>& values, const shape& extents,
                   dtype type, std::string_view op);

}  // namespace tutti::op
