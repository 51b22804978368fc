// SPDX-License-Identifier: Apache-2.0
//
// Programs that between them hold every opcode for every dtype, every cast, reduction and layout.
#pragma once

#include <string>
#include <vector>

#include "tutti_test/program.hpp"

namespace tutti::test {

using tutti_test::test_program;

std::vector<test_program> all_programs();
// A dozen that stand for what applications run.
std::vector<test_program> typical_programs();
// Maps of contiguous operands of each width of elements, and sums along and across rows.
std::vector<test_program> contiguous_programs();

// As the cuda plugin renders them, in one source: kernels main_0, finish_0, main_1 ...
std::string render_cuda(const std::vector<test_program>& programs);

}  // namespace tutti::test
