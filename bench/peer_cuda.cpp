// SPDX-License-Identifier: Apache-2.0
//
// Loads the driver and cuBLASLt with dlopen, so that tutti-bench starts on any machine. One
// context, kept until the process ends.
#include "peer_cuda.hpp"

#include <cublasLt.h>
#include <cuda.h>
#include <dlfcn.h>

#include <bit>
#include <stdexcept>
#include <string>

namespace tutti::bench::peer {
namespace {

// clang-format off
#define TUTTI_BENCH_DRIVER(X) \
  X(cuInit) \
  X(cuDeviceGet) \
  X(cuDevicePrimaryCtxRetain) \
  X(cuCtxSetCurrent) \
  X(cuCtxSynchronize) \
  X(cuMemAlloc_v2) \
  X(cuMemFree_v2) \
  X(cuMemcpyHtoD_v2) \
  X(cuMemcpyDtoH_v2) \
  X(cuMemcpyDtoD_v2)
// clang-format on
// clang-format off
#define TUTTI_BENCH_CUBLAS(X) \
  X(cublasLtCreate) \
  X(cublasLtMatmul) \
  X(cublasLtMatmulAlgoGetHeuristic) \
  X(cublasLtMatmulDescCreate) \
  X(cublasLtMatmulDescDestroy) \
  X(cublasLtMatrixLayoutCreate) \
  X(cublasLtMatrixLayoutDestroy) \
  X(cublasLtMatmulPreferenceCreate) \
  X(cublasLtMatmulPreferenceDestroy) \
  X(cublasLtMatmulPreferenceSetAttribute)
// clang-format on

struct library {
#define TUTTI_BENCH_MEMBER(name) decltype(&::name) name = nullptr;
  TUTTI_BENCH_DRIVER(TUTTI_BENCH_MEMBER)
  TUTTI_BENCH_CUBLAS(TUTTI_BENCH_MEMBER)
#undef TUTTI_BENCH_MEMBER
  cublasLtHandle_t handle = nullptr;
  bool ready = false;
};

library cuda;

void* open_first(std::initializer_list<std::string> names) {
  for (const std::string& name : names)
    if (void* found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  return nullptr;
}

bool open_libraries() {
  void* driver = open_first({"libcuda.so.1"});
  const std::string toolkit = "/usr/local/cuda/lib64/";
  void* blas = open_first({"libcublasLt.so.13", "libcublasLt.so.12", toolkit + "libcublasLt.so.13",
                           toolkit + "libcublasLt.so.12"});
  if (driver == nullptr || blas == nullptr) return false;
  bool complete = true;
#define TUTTI_BENCH_LOAD(from, name)                                   \
  cuda.name = reinterpret_cast<decltype(&::name)>(dlsym(from, #name)); \
  complete &= cuda.name != nullptr;
#define TUTTI_BENCH_LOAD_DRIVER(name) TUTTI_BENCH_LOAD(driver, name)
#define TUTTI_BENCH_LOAD_CUBLAS(name) TUTTI_BENCH_LOAD(blas, name)
  TUTTI_BENCH_DRIVER(TUTTI_BENCH_LOAD_DRIVER)
  TUTTI_BENCH_CUBLAS(TUTTI_BENCH_LOAD_CUBLAS)
  return complete;
}

void check(int code, const char* what) {
  if (code != 0)
    throw std::runtime_error(std::string(what) + ": CUDA error " + std::to_string(code));
}

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr memory = 0;
  check(cuda.cuMemAlloc_v2(&memory, bytes), "cuMemAlloc");
  return memory;
}

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

std::uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float from_bf16(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }

}  // namespace

bool cuda_present(unsigned index) {
  if (cuda.ready) return true;
  CUdevice device = 0;
  CUcontext context = nullptr;
  cuda.ready = open_libraries() && cuda.cuInit(0) == CUDA_SUCCESS &&
               cuda.cuDeviceGet(&device, static_cast<int>(index)) == CUDA_SUCCESS &&
               cuda.cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
               cuda.cuCtxSetCurrent(context) == CUDA_SUCCESS &&
               cuda.cublasLtCreate(&cuda.handle) == CUBLAS_STATUS_SUCCESS;
  return cuda.ready;
}

struct cuda_product::state {
  int n = 0;
  bool half = false;
  CUdeviceptr a = 0, b = 0, c = 0, workspace = 0;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;  // all three are n x n
  cublasLtMatmulHeuristicResult_t best{};

  ~state() {
    for (const CUdeviceptr memory : {a, b, c, workspace})
      if (memory != 0) cuda.cuMemFree_v2(memory);
    if (desc != nullptr) cuda.cublasLtMatmulDescDestroy(desc);
    if (layout != nullptr) cuda.cublasLtMatrixLayoutDestroy(layout);
  }

  CUdeviceptr upload(const float* values) const {
    const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const CUdeviceptr memory = allocate(count * (half ? 2 : 4));
    if (!half) {
      check(cuda.cuMemcpyHtoD_v2(memory, values, count * 4), "cuMemcpyHtoD");
      return memory;
    }
    std::vector<std::uint16_t> narrow(count);
    for (std::size_t i = 0; i < count; ++i) narrow[i] = to_bf16(values[i]);
    check(cuda.cuMemcpyHtoD_v2(memory, narrow.data(), count * 2), "cuMemcpyHtoD");
    return memory;
  }

  void choose_algorithm() {
    cublasLtMatmulPreference_t wanted = nullptr;
    check(cuda.cublasLtMatmulPreferenceCreate(&wanted), "preference");
    check(
        cuda.cublasLtMatmulPreferenceSetAttribute(wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &workspace_bytes, sizeof workspace_bytes),
        "preference");
    int found = 0;
    const int code = cuda.cublasLtMatmulAlgoGetHeuristic(cuda.handle, desc, layout, layout, layout,
                                                         layout, wanted, 1, &best, &found);
    cuda.cublasLtMatmulPreferenceDestroy(wanted);
    check(code, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw std::runtime_error("cuBLASLt proposes no algorithm");
  }
};

cuda_product::cuda_product(int n, type kind, const float* a, const float* b)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.n = n;
  s.half = kind == type::bf16;
  const auto compute = kind == type::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const auto side = static_cast<std::uint64_t>(n);
  check(cuda.cublasLtMatmulDescCreate(&s.desc, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  check(
      cuda.cublasLtMatrixLayoutCreate(&s.layout, s.half ? CUDA_R_16BF : CUDA_R_32F, side, side, n),
      "cublasLtMatrixLayoutCreate");
  s.a = s.upload(a);
  s.b = s.upload(b);
  s.c = allocate(side * side * (s.half ? 2 : 4));
  s.workspace = allocate(workspace_bytes);
  s.choose_algorithm();
}

cuda_product::~cuda_product() = default;

void cuda_product::run() {
  state& s = *state_;
  const float one = 1, zero = 0;
  const auto at = [](CUdeviceptr p) { return reinterpret_cast<void*>(p); };
  // Column-major, so the row-major product uses the operands in reverse order.
  check(cuda.cublasLtMatmul(cuda.handle, s.desc, &one, at(s.b), s.layout, at(s.a), s.layout, &zero,
                            at(s.c), s.layout, at(s.c), s.layout, &s.best.algo, at(s.workspace),
                            workspace_bytes, nullptr),
        "cublasLtMatmul");
  check(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
}

std::vector<float> cuda_product::first_row() const {
  const state& s = *state_;
  std::vector<float> row(static_cast<std::size_t>(s.n));
  if (!s.half) {
    check(cuda.cuMemcpyDtoH_v2(row.data(), s.c, row.size() * 4), "cuMemcpyDtoH");
    return row;
  }
  std::vector<std::uint16_t> narrow(row.size());
  check(cuda.cuMemcpyDtoH_v2(narrow.data(), s.c, narrow.size() * 2), "cuMemcpyDtoH");
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = from_bf16(narrow[i]);
  return row;
}

cuda_copy::cuda_copy(std::uint64_t bytes)
    : from_(allocate(bytes)), to_(allocate(bytes)), bytes_(bytes) {}

cuda_copy::~cuda_copy() {
  cuda.cuMemFree_v2(from_);
  cuda.cuMemFree_v2(to_);
}

void cuda_copy::run() {
  check(cuda.cuMemcpyDtoD_v2(to_, from_, bytes_), "cuMemcpyDtoD");
  check(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace tutti::bench::peer
