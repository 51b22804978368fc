// SPDX-License-Identifier: Apache-2.0
//
// What tests ask of the stub driver; found by dlsym in the library that TUTTI_CUDA_DRIVER names.
#pragma once

struct stub_counts {
  int contexts, allocations, pinned, streams, events, modules;  // alive
  int copies, peer_copies, trims, launches;                     // so far
};

// The next `times` calls of `function` return `code` (-1: all).
extern "C" void stub_fail(const char* function, int code, int times);
// The time between any two events from now on (0.25 at first).
extern "C" void stub_elapsed(float milliseconds);
// Forgets scripted failures, sticky errors and times.
extern "C" void stub_heal();
// Callbacks wait from now on, or run with `code`, those that have waited first.
extern "C" void stub_hold_callbacks(bool hold, int code);
extern "C" stub_counts stub_count();
// "kernel grid_x grid_y block_x"
extern "C" const char* stub_launch(int index);
