// SPDX-License-Identifier: Apache-2.0
//
// `tutti devices`: what can be used, what is selected, and why.
#pragma once

namespace tutti::tools {

struct time_limits;

/// Prints the table and what could not be used, or JSON. Returns the exit status: 1 where
/// TUTTI_DEVICE cannot be satisfied or no device exists.
int print_devices(bool json, const time_limits& limits);

}  // namespace tutti::tools
