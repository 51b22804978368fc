// SPDX-License-Identifier: Apache-2.0
//
// What the emulator finds wrong: said on the error output, kept for tests, and answered with
// CUDA's code.
#pragma once

#include <cuda.h>

#include <string>

namespace tutti_emulator {

struct fault {
  CUresult code = CUDA_SUCCESS;
  std::string text;
};

// Thrown on the host's side only, never through the frames of a kernel.
struct fault_error {
  fault what;
};

// The seed of every random order, printed with each fault. TUTTI_EMULATOR_SEED sets it.
unsigned seed();
CUresult report(const fault& what);

}  // namespace tutti_emulator

// The text of the latest fault, "" where there was none.
extern "C" const char* emulator_last_fault();
