// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent parts of dense linear algebra: shapes, parameters and messages.
#pragma once

#include <cstdint>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// TUTTI_OPERATOR_CHOLESKY to TUTTI_OPERATOR_EIG.
bool is_linear_algebra(int32_t kind);

/// Throws plugin_error if such an operator has inconsistent extents or parameters.
void check_linear_algebra(const operator_call& call);

/// Parameters at full size, checked.
tutti_matrix_params matrix_params(const operator_call& call);

/// The [batch, rows, columns] of the last view, the one that is decomposed or solved for.
struct matrix_extents {
  uint64_t batch, rows, columns;
};
matrix_extents extents_of(const operator_call& call);

/// Calls the function of `all` that computes a matrix of the call.
template <typename Matrices>
void run_matrix(const Matrices& all, const operator_call& call, uint64_t matrix) {
  switch (call.kind) {
    case TUTTI_OPERATOR_CHOLESKY:
      return all.cholesky(matrix);
    case TUTTI_OPERATOR_TRIANGULAR_SOLVE:
      return all.triangular_solve(matrix);
    case TUTTI_OPERATOR_LU:
      return all.lu(matrix);
    case TUTTI_OPERATOR_QR:
      return all.qr(matrix);
    case TUTTI_OPERATOR_EIGH:
      return all.eigh(matrix);
    case TUTTI_OPERATOR_EIG:
      return all.eig(matrix);
    default:
      return all.svd(matrix);
  }
}

/// Throws INVALID_ARGUMENT: "matrix 3 of 8 is WHAT", or without numbers for a single matrix.
[[noreturn]] void throw_no_result(const operator_call& call, uint64_t matrix, const char* what);
inline constexpr const char* singular = "singular";
inline constexpr const char* not_positive_definite = "not positive definite";
inline constexpr const char* not_convergent = "one whose eigenvalues do not converge";

}  // namespace tutti::sdk
