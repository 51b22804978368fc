// SPDX-License-Identifier: Apache-2.0
//
// A libcublasLt.so for tests that multiplies real and complex matrices on the host by the
// definition: column-major D = op(A) op(B), batched, with bias and relu for real ones.
// stub_cublaslt_last() tells the compute type and how many algorithms were asked for;
// TUTTI_STUB_RELU=drops_nan makes relu turn NaN into 0.
#include <cublasLt.h>

#include <complex>
#include <cstdlib>
#include <type_traits>
#include <utility>

struct stub_cublaslt_state {
  int compute_type, heuristics, products;
};

namespace {

struct description {
  cublasComputeType_t compute;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct matrix {
  cudaDataType type;
  uint64_t rows, cols;
  int64_t leading;
  int32_t batches = 1;
  int64_t batch_stride = 0;
};

stub_cublaslt_state state{};

template <typename T>
T at(const void* p, const matrix& m, cublasOperation_t op, uint64_t i, uint64_t j, int64_t batch) {
  if (op == CUBLAS_OP_T) std::swap(i, j);
  return static_cast<const T*>(
      p)[batch * m.batch_stride + static_cast<int64_t>(i) + static_cast<int64_t>(j) * m.leading];
}

template <typename T>
T finished(T sum, const description& d, uint64_t row) {
  if constexpr (std::is_floating_point_v<T>) {
    if ((d.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) sum += static_cast<const T*>(d.bias)[row];
    const bool drops_nan = std::getenv("TUTTI_STUB_RELU") != nullptr;
    if ((d.epilogue & CUBLASLT_EPILOGUE_RELU) != 0 && !(sum > 0) && (drops_nan || sum == sum)) {
      sum = 0;
    }
  }
  return sum;
}

// False for shapes that do not fit.
template <typename T>
bool multiply(const description& d, const void* a, const matrix& am, const void* b,
              const matrix& bm, void* out, const matrix& om) {
  const uint64_t m = d.a == CUBLAS_OP_N ? am.rows : am.cols;
  const uint64_t depth = d.a == CUBLAS_OP_N ? am.cols : am.rows;
  const uint64_t depth_b = d.b == CUBLAS_OP_N ? bm.rows : bm.cols;
  const uint64_t n = d.b == CUBLAS_OP_N ? bm.cols : bm.rows;
  if (m != om.rows || n != om.cols || depth != depth_b || am.batches != om.batches) return false;
  for (const matrix* each : {&am, &bm, &om}) {
    if (each->leading < static_cast<int64_t>(each->rows)) return false;
  }
  for (int64_t batch = 0; batch < om.batches; ++batch) {
    for (uint64_t j = 0; j < n; ++j) {
      for (uint64_t i = 0; i < m; ++i) {
        T sum = 0;
        for (uint64_t k = 0; k < depth; ++k) {
          sum += at<T>(a, am, d.a, i, k, batch) * at<T>(b, bm, d.b, k, j, batch);
        }
        static_cast<T*>(out)[batch * om.batch_stride + static_cast<int64_t>(i) +
                             static_cast<int64_t>(j) * om.leading] = finished(sum, d, i);
      }
    }
  }
  return true;
}

template <typename T>
const T& as(const void* opaque) {
  return *static_cast<const T*>(opaque);
}

constexpr auto good = CUBLAS_STATUS_SUCCESS;

}  // namespace

extern "C" {
stub_cublaslt_state stub_cublaslt_last() { return state; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&state);
  return good;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return good; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "a status of the stub"; }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out, cublasComputeType_t compute,
                                        cudaDataType_t) {
  *out = reinterpret_cast<cublasLtMatmulDesc_t>(new description{compute});
  return good;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete reinterpret_cast<description*>(d);
  return good;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                              cublasLtMatmulDescAttributes_t what,
                                              const void* value, size_t) {
  auto& to = *reinterpret_cast<description*>(d);
  if (what == CUBLASLT_MATMUL_DESC_TRANSA) to.a = as<cublasOperation_t>(value);
  if (what == CUBLASLT_MATMUL_DESC_TRANSB) to.b = as<cublasOperation_t>(value);
  if (what == CUBLASLT_MATMUL_DESC_EPILOGUE) to.epilogue = as<cublasLtEpilogue_t>(value);
  if (what == CUBLASLT_MATMUL_DESC_BIAS_POINTER) to.bias = as<const void*>(value);
  return good;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t leading) {
  *out = reinterpret_cast<cublasLtMatrixLayout_t>(new matrix{type, rows, cols, leading});
  return good;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t m) {
  delete reinterpret_cast<matrix*>(m);
  return good;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t m,
                                                cublasLtMatrixLayoutAttribute_t what,
                                                const void* value, size_t) {
  auto& to = *reinterpret_cast<matrix*>(m);
  if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) to.batches = as<int32_t>(value);
  if (what == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) to.batch_stride = as<int64_t>(value);
  return good;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  *out = reinterpret_cast<cublasLtMatmulPreference_t>(&state);
  return good;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return good; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return good;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t layout, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  ++state.heuristics;
  const auto type = reinterpret_cast<matrix*>(layout)->type;
  const bool complex = type == CUDA_C_32F || type == CUDA_C_64F;
  // As cuBLASLt, which has no epilogues for complex products.
  if (complex && reinterpret_cast<description*>(desc)->epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    *count = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  results[0].state = good;
  results[0].workspaceSize = 512;
  *count = 1;
  return good;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void*,
                              const void* a, cublasLtMatrixLayout_t am, const void* b,
                              cublasLtMatrixLayout_t bm, const void*, const void*,
                              cublasLtMatrixLayout_t, void* out, cublasLtMatrixLayout_t om,
                              const cublasLtMatmulAlgo_t*, void* workspace, size_t bytes,
                              cudaStream_t) {
  if (workspace == nullptr || bytes < 512) return CUBLAS_STATUS_INVALID_VALUE;
  const auto& d = *reinterpret_cast<description*>(desc);
  const auto &x = *reinterpret_cast<matrix*>(am), &y = *reinterpret_cast<matrix*>(bm);
  const auto& z = *reinterpret_cast<matrix*>(om);
  state.compute_type = d.compute;
  ++state.products;
  const auto multiplied = [&] {
    switch (z.type) {
      case CUDA_R_64F:
        return multiply<double>(d, a, x, b, y, out, z);
      case CUDA_C_32F:
        return multiply<std::complex<float>>(d, a, x, b, y, out, z);
      case CUDA_C_64F:
        return multiply<std::complex<double>>(d, a, x, b, y, out, z);
      default:
        return multiply<float>(d, a, x, b, y, out, z);
    }
  };
  return multiplied() ? good : CUBLAS_STATUS_INVALID_VALUE;
}
}
