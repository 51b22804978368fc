// SPDX-License-Identifier: Apache-2.0
//
// Shapes and ranges of operators.
#include "sdk/validate_operator.hpp"

#include <algorithm>
#include <string>

#include "sdk/convolution.hpp"
#include "sdk/fourier.hpp"
#include "sdk/linear_algebra.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"
#include "sdk/spmm.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {
namespace {

std::string shape(const tutti_view& view) {
  std::string text = "[";
  for (uint32_t d = 0; d < view.rank && d < TUTTI_MAX_RANK; ++d) {
    if (d > 0) text += ',';
    text += std::to_string(view.extent[d]);
  }
  return text + "]";
}

void require(bool good, const char* name, const tutti_view* v, const char* what) {
  if (good) return;
  throw_invalid(std::string(name) + ": " + what + ": " + shape(v[0]) + ", " + shape(v[1]) + ", " +
                shape(v[2]));
}

void check_shapes(const operator_call& l, const char* name) {
  const tutti_view *v = l.views, *out = v, *in = v + 1, *last = v + 2;
  const bool product = l.kind == TUTTI_OPERATOR_MATMUL;
  require(out->rank == 3 && in->rank == 3 && last->rank == (product ? 3u : 1u), name, v,
          "wrong ranks");
  require(out->dtype == in->dtype, name, v, "dtypes differ");
  if (product) {
    require(last->dtype == in->dtype, name, v, "dtypes differ");
    require(in->extent[0] == out->extent[0] && last->extent[0] == out->extent[0], name, v,
            "batches differ");
    require(in->extent[1] == out->extent[1] && last->extent[2] == out->extent[2], name, v,
            "outer dimensions differ");
    require(in->extent[2] == last->extent[1], name, v, "inner dimensions differ");
    return;
  }
  require(last->dtype == TUTTI_I32 || last->dtype == TUTTI_I64, name, v, "index is not i32 or i64");
  require(last->extent[0] < 2 || last->stride[0] == 1, name, v, "index is not contiguous");
  require(out->extent[0] == in->extent[0] && out->extent[2] == in->extent[2], name, v,
          "outer or inner extents differ");
  const bool take = l.kind == TUTTI_OPERATOR_TAKE;
  require((take ? out : in)->extent[1] == last->extent[0], name, v, "picked rows and index differ");
  const uint64_t rows = (take ? in : out)->extent[1];
  require(rows > 0 || last->extent[0] == 0, name, v, "index into no rows");
}

// What has elements fits 63 bits of bytes, so that no product of extents overflows behind this.
void check_bytes(const tutti_view& v, const char* name) {
  if (std::find(v.extent, v.extent + v.rank, 0) != v.extent + v.rank) return;
  uint64_t bytes = dtype_size(v.dtype);
  for (uint32_t d = 0; d < v.rank; ++d) {
    if (__builtin_mul_overflow(bytes, v.extent[d], &bytes) || bytes > INT64_MAX)
      throw_invalid(std::string(name) + ": a view of 2^63 bytes or more: " + shape(v));
  }
}

tutti_matmul_params params_of(const operator_call& launch) {
  if (launch.params == nullptr) return {};
  return read_struct(static_cast<const tutti_matmul_params*>(launch.params), "matmul params");
}

}  // namespace

const char* operator_name(int32_t kind) {
  switch (kind) {
    case TUTTI_OPERATOR_MATMUL:
      return "matmul";
    case TUTTI_OPERATOR_TAKE:
      return "take";
    case TUTTI_OPERATOR_SCATTER_ADD:
      return "scatter_add";
    case TUTTI_OPERATOR_SCAN:
      return "scan";
    case TUTTI_OPERATOR_SORT:
      return "sort";
    case TUTTI_OPERATOR_ARGSORT:
      return "argsort";
    case TUTTI_OPERATOR_SEARCH:
      return "search";
    case TUTTI_OPERATOR_COUNT:
      return "count";
    case TUTTI_OPERATOR_SELECT:
      return "select";
    case TUTTI_OPERATOR_TOPK:
      return "topk";
    case TUTTI_OPERATOR_PARTITION:
      return "partition";
    case TUTTI_OPERATOR_SCATTER:
      return "scatter";
    case TUTTI_OPERATOR_CHOLESKY:
      return "cholesky";
    case TUTTI_OPERATOR_TRIANGULAR_SOLVE:
      return "triangular_solve";
    case TUTTI_OPERATOR_LU:
      return "lu";
    case TUTTI_OPERATOR_QR:
      return "qr";
    case TUTTI_OPERATOR_EIGH:
      return "eigh";
    case TUTTI_OPERATOR_SVD:
      return "svd";
    case TUTTI_OPERATOR_EIG:
      return "eig";
    case TUTTI_OPERATOR_CONVOLUTION:
      return "convolution";
    case TUTTI_OPERATOR_FFT:
      return "fft";
    case TUTTI_OPERATOR_SPMM:
      return "spmm";
    case TUTTI_OPERATOR_SDDMM:
      return "sddmm";
    default:
      return nullptr;
  }
}

std::string shapes_of(const operator_call& call) {
  std::string text;
  for (uint32_t n = 0; n < call.view_count; ++n) {
    text += n == 0 ? ": [" : ", [";
    for (uint32_t d = 0; d < call.views[n].rank; ++d)
      text += (d > 0 ? "," : "") + std::to_string(call.views[n].extent[d]);
    text += std::string("] of ") + dtype_name(call.views[n].dtype);
  }
  return text;
}

bool is_contiguous(const tutti_view& v) {
  if (std::find(v.extent, v.extent + v.rank, 0) != v.extent + v.rank) return true;
  int64_t step = 1;
  for (uint32_t d = v.rank; d-- > 0; step *= static_cast<int64_t>(v.extent[d]))
    if (v.extent[d] != 1 && v.stride[d] != step) return false;
  return true;
}

