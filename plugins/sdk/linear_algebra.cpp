// SPDX-License-Identifier: Apache-2.0
//
// Shapes and parameters of dense linear algebra.
#include "sdk/linear_algebra.hpp"

#include <algorithm>
#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

class matrix_checker {
 public:
  matrix_checker(const operator_call& call, const char* name) : call_(call), name_(name) {}

  void require(bool good, const char* what) const {
    if (good) return;
    std::string text = std::string(name_) + ": " + what;
    for (uint32_t n = 0; n < call_.view_count; ++n) {
      text += n == 0 ? ": [" : ", [";
      for (uint32_t d = 0; d < call_.views[n].rank; ++d)
        text += (d > 0 ? "," : "") + std::to_string(call_.views[n].extent[d]);
      text += "]";
    }
    throw_invalid(text);
  }

  void require_layout() const {
    for (uint32_t n = 0; n < call_.view_count; ++n) {
      const tutti_view& v = call_.views[n];
      int64_t step = 1;
      const bool empty = std::find(v.extent, v.extent + v.rank, 0) != v.extent + v.rank;
      for (uint32_t d = v.rank; d-- > 0 && !empty; step *= static_cast<int64_t>(v.extent[d]))
        require(v.extent[d] == 1 || v.stride[d] == step, "a view is not contiguous");
      require(v.extent[0] == call_.views[0].extent[0], "batches differ");
    }
  }

  void require_matrix(uint32_t view, uint64_t rows, uint64_t columns, const char* what) const {
    require_matrix(view, rows, columns, call_.views[call_.view_count - 1].dtype, what);
  }
  void require_matrix(uint32_t view, uint64_t rows, uint64_t columns, int32_t dtype,
                      const char* what) const {
    const tutti_view& v = call_.views[view];
    require(v.rank == 3 && v.dtype == dtype, "dtypes differ");
    require(v.extent[1] == rows && v.extent[2] == columns, what);
  }
  void require_row(uint32_t view, uint64_t length, int32_t dtype) const {
    const tutti_view& v = call_.views[view];
    require(v.rank == 2 && v.extent[1] == length && v.dtype == dtype,
            "numbers of a matrix of another length or dtype");
  }
  void require_rank(uint32_t view, uint32_t rank) const {
    require(call_.views[view].rank == rank, "wrong ranks");
  }

 private:
  const operator_call& call_;
  const char* name_;
};

int32_t real_dtype_of(int32_t dtype) {
  return dtype == TUTTI_C64 ? TUTTI_F32 : dtype == TUTTI_C128 ? TUTTI_F64 : dtype;
}

int32_t complex_dtype_of(int32_t dtype) {
  return dtype == TUTTI_F32 ? TUTTI_C64 : dtype == TUTTI_F64 ? TUTTI_C128 : dtype;
}

void check_svd(const matrix_checker& c, const operator_call& call, const matrix_extents& m) {
  const uint64_t least = std::min(m.rows, m.columns);
  const int32_t real = real_dtype_of(call.views[call.view_count - 1].dtype);
  if (call.output_count == 1) return c.require_row(0, least, real);
  const uint64_t k = call.views[0].extent[2];
  c.require_rank(0, 3);
  c.require(k == least || k == m.rows, "u has too many columns");
  c.require_matrix(0, m.rows, k, "u has other rows");
  c.require_row(1, least, real);
  // Where both forms of u have the same shape, vh decides.
  const uint64_t l = call.views[2].extent[1];
  c.require(l == least || (l == m.columns && k == m.rows), "u and vh differ in their form");
  c.require(k == least || l == m.columns, "u and vh differ in their form");
  c.require_matrix(2, l, m.columns, "vh has other columns");
}

}  // namespace

bool is_linear_algebra(int32_t kind) {
  return kind >= TUTTI_OPERATOR_CHOLESKY && kind <= TUTTI_OPERATOR_EIG;
}

uint32_t linear_algebra_views(const operator_call& call) {
  return call.output_count + (call.kind == TUTTI_OPERATOR_TRIANGULAR_SOLVE ? 2 : 1);
}

matrix_extents extents_of(const operator_call& call) {
  const tutti_view& a = call.views[call.view_count - 1];
  return {a.extent[0], a.extent[1], a.extent[2]};
}

void check_linear_algebra(const operator_call& call, const char* name) {
  const matrix_checker c(call, name);
  const uint32_t last = call.view_count - 1;
  const int32_t dtype = call.views[last].dtype;
  c.require_rank(last, 3);
  if (dtype != TUTTI_F32 && dtype != TUTTI_F64 && dtype != TUTTI_C64 && dtype != TUTTI_C128)
    throw_unsupported(std::string(name) + ": not defined for " + dtype_name(dtype));
  matrix_params(call);
  const matrix_extents m = extents_of(call);
  switch (call.kind) {
    case TUTTI_OPERATOR_CHOLESKY:
      c.require_matrix(0, m.rows, m.rows, "not square");
      c.require_matrix(1, m.rows, m.rows, "not square");
      break;
    case TUTTI_OPERATOR_TRIANGULAR_SOLVE:
      c.require_matrix(0, m.rows, m.columns, "the result differs from the right side");
      c.require_matrix(1, m.rows, m.rows, "not square, or of other rows");
      break;
    case TUTTI_OPERATOR_LU:
      c.require(call.output_count == 2, "has two outputs");
      c.require_matrix(0, m.rows, m.columns, "the result differs from the matrix");
      c.require_row(1, m.rows, TUTTI_I64);
      break;
    case TUTTI_OPERATOR_QR: {
      c.require(call.output_count == 2, "has two outputs");
      c.require_rank(0, 3);
      const uint64_t k = call.views[0].extent[2];
      c.require(k == m.rows || k == std::min(m.rows, m.columns), "q has too many columns");
      c.require_matrix(0, m.rows, k, "q has other rows");
      c.require_matrix(1, k, m.columns, "r has another shape");
      break;
    }
    case TUTTI_OPERATOR_EIGH:
      c.require(m.rows == m.columns, "not square");
      c.require_row(0, m.rows, real_dtype_of(dtype));
      if (call.output_count == 2) c.require_matrix(1, m.rows, m.rows, "v has another shape");
      break;
    case TUTTI_OPERATOR_EIG:
      c.require(m.rows == m.columns, "not square");
      c.require_row(0, m.rows, complex_dtype_of(dtype));
      if (call.output_count == 2)
        c.require_matrix(1, m.rows, m.rows, complex_dtype_of(dtype), "v has another shape");
      break;
    case TUTTI_OPERATOR_SVD:
      c.require(call.output_count != 2, "has one output or three");
      check_svd(c, call, m);
      break;
    default:
      throw_unsupported(std::string(name) + ": no linear algebra");
  }
  c.require_layout();
}

tutti_matrix_params matrix_params(const operator_call& call) {
  const auto p =
      read_struct(static_cast<const tutti_matrix_params*>(call.params), "matrix parameters");
  if (p.transpose < TUTTI_TRANSPOSE_NONE || p.transpose > TUTTI_TRANSPOSE_CONJUGATE)
    throw_unsupported(std::string(operator_name(call.kind)) + ": transpose " +
                      std::to_string(p.transpose) + " is unknown");
  return p;
}

void throw_no_result(const operator_call& call, uint64_t matrix, const char* what) {
  const uint64_t batch = extents_of(call).batch;
  const std::string which =
      batch == 1 ? "the matrix"
                 : "matrix " + std::to_string(matrix) + " of " + std::to_string(batch);
  throw_invalid(std::string(operator_name(call.kind)) + ": " + which + " is " + what);
}

}  // namespace tutti::sdk
