// SPDX-License-Identifier: Apache-2.0
//
// Test programs in both dialects, as a GPU of each plugin would get them.
#pragma once

#include <string>

#include "programs.hpp"
#include "sdk/dialect.hpp"

namespace tutti::test {

std::string render_cuda(const test_program& program);
// As one source, for one compilation: kernels main_0, finish_0, main_1 ...
std::string render_cuda(const std::vector<test_program>& programs);
std::string render_opencl(const test_program& program, sdk::schedule kind);

}  // namespace tutti::test
