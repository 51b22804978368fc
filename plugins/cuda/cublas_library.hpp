// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's functions, loaded at run time.
#pragma once

#include <cublasLt.h>

#include "cuda/objects.hpp"

namespace tutti::cuda {

#define TUTTI_CUBLAS_FUNCTIONS(X)     \
  X(cublasLtCreate)                   \
  X(cublasLtDestroy)                  \
  X(cublasLtGetStatusName)            \
  X(cublasLtMatmul)                   \
  X(cublasLtMatmulAlgoGetHeuristic)   \
  X(cublasLtMatmulDescCreate)         \
  X(cublasLtMatmulDescDestroy)        \
  X(cublasLtMatmulDescSetAttribute)   \
  X(cublasLtMatrixLayoutCreate)       \
  X(cublasLtMatrixLayoutDestroy)      \
  X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatmulPreferenceCreate)   \
  X(cublasLtMatmulPreferenceDestroy)  \
  X(cublasLtMatmulPreferenceSetAttribute)

struct cublas_library {
#define TUTTI_CUBLAS_MEMBER(name) decltype(&::name) name = nullptr;
  TUTTI_CUBLAS_FUNCTIONS(TUTTI_CUBLAS_MEMBER)
#undef TUTTI_CUBLAS_MEMBER
};

// NULL if it is not installed, which is logged once.
const cublas_library* lt();

// Throws with cuBLASLt's name and number of the failure.
void check_lt(cublasStatus_t code, const char* what);

}  // namespace tutti::cuda
