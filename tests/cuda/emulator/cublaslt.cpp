// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt in the emulator: multiplies real and complex matrices by the definition when their
// stream comes to them: column-major D = op(A) op(B), batched, with bias and relu for real ones.
// TUTTI_EMULATOR_RELU=drops_nan makes relu turn NaN into 0.
#include <cublasLt.h>

#include <complex>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "control.hpp"
#include "driver.hpp"
#include "semantics/host_half.hpp"

using namespace tutti_emulator;

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

cublaslt_calls state{};

struct touched_range {
  const void* at;
  size_t bytes;
};

// How an element is stored, and what sums of it are: wide, as one after the other they lose more
// than a library's sums of parts.
template <typename T, typename Sum>
struct plain {
  using stored = T;
  using sum = Sum;
  static sum load(stored x) { return x; }
  static stored store(sum x) { return static_cast<T>(x); }
};
template <float (*Load)(uint16_t), uint16_t (*Store)(float)>
struct half {
  using stored = uint16_t;
  using sum = double;
  static sum load(stored x) { return Load(x); }
  static stored store(sum x) { return Store(static_cast<float>(x)); }
};
using f16 = half<tutti::host::half_to_float, tutti::host::float_to_half>;
using bf16 = half<tutti::host::bfloat16_to_float, tutti::host::float_to_bfloat16>;

int64_t place(const matrix& m, uint64_t i, uint64_t j, int64_t batch) {
  return batch * m.batch_stride + static_cast<int64_t>(i) + static_cast<int64_t>(j) * m.leading;
}

template <typename E>
typename E::sum at(const void* p, const matrix& m, cublasOperation_t op, uint64_t i, uint64_t j,
                   int64_t batch) {
  if (op == CUBLAS_OP_T) std::swap(i, j);
  return E::load(static_cast<const typename E::stored*>(p)[place(m, i, j, batch)]);
}

template <typename E>
typename E::stored finished(typename E::sum sum, const description& d, uint64_t row) {
  if constexpr (std::is_floating_point_v<typename E::sum>) {
    if ((d.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
      sum += E::load(static_cast<const typename E::stored*>(d.bias)[row]);
    const bool drops_nan = std::getenv("TUTTI_EMULATOR_RELU") != nullptr;
    if ((d.epilogue & CUBLASLT_EPILOGUE_RELU) != 0 && !(sum > 0) && (drops_nan || sum == sum)) {
      sum = 0;
    }
  }
  return E::store(sum);
}

bool shapes_fit(const description& d, const matrix& a, const matrix& b, const matrix& out) {
  const uint64_t m = d.a == CUBLAS_OP_N ? a.rows : a.cols, n = d.b == CUBLAS_OP_N ? b.cols : b.rows;
  const uint64_t depth = d.a == CUBLAS_OP_N ? a.cols : a.rows;
  const uint64_t depth_b = d.b == CUBLAS_OP_N ? b.rows : b.cols;
  for (const matrix* each : {&a, &b, &out}) {
    if (each->leading < static_cast<int64_t>(each->rows)) return false;
  }
  return m == out.rows && n == out.cols && depth == depth_b && a.batches == out.batches;
}

// The operands of one call, as they were described then.
struct product {
  description d;
  const void *a, *b;
  void* out;
  matrix am, bm, om;
  void* workspace;
  size_t workspace_bytes;
};

template <typename E>
cublasStatus_t multiply(const product& p, CUstream stream) {
  if (!shapes_fit(p.d, p.am, p.bm, p.om)) return CUBLAS_STATUS_INVALID_VALUE;
  std::vector<touched_range> ranges;
  const auto add = [&](const void* at, const matrix& m) {
    const auto last = static_cast<size_t>(place(m, m.rows - 1, m.cols - 1, m.batches - 1));
    ranges.push_back({at, (last + 1) * sizeof(typename E::stored)});
  };
  add(p.a, p.am);
  add(p.b, p.bm);
  add(p.out, p.om);
  if ((p.d.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
    ranges.push_back({p.d.bias, p.om.rows * sizeof(typename E::stored)});
  ranges.push_back({p.workspace, p.workspace_bytes});
  const std::lock_guard held(lock());
  if (!is_known(stream)) return CUBLAS_STATUS_INVALID_VALUE;
  enqueue(stream, {[p, ranges]() -> fault {
            for (const touched_range& r : ranges) {
              const auto at = reinterpret_cast<uintptr_t>(r.at);
              if (!the_memory().is_live(at, r.bytes))
                return {CUDA_ERROR_ILLEGAL_ADDRESS,
                        "cublasLtMatmul: touches " + the_memory().describe(at, r.bytes)};
            }
            // First, so that operands which overlap it are not what they were.
            std::memset(p.workspace, 0xff, p.workspace_bytes);
            const uint64_t depth = p.d.a == CUBLAS_OP_N ? p.am.cols : p.am.rows;
            auto* const out = static_cast<typename E::stored*>(p.out);
            for (int64_t batch = 0; batch < p.om.batches; ++batch) {
              for (uint64_t j = 0; j < p.om.cols; ++j) {
                for (uint64_t i = 0; i < p.om.rows; ++i) {
                  typename E::sum sum = 0;
                  for (uint64_t k = 0; k < depth; ++k) {
                    sum +=
                        at<E>(p.a, p.am, p.d.a, i, k, batch) * at<E>(p.b, p.bm, p.d.b, k, j, batch);
                  }
                  out[place(p.om, i, j, batch)] = finished<E>(sum, p.d, i);
                }
              }
            }
            return {};
          }});
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
const T& as(const void* opaque) {
  return *static_cast<const T*>(opaque);
}

constexpr auto good = CUBLAS_STATUS_SUCCESS;

}  // namespace

extern "C" {
cublaslt_calls emulator_cublaslt() { return state; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&state);
  return good;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return good; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "a status of the emulated cuBLASLt"; }
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
  state.reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  return good;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return good; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* value, size_t) {
  if (what == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) state.reductions = as<int32_t>(value);
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
                              cudaStream_t stream) {
  if (workspace == nullptr || bytes < 512) return CUBLAS_STATUS_INVALID_VALUE;
  const product p = {*reinterpret_cast<description*>(desc),
                     a,
                     b,
                     out,
                     *reinterpret_cast<matrix*>(am),
                     *reinterpret_cast<matrix*>(bm),
                     *reinterpret_cast<matrix*>(om),
                     workspace,
                     bytes};
  state.compute_type = p.d.compute;
  ++state.products;
  switch (p.om.type) {
    case CUDA_R_16F:
      return multiply<f16>(p, stream);
    case CUDA_R_16BF:
      return multiply<bf16>(p, stream);
    case CUDA_R_64F:
      return multiply<plain<double, double>>(p, stream);
    case CUDA_C_32F:
      return multiply<plain<std::complex<float>, std::complex<double>>>(p, stream);
    case CUDA_C_64F:
      return multiply<plain<std::complex<double>, std::complex<double>>>(p, stream);
    default:
      return multiply<plain<float, double>>(p, stream);
  }
}
}
