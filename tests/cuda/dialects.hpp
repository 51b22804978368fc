// SPDX-License-Identifier: Apache-2.0
//
// Test programs as the cuda plugin renders them.
#pragma once

#include <string>

#include "programs.hpp"

namespace tutti::test {

std::string render_cuda(const test_program& program);
// As one source, for one compilation: kernels main_0, finish_0, main_1 ...
std::string render_cuda(const std::vector<test_program>& programs);

}  // namespace tutti::test
