// SPDX-License-Identifier: Apache-2.0
//
// What NVRTC makes of the library's kernels, as far as it can be told without a GPU: rows of the
// table in docs/cuda.md.
#pragma once

#include <string>
#include <vector>

#include "cubin.hpp"

namespace tutti::test {

struct paper_row {
  std::string name;  // program or kernel file, and what it was built for
  uint32_t block;    // threads of a block
  bool contiguous;   // every operand moves element by element
  bool tiled;        // independent sums of each thread hide latency, not the number of threads
  uint32_t widest_loads, widest_stores;  // operands of the widest dtype, where contiguous
  kernel_figures figures;
};

// Typical and contiguous programs and each kernel file of operators, for "sm_90" and the like.
std::vector<paper_row> paper_rows(const std::string& architecture);

}  // namespace tutti::test
