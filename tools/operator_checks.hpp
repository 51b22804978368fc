// SPDX-License-Identifier: Apache-2.0
//
// Known answers of every family of operators but small products, asked of a device through its
// plugin's function tables. All are exact: small integers in f32, and positions.
#pragma once

#include <vector>

#include "abi_checks.hpp"

namespace tutti::tools {

/// Large products, gathers, scatters, scans, sorts, selections, searches and counts. What the
/// device leaves to the reference device by itself passes and says so.
std::vector<check_result> check_operators(const detail::opened_device& d);

}  // namespace tutti::tools
