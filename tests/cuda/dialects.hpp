// SPDX-License-Identifier: Apache-2.0
//
// A test program in both dialects, as a GPU of each plugin would get it.
#pragma once

#include <string>

#include "programs.hpp"
#include "sdk/dialect.hpp"

namespace tutti::test {

std::string render_cuda(const test_program& program);
std::string render_opencl(const test_program& program, sdk::schedule kind);

}  // namespace tutti::test
