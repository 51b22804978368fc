// SPDX-License-Identifier: Apache-2.0
//
// The operators of dense linear algebra over nonempty [B,M,N] arrays of one floating dtype, with
// their gradients (factors.cpp, decompositions.cpp), on which the functions of tutti/linalg.hpp are
// based. `label` is the public call, a text that stays valid.
#pragma once

#include <vector>

#include "op/operands.hpp"

namespace tutti::op {

/// The conjugate transpose of matrices.
array adjoint(const array& a);

/// a = L L^H, or U^H U, from that triangle of a.
array cholesky3(const array& a, bool upper, const char* label);

struct triangle {
  bool upper = false;
  tutti_transpose transpose = TUTTI_TRANSPOSE_NONE;
  bool unit_diagonal = false;
};
/// op(a) x = b for triangular a [B,N,N], b [B,N,K].
array triangular3(const array& a, const array& b, const triangle& how, const char* label);

/// L U of the rows `rows` [B,M] i64 of a, packed in one matrix.
struct packed_lu {
  array factors, rows;
};
/// Without gradient.
packed_lu lu3(const array& a, bool must_be_regular, const char* label);
/// L [B,M,K] and U [B,K,N] of the rows of a, K = min(M, N), with gradient.
struct lu_factors {
  array lower, upper, rows;
};
lu_factors factors3(const array& a, const char* label);

/// a x = b for a [B,N,N], b [B,N,K].
array solve3(const array& a, const array& b, const char* label);

/// Q and R; `complete`: q is square.
std::pair<array, array> qr3(const array& a, bool complete, const char* label);

/// Eigenvalues [B,N] and, with `vectors`, eigenvectors of the Hermitian a.
std::pair<array, array> eigh3(const array& a, bool vectors, const char* label);

/// Eigenvalues [B,N] and, with `vectors`, eigenvectors of a, complex.
std::pair<array, array> eig3(const array& a, bool vectors, const char* label);

struct singular_values {
  array u, s, vh;
};
/// `vectors`: otherwise only s is computed. `full`: u and vh are square.
singular_values svd3(const array& a, bool vectors, bool full, const char* label);

/// The rows `rows` [B,M] i64 of a [B,M,N].
array permuted_rows(const array& a, const array& rows);

}  // namespace tutti::op
