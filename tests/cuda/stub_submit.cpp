// SPDX-License-Identifier: Apache-2.0
//
// Products of the stub are done when the call returns.
#include "stub_cublaslt.hpp"

cublasStatus_t submit(cudaStream_t, const std::vector<touched_range>&, std::function<void()> work) {
  work();
  return CUBLAS_STATUS_SUCCESS;
}
