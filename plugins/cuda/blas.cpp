// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: cuBLASLt if they are large and it supports them, otherwise the kernels of
// kernels_cu/matmul.cu.
#include <algorithm>

#include "cuda/cublas.hpp"
#include "embedded_kernels.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::cuda {
namespace {

// As tutti_matmul_shape in matmul.cu.
struct shape {
  int64_t rows, cols, depth, batches;
  int64_t a_batch, a_row, a_col, b_batch, b_row, b_col, c_batch;
  int64_t blocks_n, relu;
};

// What a block of a kernel of matmul.cu computes, and its threads.
struct block_size {
  int64_t rows, cols;
  unsigned threads;
};
constexpr block_size large_block = {64, 64, 256}, small_block = {16, 32, 512};

int64_t blocks_of(int64_t extent, int64_t block) { return (extent + block - 1) / block; }

struct element {
  const char* stored;
  const char* sum;
  int kind;
};

element element_of(int32_t dtype) {
  switch (dtype) {
    case TUTTI_C64:
      return {"float2", "float2", 3};
    case TUTTI_C128:
      return {"double2", "double2", 3};
    case TUTTI_F32:
      return {"float", "float", 0};
    case TUTTI_F64:
      return {"double", "double", 0};
    case TUTTI_F16:
      return {"ushort", "float", 1};
    case TUTTI_BF16:
      return {"ushort", "float", 2};
    default:
      break;
  }
  switch (sdk::dtype_size(dtype)) {
    case 1:
      return {"uchar", "uchar", 0};
    case 2:
      return {"ushort", "ushort", 0};
    case 4:
      return {"uint", "uint", 0};
    default:
      return {"ulong", "ulong", 0};
  }
}

shape describe(const sdk::operator_call& l) {
  const tutti_view &c = l.views[0], &a = l.views[1], &b = l.views[2];
  shape s{};
  s.batches = static_cast<int64_t>(c.extent[0]);
  s.rows = static_cast<int64_t>(c.extent[1]);
  s.cols = static_cast<int64_t>(c.extent[2]);
  s.depth = static_cast<int64_t>(a.extent[2]);
  s.a_batch = a.stride[0], s.a_row = a.stride[1], s.a_col = a.stride[2];
  s.b_batch = b.stride[0], s.b_row = b.stride[1], s.b_col = b.stride[2];
  s.c_batch = s.rows * s.cols;
  s.relu = sdk::matmul_params(l).activation == TUTTI_ACTIVATION_RELU ? 1 : 0;
  return s;
}

bool has_epilogue(const sdk::operator_call& l) {
  const tutti_matmul_params params = sdk::matmul_params(l);
  return params.has_bias != 0 || params.activation != TUTTI_ACTIVATION_NONE;
}

CUfunction own_kernel(tutti_device& device, int32_t dtype, bool is_small) {
  const element e = element_of(dtype);
  const std::string options =
      std::string("-DT=") + e.stored + " -DACC=" + e.sum + " -DKIND=" + std::to_string(e.kind);
  return device.kernel(kernels::matmul_cu, options,
                       is_small ? "tutti_matmul_small" : "tutti_matmul");
}

// Whether the kernel for small products is faster than a call of cuBLASLt, which takes 8 to 15 us
// on the host. On an H100 that kernel takes 1.0 us, and for each block that a multiprocessor runs
// 0.6 us and 0.68 us a slab of the depth.
bool is_small(const tutti_device& device, const shape& s, int32_t dtype) {
  constexpr int64_t most = 9, most_batches = 65535;  // 7 us; a grid's limit
  if (s.batches > most_batches) return false;
  const int64_t slabs = blocks_of(s.depth, sdk::dtype_size(dtype) < 16 ? 64 : 32);
  if (slabs >= most) return false;
  const int64_t row_blocks = blocks_of(s.rows, small_block.rows);
  const int64_t col_blocks = blocks_of(s.cols, small_block.cols);
  const int64_t units = device.info->properties.compute_units;
  if (row_blocks > most * units || col_blocks > most * units) return false;  // no overflow below
  return blocks_of(row_blocks * col_blocks * s.batches, units) * (1 + slabs) <= most;
}

}  // namespace

bool backend::matmul_supported(tutti_device& device, const sdk::operator_call& launch,
                               const char** reason) {
  const char* against = sdk::against_epilogue(launch);
  if (launch.views[0].dtype == TUTTI_BOOL) {
    against = "matmul: sums of bool are not defined";
  } else if (against == nullptr && has_epilogue(launch) &&
             !is_small(device, describe(launch), launch.views[0].dtype) &&
             cublas_leaves_epilogue(device, launch)) {
    against = "matmul: cuBLASLt does not do this epilogue";
  }
  if (against == nullptr) return true;
  *reason = against;
  return false;
}

prepared_product backend::prepare_matmul(tutti_device& device, const sdk::operator_call& call) {
  const shape s = describe(call);
  prepared_product product;
  if (s.batches == 0 || s.rows == 0 || s.cols == 0) return product;
  const int32_t dtype = call.views[0].dtype;
  product.is_small = is_small(device, s, dtype);
  if (!product.is_small && s.depth > 0) product.by_cublas = cublas_prepare(device, call);
  if (!product.by_cublas) product.kernel = own_kernel(device, dtype, product.is_small);
  return product;
}

uint64_t backend::matmul_workspace(const prepared_product& product) {
  return product.by_cublas ? cublas_workspace(*product.by_cublas) : 0;
}

void backend::matmul(tutti_stream& stream, const sdk::operator_call& call,
                     const prepared_product& product, const sdk::operator_memory& memory,
                     tutti_event** event) {
  shape s = describe(call);
  if (s.batches == 0 || s.rows == 0 || s.cols == 0) return record_empty(stream, event);
  if (product.by_cublas && cublas_matmul(stream, call, product.by_cublas, memory, event)) return;
  const CUfunction kernel = product.kernel != nullptr
                                ? product.kernel
                                : own_kernel(*stream.device, call.views[0].dtype, false);
  CUdeviceptr pointers[sdk::most_operands] = {};  // without a bias the last stays NULL
  for (uint32_t n = 0; n < call.view_count; ++n) {
    pointers[n] = memory.operands[n].buffer->memory + memory.operands[n].offset;
  }
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &s};
  const block_size block = product.is_small ? small_block : large_block;
  s.blocks_n = blocks_of(s.cols, block.cols);
  const int64_t blocks = blocks_of(s.rows, block.rows) * s.blocks_n;
  event_recorder recorder(stream, event);
  cuda::launch(stream, kernel, static_cast<uint64_t>(blocks), block.threads, arguments, "matmul",
               static_cast<unsigned>(std::min<int64_t>(s.batches, 65535)));
  recorder.finish();
}

}  // namespace tutti::cuda
