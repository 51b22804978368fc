// SPDX-License-Identifier: Apache-2.0
//
// The instructions of the program IR, each as a function over a block of lanes: one dispatch on
// opcode and dtype when a program is created, none while it runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::sdk {

constexpr size_t block_lanes = 256;

// Registers of one block: arrays of `count` values of the dtypes of the instruction.
struct lanes {
  const void* a;  // operands that an instruction does not have repeat the first
  const void* b;
  const void* c;
  void* result;
  size_t count;
  int64_t first_index;  // row-major index of the first lane, for iota
};

using instruction_fn = void (*)(const lanes&);

// `operand` holds the register dtypes of the operands. The instruction has been validated.
instruction_fn find_instruction(const tutti_instruction& instruction, const uint8_t* operand);

// Registers from memory and back. `offset` counts elements from `base`, one per lane.
using load_fn = void (*)(const std::byte* base, const int64_t* offset, size_t count, void* to);
using store_fn = void (*)(std::byte* base, const int64_t* offset, size_t count, const void* from);
load_fn find_load(uint8_t stored_dtype);
store_fn find_store(uint8_t stored_dtype);

// Fills a register with one scalar argument.
void broadcast_scalar(uint8_t dtype, const tutti_scalar& scalar, void* to);

}  // namespace tutti::sdk
