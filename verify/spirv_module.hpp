// SPDX-License-Identifier: Apache-2.0
//
// A kernel as a SPIR-V module, assembled instruction by instruction.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::conformance {

/// `scaled(global const int* x, global int* out, int a)`: out[i] = a x[i] + i, for devices with
/// addresses of 64 bits.
std::vector<uint32_t> scaled_module();

}  // namespace tutti::conformance
