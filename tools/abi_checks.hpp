// SPDX-License-Identifier: Apache-2.0
//
// Known answers, asked of a device straight through its plugin's function tables: a miscompiling
// driver or a wrong tuning table shows here, whatever the rest of the library does.
#pragma once

#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::tools {

struct check_result {
  std::string what;
  bool passed = false;
  std::string text;  ///< the time taken, or what is wrong
};

/// tanh(a) + a * b over 1003 elements, against the C++ library in double precision.
check_result check_program(const detail::opened_device& d);
/// Sum of 1003 squares of small integers, exact in f32.
check_result check_reduction(const detail::opened_device& d);
/// [37,29] x [29,43] of small integers, exact in f32.
check_result check_product(const detail::opened_device& d);

}  // namespace tutti::tools
