// SPDX-License-Identifier: Apache-2.0
//
// What a compiled kernel and the emulator know of each other. Included by kernels, so it needs no
// header and no standard later than C++14.
#pragma once

namespace tutti_emulator {

struct index3 {
  unsigned x, y, z;
};

enum access : int { reads = 0, writes = 1, atomic = 2, aligned = 4 };
enum exchange : int { shuffle_up, shuffle_down };

// What the threads of a kernel call.
struct runtime {
  void (*touch)(const void* at, unsigned long bytes, int access);
  void (*barrier)(int line);
  // All threads of `mask` meet; each gets the value that `how` and `operand` pick.
  unsigned long long (*meet)(int how, unsigned mask, unsigned long long value, int operand,
                             int width);
  void* (*dynamic_shared)();
};

// One for each module: where its threads stand, and its shared memory.
struct image {
  index3 thread, block, block_size, grid;
  const runtime* functions;
  char *shared_begin, *shared_end;
};

struct kernel {
  void (*call)(void** arguments);
  const unsigned long* parameters;  // bytes of each
  unsigned parameter_count;
  unsigned most_threads;  // of __launch_bounds__; 1024 without
};

}  // namespace tutti_emulator
