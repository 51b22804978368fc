// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt in the emulator: the products of ../stub_cublaslt.cpp, when their stream comes to them.
#include "../stub_cublaslt.hpp"
#include "driver.hpp"

using namespace tutti_emulator;

cublasStatus_t submit(cudaStream_t stream, const std::vector<touched_range>& ranges,
                      std::function<void()> work) {
  const std::lock_guard held(lock());
  if (!is_known(stream)) return CUBLAS_STATUS_INVALID_VALUE;
  enqueue(stream, {[ranges, work = std::move(work)]() -> fault {
            for (const touched_range& r : ranges) {
              const auto at = reinterpret_cast<uintptr_t>(r.at);
              if (!the_memory().is_live(at, r.bytes))
                return {CUDA_ERROR_ILLEGAL_ADDRESS,
                        "cublasLtMatmul: touches " + the_memory().describe(at, r.bytes)};
            }
            work();
            return {};
          }});
  return CUBLAS_STATUS_SUCCESS;
}