void check_operator(const operator_call& l) {
  const char* name = operator_name(l.kind);
  const bool biased = l.kind == TUTTI_OPERATOR_MATMUL && params_of(l).has_bias != 0;
  const bool pair = (is_ordering(l.kind) && l.kind != TUTTI_OPERATOR_SEARCH) || is_fourier(l.kind);
  const bool convolution = l.kind == TUTTI_OPERATOR_CONVOLUTION;
  const bool sparse = l.kind == TUTTI_OPERATOR_SPMM || l.kind == TUTTI_OPERATOR_SDDMM;
  const uint32_t count = is_linear_algebra(l.kind) ? linear_algebra_views(l)
                         : convolution             ? convolution_views(l)
                         : biased                  ? 4
                         : sparse                  ? 5
                         : pair                    ? 2
                                                   : 3;
  if (l.view_count != count) {
    throw_invalid(std::string(name) + ": " + std::to_string(l.view_count) + " views, expected " +
                  std::to_string(count));
  }
  for (uint32_t n = 0; n < count; ++n) {
    validate_view(l.views[n], name, true);
    check_bytes(l.views[n], name);
  }
  if (is_ordering(l.kind))
    check_ordering(l, name);
  else if (is_linear_algebra(l.kind))
    check_linear_algebra(l, name);
  else if (convolution)
    check_convolution(l);
  else if (is_fourier(l.kind))
    check_fourier(l, name);
  else if (l.kind == TUTTI_OPERATOR_SPMM)
    check_spmm(l, name);
  else if (l.kind == TUTTI_OPERATOR_SDDMM)
    check_sddmm(l, name);
  else
    check_shapes(l, name);
  if (l.kind == TUTTI_OPERATOR_MATMUL) matmul_params(l);
  if (l.kind == TUTTI_OPERATOR_SCATTER) scatter_params(l);
}

void check_operand(const operator_call& call, uint32_t view, uint64_t offset,
                   uint64_t buffer_bytes) {
  const tutti_view& v = call.views[view];
  if (offset % dtype_size(v.dtype) != 0) {
    throw_invalid(std::string(operator_name(call.kind)) + ": offset " + std::to_string(offset) +
                  " is no multiple of the element size " + std::to_string(dtype_size(v.dtype)));
  }
  validate_range(operator_name(call.kind), offset, dtype_size(v.dtype), v.rank, v.extent, v.stride,
                 buffer_bytes);
}

tutti_matmul_params matmul_params(const operator_call& launch) {
  const tutti_matmul_params params = params_of(launch);
  if (params.has_bias == 0) return params;
  if (launch.view_count != 4) throw_invalid("matmul: the bias is missing");
  const tutti_view &out = launch.views[0], &bias = launch.views[3];
  const bool fits = bias.rank == 3 && bias.dtype == out.dtype &&
                    std::equal(out.extent, out.extent + 3, bias.extent);
  if (!fits) {
    throw_invalid("matmul: a bias " + shape(bias) + " of " + dtype_name(bias.dtype) +
                  " for a result " + shape(out) + " of " + dtype_name(out.dtype));
  }
  return params;
}

tutti_scatter_params scatter_params(const operator_call& launch) {
  const auto p =
      read_struct(static_cast<const tutti_scatter_params*>(launch.params), "scatter parameters");
  if (p.scatter < TUTTI_SCATTER_SET || p.scatter > TUTTI_SCATTER_MAX)
    throw_unsupported("scatter: kind " + std::to_string(p.scatter) + " is unknown");
  return p;
}

combination combination_of(const operator_call& launch) {
  if (launch.kind != TUTTI_OPERATOR_SCATTER) return combination::add;
  switch (scatter_params(launch).scatter) {
    case TUTTI_SCATTER_MULTIPLY:
      return combination::multiply;
    case TUTTI_SCATTER_MIN:
      return combination::min;
    case TUTTI_SCATTER_MAX:
      return combination::max;
    default:
      return combination::set;
  }
}

const char* against_scatter(const operator_call& launch, uint32_t computed_dtypes) {
  const auto dtype = static_cast<uint8_t>(launch.views[0].dtype);
  const combination how = combination_of(launch);
  if (is_complex(dtype) && how != combination::multiply)
    return "scatter: complex numbers are only multiplied, else come as their parts";
  if (how == combination::set) return nullptr;
  const bool computes = is_register(dtype) && (computed_dtypes & TUTTI_DTYPE_BIT(dtype)) != 0;
  return dtype == TUTTI_BOOL || !computes ? "scatter: only dtypes that compute" : nullptr;
}

const char* against_epilogue(const operator_call& launch) {
  const tutti_matmul_params params = params_of(launch);
  const tutti_view& out = launch.views[0];
  if (params.activation != TUTTI_ACTIVATION_NONE && params.activation != TUTTI_ACTIVATION_RELU) {
    return "matmul: an activation that this plugin does not know";
  }
  const bool real = out.dtype >= TUTTI_F16 && out.dtype <= TUTTI_F64;
  if (params.activation == TUTTI_ACTIVATION_RELU && !real) {
    return "matmul: relu of real floats only";
  }
  if (params.has_bias == 0) return nullptr;
  const tutti_view& bias = launch.views[3];
  const auto still = [&](int d) { return out.extent[d] < 2 || bias.stride[d] == 0; };
  const bool row = still(0) && still(1) && (out.extent[2] < 2 || bias.stride[2] == 1);
  return row ? nullptr : "matmul: a bias that is not one contiguous row";
}

}  // namespace tutti::sdk
