// SPDX-License-Identifier: Apache-2.0
//
// What tests ask of the emulator; found by dlsym in libcuda.so.1 of TUTTI_CUDA_LIBRARIES.
#pragma once

struct cublaslt_calls {
  int compute_type, heuristics, products, reductions;
};

extern "C" {
// The text of the latest fault, "" where there was none.
const char* emulator_last_fault();
// The next `times` calls of `function` return `code` (-1: all). After an illegal address the device
// is lost.
void emulator_fail(const char* function, int code, int times);
// Calls of `function` so far.
int emulator_count(const char* function);
// Contexts, streams, events, modules and blocks of pinned memory that nobody has given back.
int emulator_alive();
// The milliseconds between any two events from now on; negative: those that pass.
void emulator_set_elapsed(float milliseconds);
// A line for each launch ("kernel grid_x grid_y block_x") and each call of NCCL since the last
// question; the first one begins the notes.
const char* emulator_notes();
// The compute type and the reductions that cuBLASLt was asked for last, and its calls so far.
cublaslt_calls emulator_cublaslt();
}
