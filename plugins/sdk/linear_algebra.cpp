// SPDX-License-Identifier: Apache-2.0
//
// Shapes and parameters of dense linear algebra.
#include "sdk/linear_algebra.hpp"

#include <algorithm>
#include <string>

#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

void check_svd(const operator_call& call, const matrix_extents& m) {
  const uint64_t least = std::min(m.rows, m.columns);
  require(call.views[call.output_count == 1 ? 0 : 1].extent[1] == least, call,
          "another number of singular values");
  if (call.output_count == 1) return;
  const uint64_t k = call.views[0].extent[2], l = call.views[2].extent[1];
  // If both forms of u have the same shape, vh decides.
  require((k == least && l == least) || (k == m.rows && l == m.columns), call,
          "u and vh have neither all rows and columns nor as many as singular values");
}

}  // namespace

bool is_linear_algebra(int32_t kind) {
  return kind >= TUTTI_OPERATOR_CHOLESKY && kind <= TUTTI_OPERATOR_EIG;
}

matrix_extents extents_of(const operator_call& call) {
  const tutti_view& a = call.views[call.view_count - 1];
  return {a.extent[0], a.extent[1], a.extent[2]};
}

void check_linear_algebra(const operator_call& call) {
  matrix_params(call);
  const matrix_extents m = extents_of(call);
  if (call.kind == TUTTI_OPERATOR_SVD) check_svd(call, m);
  if (call.kind != TUTTI_OPERATOR_QR) return;
  const uint64_t k = call.views[0].extent[2];
  require(k == m.rows || k == std::min(m.rows, m.columns), call, "q has another number of columns");
}

tutti_matrix_params matrix_params(const operator_call& call) {
  const auto p =
      read_struct(static_cast<const tutti_matrix_params*>(call.params), "matrix parameters");
  if (p.transpose < TUTTI_TRANSPOSE_NONE || p.transpose > TUTTI_TRANSPOSE_CONJUGATE)
    throw_unsupported(operator_name(call.kind), ": transpose ", p.transpose, " is unknown");
  return p;
}

void throw_no_result(const operator_call& call, uint64_t matrix, const char* what) {
  const uint64_t batch = extents_of(call).batch;
  const std::string which =
      batch == 1 ? "the matrix"
                 : "matrix " + std::to_string(matrix) + " of " + std::to_string(batch);
  throw_invalid(operator_name(call.kind), ": ", which, " is ", what);
}

}  // namespace tutti::sdk
