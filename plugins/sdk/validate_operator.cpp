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
#include "semantics/operator_rows.hpp"

namespace tutti::sdk {
namespace {

bool is_index(int32_t dtype) { return dtype == TUTTI_I32 || dtype == TUTTI_I64; }

// The size of a non-empty view must fit 63 bits, so that no product of extents overflows later.
void check_bytes(const operator_call& call, const tutti_view& v) {
  if (std::find(v.extent, v.extent + v.rank, 0) != v.extent + v.rank) return;
  uint64_t bytes = dtype_size(v.dtype);
  for (uint32_t d = 0; d < v.rank; ++d)
    require(!__builtin_mul_overflow(bytes, v.extent[d], &bytes) && bytes <= INT64_MAX, call,
            "a view of 2^63 bytes or more");
}

// Checks one view against the row; `element` and `index` are the dtypes of the first such views.
void check_view(const operator_call& call, uint32_t number, const host::operator_row& row,
                const host::view_row& is, int32_t element, int32_t index) {
  const tutti_view& v = call.views[number];
  const auto require_here = [&](bool good, const char* what) {
    if (!good) require(false, call, std::string(is.name) + " " + what);
  };
  const int32_t dtype = is.dtype == host::view_dtype::i64       ? int32_t{TUTTI_I64}
                        : is.dtype == host::view_dtype::index   ? index
                        : is.dtype == host::view_dtype::real    ? host::real_part_of(element)
                        : is.dtype == host::view_dtype::complex ? host::complex_of_parts(element)
                                                                : element;
  require_here(is.dtype == host::view_dtype::any || v.dtype == dtype, "has another dtype");
  require_here(is.dtype != host::view_dtype::index || is_index(v.dtype), "is neither i32 nor i64");
  const bool must_be_contiguous = row.is_contiguous || is.dtype == host::view_dtype::index;
  require_here(!must_be_contiguous || is_contiguous(v), "is not contiguous");
}

// Checks the call against the operator's row.
void check_row(const operator_call& call, const host::operator_row& row) {
  const host::present_views present =
      host::views_present(row, call.output_count, call.view_count - call.output_count);
  if (present.count != call.view_count || present.count == 0) {
    throw_invalid(row.name, ": ", call.output_count, " outputs and ",
                  call.view_count - call.output_count, " inputs, expected ", row.text);
  }
  for (uint32_t n = 0; n < present.count; ++n) validate_view(call.views[n], row.name, true);
  for (uint32_t n = 0; n < present.count; ++n) check_bytes(call, call.views[n]);
  const auto first = [&](host::view_dtype kind) {
    for (uint32_t n = 0; n < present.count; ++n)
      if (present.views[n]->dtype == kind) return call.views[n].dtype;
    return int32_t{TUTTI_INVALID};
  };
  const int32_t element = first(host::view_dtype::element), index = first(host::view_dtype::index);
  host::bound_extents extents;
  for (uint32_t n = 0; n < present.count; ++n) {
    const tutti_view& v = call.views[n];
    const host::view_row& is = *present.views[n];
    if (!extents.bind(is, v.rank, v.extent))
      require(false, call, std::string(is.name) + " does not fit " + std::string(row.text));
  }
  if ((row.dtypes & TUTTI_DTYPE_BIT(element)) == 0)
    throw_unsupported(row.name, ": not defined for ", dtype_name(element));
  for (uint32_t n = 0; n < present.count; ++n)
    check_view(call, n, row, *present.views[n], element, index);
  require(call.params != nullptr || row.params_size == 0 || row.number == TUTTI_OPERATOR_MATMUL,
          call, "the parameters are NULL");
}

// Picking rows requires rows.
void check_rows(const operator_call& call) {
  const tutti_view& rows = call.views[call.kind == TUTTI_OPERATOR_TAKE ? 1 : 0];
  require(rows.extent[1] > 0 || call.views[2].extent[0] == 0, call, "index into no rows");
}

}  // namespace

const char* operator_name(int32_t kind) {
  const host::operator_row* const row = host::find_operator(kind);
  return row != nullptr ? row->name : nullptr;
}

void require(bool good, const operator_call& call, std::string_view what) {
  if (!good) throw_invalid(operator_name(call.kind), ": ", what, shapes_of(call));
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
  check_row(l, *host::find_operator(l.kind));
  if (is_ordering(l.kind)) return check_ordering(l);
  if (is_linear_algebra(l.kind)) return check_linear_algebra(l);
  switch (l.kind) {
    case TUTTI_OPERATOR_MATMUL:
      require((matmul_params(l).has_bias != 0) == (l.view_count == 4), l,
              "has_bias and the number of views differ");
      return;
    case TUTTI_OPERATOR_SCATTER:
      scatter_params(l);
      return check_rows(l);
    case TUTTI_OPERATOR_TAKE:
    case TUTTI_OPERATOR_SCATTER_ADD:
      return check_rows(l);
    case TUTTI_OPERATOR_CONVOLUTION:
      return check_convolution(l);
    case TUTTI_OPERATOR_FFT:
      return check_fourier(l);
    case TUTTI_OPERATOR_SPMM:
    case TUTTI_OPERATOR_SDDMM:
      return check_sparse(l);
  }
}

void check_operand(const operator_call& call, uint32_t view, uint64_t offset,
                   uint64_t buffer_bytes) {
  const tutti_view& v = call.views[view];
  if (offset % dtype_size(v.dtype) != 0) {
    throw_invalid(operator_name(call.kind), ": offset ", offset,
                  " is no multiple of the element size ", dtype_size(v.dtype));
  }
  validate_range(operator_name(call.kind), offset, dtype_size(v.dtype), v.rank, v.extent, v.stride,
                 buffer_bytes);
}

tutti_matmul_params matmul_params(const operator_call& launch) {
  if (launch.params == nullptr) return {};
  return read_struct(static_cast<const tutti_matmul_params*>(launch.params), "matmul params");
}

tutti_scatter_params scatter_params(const operator_call& launch) {
  const auto p =
      read_struct(static_cast<const tutti_scatter_params*>(launch.params), "scatter parameters");
  if (p.scatter < TUTTI_SCATTER_SET || p.scatter > TUTTI_SCATTER_MAX)
    throw_unsupported("scatter: kind ", p.scatter, " is unknown");
  return p;
}

combination combination_of(const operator_call& launch) {
  if (launch.kind != TUTTI_OPERATOR_SCATTER) return combination::add;
  // Of TUTTI_SCATTER_SET and those after it.
  static constexpr combination kinds[] = {combination::set, combination::multiply, combination::min,
                                          combination::max};
  return kinds[scatter_params(launch).scatter];
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
  const tutti_matmul_params params = matmul_params(launch);
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
