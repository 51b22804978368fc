// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with cuBLASLt, loaded at run time. Its matrices are column-major, so it computes
// C^T = B^T A^T on the same memory, where a bias for each of our columns is one for each of its
// rows. The algorithm that it selects for a shape is cached. TUTTI_MATMUL_PRECISION=high or medium
// permits TF32 for f32 products; the default, highest, does not.
#include "cuda/cublas.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "cuda/cublas_library.hpp"
#include "sdk/device_layer/host.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::cuda {
namespace {

bool tf32_wanted() {
  const std::string text = sdk::option("MATMUL_PRECISION").value_or("highest");
  if (text == "highest") return false;
  if (text == "high" || text == "medium") return true;
  sdk::throw_invalid("TUTTI_MATMUL_PRECISION: expected highest, high or medium, found ", text);
}

// A matrix of a product for cuBLASLt: `rows` x `cols` column-major, transposed or not.
struct operand {
  bool transposed = false;
  int64_t rows = 0, cols = 0, leading = 0, batch_stride = 0;
};

// A row-major rows x cols view, whose memory is the transposed column-major matrix. Nothing if a
// leading dimension cannot describe its strides.
std::optional<operand> describe(const tutti_view& v) {
  const auto rows = static_cast<int64_t>(v.extent[1]), cols = static_cast<int64_t>(v.extent[2]);
  const int64_t row = v.stride[1], col = v.stride[2];
  if (v.stride[0] < 0 && v.extent[0] > 1) return {};
  const int64_t batch = v.extent[0] > 1 ? v.stride[0] : 0;
  if ((cols == 1 || col == 1) && (rows == 1 || row >= cols)) {
    return operand{false, cols, rows, rows == 1 ? cols : row, batch};
  }
  if ((rows == 1 || row == 1) && (cols == 1 || col >= rows)) {
    return operand{true, rows, cols, cols == 1 ? rows : col, batch};
  }
  return {};
}

struct types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

std::optional<types> types_of(int32_t dtype) {
  switch (dtype) {
    case TUTTI_F32: {
      static const bool fast = tf32_wanted();
      return types{CUDA_R_32F, CUDA_R_32F,
                   fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    }
    case TUTTI_F64:
      return types{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case TUTTI_F16:
      return types{CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case TUTTI_BF16:
      return types{CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case TUTTI_C64:
      return types{CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case TUTTI_C128:
      return types{CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default:
      return {};
  }
}

// The data that determine a plan: dtype, batches, the layouts of the two operands and the output,
// alignment, epilogue.
using plan_key = std::array<int64_t, 17>;

cublasLtEpilogue_t epilogue_of(const tutti_matmul_params& params) {
  const bool relu = params.activation == TUTTI_ACTIVATION_RELU;
  if (params.has_bias != 0) return relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

template <typename T, cublasStatus_t (*cublas_library::*Destroy)(T)>
class owned {
 public:
  owned() = default;
  owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned() {
    if (handle_ != nullptr) (lt()->*Destroy)(handle_);
  }
  T get() const { return handle_; }
  T* out() { return &handle_; }

 private:
  T handle_ = nullptr;
};
using layout = owned<cublasLtMatrixLayout_t, &cublas_library::cublasLtMatrixLayoutDestroy>;
using description = owned<cublasLtMatmulDesc_t, &cublas_library::cublasLtMatmulDescDestroy>;
using preference =
    owned<cublasLtMatmulPreference_t, &cublas_library::cublasLtMatmulPreferenceDestroy>;

}  // namespace

struct cublas_plan {
  bool possible = false;
  description desc;
  layout first, second, result;  // B^T, A^T, C^T
  cublasLtMatmulAlgo_t algorithm{};
  uint64_t workspace = 0;
  mutable std::mutex bias_mutex;  // the descriptor contains the bias's address
};

namespace {

using plan = cublas_plan;

void make_layout(layout& to, cudaDataType_t type, const operand& m, int64_t batches) {
  check_lt(lt()->cublasLtMatrixLayoutCreate(to.out(), type, static_cast<uint64_t>(m.rows),
                                            static_cast<uint64_t>(m.cols), m.leading),
           "layout");
  const auto count = static_cast<int32_t>(batches);
  check_lt(lt()->cublasLtMatrixLayoutSetAttribute(to.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                  &count, sizeof count),
           "batch count");
  check_lt(
      lt()->cublasLtMatrixLayoutSetAttribute(to.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &m.batch_stride, sizeof m.batch_stride),
      "batch stride");
}

preference make_preference(const types& t, uint64_t workspace,
                           const std::array<uint32_t, 3>& alignment) {
  preference p;
  check_lt(lt()->cublasLtMatmulPreferenceCreate(p.out()), "preference");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const void* value, size_t size) {
    check_lt(lt()->cublasLtMatmulPreferenceSetAttribute(p.get(), what, value, size), "preference");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &alignment[0], sizeof alignment[0]);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &alignment[1], sizeof alignment[1]);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &alignment[2], sizeof alignment[2]);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &alignment[2], sizeof alignment[2]);
  // Otherwise long sums of f16 and bf16 that are split are rounded after each part.
  const uint32_t parts = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (t.data == CUDA_R_16F || t.data == CUDA_R_16BF)
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &parts, sizeof parts);
  return p;
}

// The largest power of two, at most 256, that divides the operand's address.
uint32_t alignment_of(const tutti_range& range) {
  const uint64_t address = range.buffer->memory + range.offset;
  return static_cast<uint32_t>(std::min<uint64_t>(address == 0 ? 256 : address & -address, 256));
}

// For each operand.
using alignments = std::array<uint32_t, sdk::most_operands>;
constexpr alignments aligned = {256, 256, 256, 256};

}  // namespace

struct matmul_cache {
  cublasLtHandle_t handle = nullptr;
  std::mutex mutex;
  std::map<plan_key, std::shared_ptr<const plan>> plans;
  std::map<int32_t, bool> keeps_nan;  // by dtype: whether relu propagates NaN
  ~matmul_cache() {
    if (handle != nullptr) lt()->cublasLtDestroy(handle);
  }
};

namespace {

// Without a handle if cuBLASLt does not start on this device.
matmul_cache& cache_of(tutti_device& device) {
  const std::lock_guard lock(device.mutex);
  if (!device.products) {
    auto made = std::make_shared<matmul_cache>();
    const cublasStatus_t code = lt()->cublasLtCreate(&made->handle);
    if (code != CUBLAS_STATUS_SUCCESS) {
      made->handle = nullptr;
      log(TUTTI_LOG_WARN, device.info->name + ": matmul runs on Tutti's own, slower kernel: " +
                              "cublasLtCreate: " + lt()->cublasLtGetStatusName(code));
    }
    device.products = std::move(made);
  }
  return *device.products;
}

void set_bias(const plan& p, CUdeviceptr bias) {
  const auto* address = reinterpret_cast<const void*>(bias);
  check_lt(lt()->cublasLtMatmulDescSetAttribute(p.desc.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                &address, sizeof address),
           "bias");
}

std::shared_ptr<const plan> make_plan(matmul_cache& cache, const tutti_device& device,
                                      const types& t, const operand& first, const operand& second,
                                      const operand& result, int64_t batches,
                                      const std::array<uint32_t, 3>& alignment,
                                      cublasLtEpilogue_t epilogue, uint64_t bias_alignment) {
  auto p = std::make_shared<plan>();
  check_lt(lt()->cublasLtMatmulDescCreate(p->desc.out(), t.compute, t.scale), "description");
  const auto transpose = [&](cublasLtMatmulDescAttributes_t what, const operand& m) {
    const cublasOperation_t op = m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_lt(lt()->cublasLtMatmulDescSetAttribute(p->desc.get(), what, &op, sizeof op),
             "transposition");
  };
  transpose(CUBLASLT_MATMUL_DESC_TRANSA, first);
  transpose(CUBLASLT_MATMUL_DESC_TRANSB, second);
  check_lt(lt()->cublasLtMatmulDescSetAttribute(p->desc.get(), CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                &epilogue, sizeof epilogue),
           "epilogue");
  // The algorithm depends on its alignment.
  if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) set_bias(*p, bias_alignment);
  make_layout(p->first, t.data, first, batches);
  make_layout(p->second, t.data, second, batches);
  make_layout(p->result, t.data, result, batches);
  // NVIDIA's recommendation for its libraries: 32 MiB since Hopper, 4 MiB before.
  const uint64_t most = device.info->major >= 9 ? uint64_t{32} << 20 : uint64_t{4} << 20;
  const preference wanted = make_preference(t, most, alignment);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t code = lt()->cublasLtMatmulAlgoGetHeuristic(
      cache.handle, p->desc.get(), p->first.get(), p->second.get(), p->result.get(),
      p->result.get(), wanted.get(), 1, &found, &count);
  p->possible = code == CUBLAS_STATUS_SUCCESS && count == 1 && found.state == CUBLAS_STATUS_SUCCESS;
  p->algorithm = found.algo;
  p->workspace = p->possible ? found.workspaceSize : 0;
  return p;
}

// NULL if cuBLASLt cannot be used.
std::shared_ptr<const plan> plan_for(tutti_device& device, const sdk::operator_call& l,
                                     const alignments& where = aligned) {
  const tutti_matmul_params params = sdk::matmul_params(l);
  const cublasLtEpilogue_t epilogue = epilogue_of(params);
  const uint32_t bias_alignment = params.has_bias != 0 ? where[3] : 0;
  const tutti_view &c = l.views[0], &a = l.views[1], &b = l.views[2];
  const std::optional<types> t = types_of(c.dtype);
  if (!t || a.extent[2] == 0) return nullptr;
  for (uint32_t d = 0; d < 3; ++d) {
    if (c.extent[d] == 0 || c.extent[d] > std::numeric_limits<int32_t>::max()) return nullptr;
  }
  const std::optional<operand> first = describe(b), second = describe(a);
  if (!first || !second || lt() == nullptr) return nullptr;
  const auto cols = static_cast<int64_t>(c.extent[2]), rows = static_cast<int64_t>(c.extent[1]);
  const operand result{false, cols, rows, cols, rows * cols};
  const auto batches = static_cast<int64_t>(c.extent[0]);
  const std::array<uint32_t, 3> alignment = {where[2], where[1], where[0]};
  const plan_key key = {c.dtype,       batches,        first->transposed,   first->rows,
                        first->cols,   first->leading, first->batch_stride, second->transposed,
                        second->rows,  second->cols,   second->leading,     second->batch_stride,
                        alignment[0],  alignment[1],   alignment[2],        epilogue,
                        bias_alignment};
  matmul_cache& cache = cache_of(device);
  if (cache.handle == nullptr) return nullptr;
  const std::lock_guard lock(cache.mutex);
  const auto [place, is_new] = cache.plans.try_emplace(key);
  if (is_new || !place->second) {
    place->second = make_plan(cache, device, *t, *first, *second, result, batches, alignment,
                              epilogue, bias_alignment);
  }
  return place->second->possible ? place->second : nullptr;
}

}  // namespace

std::shared_ptr<const cublas_plan> cublas_prepare(tutti_device& device,
                                                  const sdk::operator_call& call) {
  return plan_for(device, call);
}

uint64_t cublas_workspace(const cublas_plan& plan) { return plan.workspace; }

bool cublas_matmul(tutti_stream& stream, const sdk::operator_call& l,
                   const std::shared_ptr<const cublas_plan>& prepared,
                   const sdk::operator_memory& memory, tutti_event** event) {
  tutti_device& device = *stream.device;
  alignments where = aligned;
  for (uint32_t n = 0; n < l.view_count; ++n) where[n] = alignment_of(memory.operands[n]);
  const auto p = where == aligned ? prepared : plan_for(device, l, where);
  if (!p) return false;
  void* workspace = nullptr;
  if (p->workspace > 0) {
    // The workspace suffices for aligned operands; others may need more.
    if (p->workspace > prepared->workspace) return false;
    workspace = reinterpret_cast<void*>(memory.workspace.buffer->memory + memory.workspace.offset);
  }
  // Real scales are the first parts of complex ones.
  const float one[] = {1, 0}, zero[] = {0, 0};
  const double one_f64[] = {1, 0}, zero_f64[] = {0, 0};
  const bool f64 = l.views[0].dtype == TUTTI_F64 || l.views[0].dtype == TUTTI_C128;
  const void* alpha = f64 ? static_cast<const void*>(one_f64) : one;
  const void* beta = f64 ? static_cast<const void*>(zero_f64) : zero;
  const auto address = [&](int n) {
    return reinterpret_cast<void*>(memory.operands[n].buffer->memory + memory.operands[n].offset);
  };
  event_recorder recorder(stream, event);
  std::unique_lock<std::mutex> bias_lock;
  if (l.view_count == 4) {
    bias_lock = std::unique_lock(p->bias_mutex);
    set_bias(*p, memory.operands[3].buffer->memory + memory.operands[3].offset);
  }
  check_lt(lt()->cublasLtMatmul(device.products->handle, p->desc.get(), alpha, address(2),
                                p->first.get(), address(1), p->second.get(), beta, address(0),
                                p->result.get(), address(0), p->result.get(), &p->algorithm,
                                workspace, p->workspace, stream.handle),
           "cublasLtMatmul");
  recorder.finish();
  return true;
}

namespace {

// NaN bits of a dtype, in its lowest bytes.
uint64_t nan_bits(int32_t dtype) {
  switch (dtype) {
    case TUTTI_F16:
      return 0x7e00;
    case TUTTI_BF16:
      return 0x7fc0;
    case TUTTI_F32:
      return 0x7fc00000;
    default:
      return 0x7ff8000000000000;
  }
}

// relu(A B) of 64 x 64 zero matrices except for one NaN in A: a row of NaN must result.
bool try_relu(tutti_device& device, int32_t dtype) {
  constexpr uint64_t side = 64, place = 5;
  const uint64_t width = sdk::dtype_size(dtype), bytes = side * side * width;
  const uint64_t scratch = uint64_t{32} << 20;
  tutti_buffer buffer{&device, 0, 3 * bytes + scratch};
  check(&device, cu().memory_allocate(&buffer.memory, buffer.bytes), "cuMemAlloc");
  const std::unique_ptr<tutti_buffer, void (*)(tutti_buffer*)> freed(
      &buffer, [](tutti_buffer* b) { cu().memory_free(b->memory); });
  tutti_stream stream{&device, device.allocation_stream, false, {}};
  tutti_view views[3] = {};
  sdk::operator_memory memory{{}, {&buffer, 3 * bytes}, scratch};
  for (uint64_t n = 0; n < 3; ++n) {
    views[n] = {nullptr, 0, dtype, 3, {1, side, side}, {0, side, 1}};
    memory.operands[n] = {&buffer, n * bytes};
  }
  const tutti_matmul_params params = {sizeof params, TUTTI_ACTIVATION_RELU, 0};
  const sdk::operator_call product = {TUTTI_OPERATOR_MATMUL, 3, views, &params};
  std::vector<char> host(3 * bytes, 0);
  const uint64_t nan = nan_bits(dtype);
  std::memcpy(&host[bytes + place * side * width], &nan, width);
  check(&device, cu().copy_to_device(buffer.memory, host.data(), host.size(), stream.handle),
        "cuMemcpyHtoDAsync");
  const auto prepared = cublas_prepare(device, product);
  const bool served = prepared && cublas_matmul(stream, product, prepared, memory, nullptr);
  check(&device, cu().copy_to_host(host.data(), buffer.memory, bytes, stream.handle),
        "cuMemcpyDtoHAsync");
  check(&device, cu().stream_synchronize(stream.handle), "cuStreamSynchronize");
  uint64_t nans = 0;
  for (uint64_t column = 0; column < side; ++column) {
    uint64_t bits = 0;
    std::memcpy(&bits, &host[(place * side + column) * width], width);
    nans += (bits & nan) == nan ? 1 : 0;
  }
  return served && nans == side;
}

// cuBLASLt does not specify the result of its relu for NaN, which must be propagated: tested once.
bool relu_keeps_nan(tutti_device& device, int32_t dtype) {
  matmul_cache& cache = cache_of(device);
  {
    const std::lock_guard lock(cache.mutex);
    if (const auto found = cache.keeps_nan.find(dtype); found != cache.keeps_nan.end()) {
      return found->second;
    }
  }
  const bool kept = try_relu(device, dtype);
  log(TUTTI_LOG_DEBUG, std::string("matmul: relu of cuBLASLt ") +
                           (kept ? "keeps NaN" : "drops NaN, so it is not used") + " for " +
                           sdk::dtype_name(dtype));
  const std::lock_guard lock(cache.mutex);
  return cache.keeps_nan[dtype] = kept;
}

}  // namespace

bool cublas_leaves_epilogue(tutti_device& device, const sdk::operator_call& l) {
  sdk::operator_call plain = l;
  plain.params = nullptr;
  plain.view_count = 3;
  if (!plan_for(device, plain)) return false;
  const bool relu = sdk::matmul_params(l).activation == TUTTI_ACTIVATION_RELU;
  return !plan_for(device, l) || (relu && !relu_keeps_nan(device, l.views[0].dtype));
}

}  // namespace tutti::cuda
