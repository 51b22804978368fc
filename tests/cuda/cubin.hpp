// SPDX-License-Identifier: Apache-2.0
//
// What a cubin tells of its kernels without a GPU and without the toolkit's programs: resources
// from its sections, and from the machine code the widths of accesses to memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::test {

// How many instructions move that many bytes for each thread.
struct access_counts {
  uint32_t narrow = 0;  // 1, 2 and 4 bytes
  uint32_t wide = 0;    // 8 bytes
  uint32_t whole = 0;   // 16 bytes
  uint32_t all() const { return narrow + wide + whole; }
};

struct kernel_figures {
  std::string name;
  uint32_t registers = 0;    // of a thread
  uint32_t stack_bytes = 0;  // of a thread in local memory: arrays and what did not fit registers
  uint32_t shared_bytes = 0;
  uint32_t instructions = 0;
  access_counts loads, stores;  // of global memory
  uint32_t local_loads = 0, local_stores = 0;

  // Threads that a multiprocessor keeps at once, of those that it could, for blocks of this size:
  // compute capability 8.0 and 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
  // Compute Capability": 65536 registers in warps' pieces of 256, 64 warps, 32 blocks, 164 and 228
  // KiB of shared memory, of which each block takes 1 KiB more than it asks for).
  double occupancy(uint32_t block, int architecture) const;
};

// Kernels of a cubin for compute capability 7.5 to 12.x. Throws std::runtime_error for what is
// none.
std::vector<kernel_figures> read_cubin(const std::vector<char>& image);

}  // namespace tutti::test
