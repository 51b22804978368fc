// SPDX-License-Identifier: Apache-2.0
//
// `tutti devices`: what can be used, what is selected, and why.
#pragma once

namespace tutti::tools {

/// Prints the table and what could not be used, or JSON. A plugin whose function takes longer than
/// `seconds` hangs. Returns the exit status: 1 where TUTTI_DEVICE cannot be satisfied or no device
/// exists.
int print_devices(bool json, double seconds);

}  // namespace tutti::tools
