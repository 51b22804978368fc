// SPDX-License-Identifier: Apache-2.0
//
// Where the products of stub_cublaslt.cpp run: at once with the stub of the driver, which has no
// streams (stub_submit.cpp), and in the order of streams in the emulator (emulator/cublaslt.cpp).
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <functional>
#include <vector>

struct touched_range {
  const void* at;
  size_t bytes;
};

cublasStatus_t submit(cudaStream_t stream, const std::vector<touched_range>& ranges,
                      std::function<void()> work);
