// SPDX-License-Identifier: Apache-2.0
//
// The instructions of the program IR as functions over blocks of lanes. Opcode and dtype are
// dispatched once, when a program is created.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::sdk {

constexpr size_t block_lanes = 256;

// Registers of one block: arrays of `count` values of the instruction's dtypes.
struct lanes {
  const void* a;  // missing operands repeat the first
  const void* b;
  const void* c;
  void* result;
  size_t count;
  int64_t first_index;  // row-major index of the first lane, for iota
};

using instruction_fn = void (*)(const lanes&);

// `operand` holds the register dtypes of the operands. The instruction has been validated.
instruction_fn find_instruction(const tutti_instruction& instruction, const uint8_t* operand);

// Loads and stores of registers. `offset` counts elements from `base`, one per lane.
using load_fn = void (*)(const std::byte* base, const int64_t* offset, size_t count, void* to);
using store_fn = void (*)(std::byte* base, const int64_t* offset, size_t count, const void* from);
load_fn find_load(uint8_t stored_dtype);
store_fn find_store(uint8_t stored_dtype);

// Fills a register with one scalar argument.
void broadcast_scalar(uint8_t dtype, const tutti_scalar& scalar, void* to);

}  // namespace tutti::sdk
