// SPDX-License-Identifier: Apache-2.0
//
// Programs that between them hold every opcode for every dtype, every cast, reduction and layout.
#pragma once

#include <string>
#include <vector>

#include "verify/program_spec.hpp"

namespace tutti::test {

using conformance::program_spec;

std::vector<program_spec> all_programs();
// A dozen that stand for what applications run.
std::vector<program_spec> typical_programs();
// Maps of contiguous operands of each width of elements, and sums along and across rows.
std::vector<program_spec> contiguous_programs();

// As the cuda plugin renders them, in one source: kernels main_0, finish_0, main_1 ...
std::string render_cuda(const std::vector<program_spec>& programs);

}  // namespace tutti::test
