// SPDX-License-Identifier: Apache-2.0
//
// From preprocessed CUDA C++ to what the host's compiler takes after cuda_words.hpp.
#pragma once

#include <string>

namespace tutti_emulator {

// Replaces the assembly that the library's sources spell out, dynamic shared memory and shared
// arrays of complex numbers, and appends TUTTI_KERNEL for each kernel.
std::string for_host(std::string text);

}  // namespace tutti_emulator
