// SPDX-License-Identifier: Apache-2.0
//
// Programs that between them hold every opcode for every dtype, every cast, reduction and layout:
// what both C-like dialects are rendered for.
#pragma once

#include <string>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::test {

// A description with arrays of its own.
struct test_program {
  std::string name;
  uint32_t kept_rank = 1, reduced_rank = 0;
  uint8_t reduction = TUTTI_REDUCE_NONE, reduce_layout = TUTTI_REDUCE_INNER;
  uint8_t accumulator = TUTTI_INVALID, wide_index = 0;
  std::vector<tutti_program_operand> inputs, outputs;
  std::vector<uint8_t> scalars;
  std::vector<tutti_instruction> instructions;

  uint32_t input(uint8_t dtype, uint8_t access = TUTTI_ACCESS_UNIT);
  uint32_t scalar(uint8_t dtype);  // after the inputs
  uint32_t compute(uint16_t opcode, uint8_t dtype, std::vector<uint32_t> operands);
  void output(uint8_t dtype, uint32_t value, uint8_t access = TUTTI_ACCESS_UNIT);
  tutti_program_desc desc() const;
};

// All opcodes and casts that a register dtype has, each stored.
test_program operations_of(uint8_t dtype);
std::vector<test_program> reductions();
// Ranks, access classes, widths of indices, scalars, half precision, random numbers.
std::vector<test_program> layouts();
std::vector<test_program> all_programs();
// A dozen that stand for what applications run.
std::vector<test_program> typical_programs();
// Maps of contiguous operands of each width of elements, and sums along and across rows.
std::vector<test_program> contiguous_programs();

}  // namespace tutti::test
