// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: cuBLASLt if it supports them, otherwise the kernel of kernels_cu/matmul.cu.
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

constexpr int64_t block_side = 64;

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
  s.blocks_n = (s.cols + block_side - 1) / block_side;
  s.relu = sdk::matmul_params(l).activation == TUTTI_ACTIVATION_RELU ? 1 : 0;
  return s;
}

bool has_epilogue(const sdk::operator_call& l) {
  const tutti_matmul_params params = sdk::matmul_params(l);
  return params.has_bias != 0 || params.activation != TUTTI_ACTIVATION_NONE;
}

CUfunction own_kernel(tutti_device& device, int32_t dtype) {
  const element e = element_of(dtype);
  const std::string options =
      std::string("-DT=") + e.stored + " -DACC=" + e.sum + " -DKIND=" + std::to_string(e.kind);
  return device.kernel(kernels::matmul_cu, options, "tutti_matmul");
}

}  // namespace

bool backend::matmul_supported(tutti_device& device, const sdk::operator_call& launch,
                               const char** reason) {
  const char* against = sdk::against_epilogue(launch);
  if (launch.views[0].dtype == TUTTI_BOOL) {
    against = "matmul: sums of bool are not defined";
  } else if (against == nullptr && has_epilogue(launch) && cublas_leaves_epilogue(device, launch)) {
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
  if (s.depth > 0) product.by_cublas = cublas_prepare(device, call);
  if (!product.by_cublas) product.kernel = own_kernel(device, call.views[0].dtype);
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
  const CUfunction kernel =
      product.kernel != nullptr ? product.kernel : own_kernel(*stream.device, call.views[0].dtype);
  CUdeviceptr pointers[sdk::most_operands] = {};  // without a bias the last stays NULL
  for (uint32_t n = 0; n < call.view_count; ++n) {
    pointers[n] = memory.operands[n].buffer->memory + memory.operands[n].offset;
  }
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &s};
  const int64_t blocks_m = (s.rows + block_side - 1) / block_side;
  event_recorder recorder(stream, event);
  cuda::launch(stream, kernel, static_cast<uint64_t>(blocks_m * s.blocks_n), 256, arguments,
               "matmul", static_cast<unsigned>(std::min<int64_t>(s.batches, 65535)));
  recorder.finish();
}

}  // namespace tutti::cuda
