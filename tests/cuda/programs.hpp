// SPDX-License-Identifier: Apache-2.0
//
// Programs that between them hold every opcode for every dtype, every cast, reduction and layout.
#pragma once

#include <string>
#include <vector>

#include "tutti_test/program.hpp"

namespace tutti::test {

using tutti_test::test_program;

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

// As the cuda plugin renders it.
std::string render_cuda(const test_program& program);
// As one source, for one compilation: kernels main_0, finish_0, main_1 ...
std::string render_cuda(const std::vector<test_program>& programs);

}  // namespace tutti::test
