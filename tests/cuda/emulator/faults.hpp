// SPDX-License-Identifier: Apache-2.0
//
// What the emulator finds wrong: said on the error output, kept for tests, and answered with
// CUDA's code. What tests make it do, and what it notes for them (control.hpp).
#pragma once

#include <cuda.h>

#include <atomic>
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

// The lock is held in what follows. Counts a call, and returns what a test wants of it.
CUresult called(const char* function);
void note(const std::string& text);

extern std::atomic<int> alive;
struct counted {
  counted() { ++alive; }
  ~counted() { --alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
};

}  // namespace tutti_emulator
