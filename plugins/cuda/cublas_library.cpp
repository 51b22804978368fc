// SPDX-License-Identifier: Apache-2.0
//
// Loads cuBLASLt, and converts its failures to plugin errors.
#include "cuda/cublas_library.hpp"

#include "sdk/device_layer/host.hpp"

namespace tutti::cuda {
namespace {

// NULL if it is not installed, which is logged once.
const cublas_library* load() {
  std::string why;
  void* handle = open_library("libcublasLt.so.13 libcublasLt.so.12", why);
  auto table = std::make_unique<cublas_library>();
#define TUTTI_CUBLAS_LOAD(name)                                                  \
  if (handle != nullptr) {                                                       \
    table->name = reinterpret_cast<decltype(&::name)>(symbol(handle, #name));    \
    if (table->name == nullptr) handle = nullptr, why = "cuBLASLt lacks " #name; \
  }
  TUTTI_CUBLAS_FUNCTIONS(TUTTI_CUBLAS_LOAD)
#undef TUTTI_CUBLAS_LOAD
  if (handle != nullptr) return table.release();
  log(TUTTI_LOG_WARN, "matmul runs on Tutti's own, slower kernel: " + why +
                          "; install the CUDA toolkit (or its package libcublas), or set "
                          "CUDA_HOME to where it is");
  return nullptr;
}

}  // namespace

const cublas_library* lt() {
  static const cublas_library* const loaded = load();
  return loaded;
}

void check_lt(cublasStatus_t code, const char* what) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  throw sdk::plugin_error(
      code == CUBLAS_STATUS_ALLOC_FAILED ? TUTTI_ERROR_OUT_OF_MEMORY : TUTTI_ERROR_DRIVER,
      std::string("matmul: ") + what + ": " + lt()->cublasLtGetStatusName(code) + " (" +
          std::to_string(static_cast<int>(code)) + ")",
      static_cast<int32_t>(code), code == CUBLAS_STATUS_ALLOC_FAILED);
}

}  // namespace tutti::cuda
