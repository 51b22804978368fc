// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra, with the names and meanings of the Python array API standard's `linalg`. Matrices
// are the last two axes; leading axes are batches, which broadcast for two operands.
//
// Operands are f32, f64, c64 or c128; bool and integers become f32, and f16 and bf16 throw
// dtype_error. Results have the dtype of the operands, or the corresponding real dtype where
// stated. Operands that are not matrices, or not square where required, throw shape_error at the
// call.
//
// Whether a matrix is singular or positive definite is known only during the computation: then
// evaluating or reading the result throws device_error with the name of the function and the index
// of a matrix of the batch that has no result. Work that was enqueued after it on the device, but
// not waited for, may fail with it. NaN and infinities in a matrix make its results NaN, or fail
// like a singular matrix.
//
// Gradients are those of the formulas, where these exist: not for equal eigenvalues or singular
// values whose vectors are used, nor for singular matrices. Those of Hermitian operands are
// distributed over both triangles.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"

namespace tutti::linalg {

/// The lower triangular L with x = L L^H, or with `upper` the upper triangular U with x = U^H U,
/// for Hermitian positive definite matrices x [..., N, N], of which only that triangle is read.
TUTTI_API array cholesky(const array& x, bool upper = false);

/// The solution of x1 [..., N, N] times result = x2: [..., N, K], or one vector [N]. Throws
/// shape_error if they do not match.
TUTTI_API array solve(const array& x1, const array& x2);

enum class transposition : std::uint8_t { none, plain, conjugate };
struct triangular_options {
  bool upper = false;
  transposition transpose = transposition::none;  ///< solves with the (conjugate) transpose of a
  bool unit_diagonal = false;                     ///< the diagonal is taken as ones
};
/// As solve(), for triangular a; the other triangle is not read.
TUTTI_API array triangular_solve(const array& a, const array& b,
                                 const triangular_options& options = {});

struct lu_result {
  array permutation;  ///< [..., M] i64: row i of l u is row permutation[i] of x
  array l;            ///< [..., M, K] unit lower triangular
  array u;            ///< [..., K, N] upper triangular
};
/// LU factors of x [..., M, N] with partial pivoting; K = min(M, N). Also for singular matrices.
TUTTI_API lu_result lu(const array& x);

enum class qr_mode : std::uint8_t { reduced, complete };
struct qr_result {
  array q;  ///< [..., M, K], orthonormal columns
  array r;  ///< [..., K, N] upper triangular
};
/// x [..., M, N] = q r, with K = min(M, N), or M in the complete form, which has no gradient for
/// M > N (value_error).
TUTTI_API qr_result qr(const array& x, qr_mode mode = qr_mode::reduced);

struct eigh_result {
  array eigenvalues;   ///< [..., N] real, ascending
  array eigenvectors;  ///< [..., N, N], columns
};
/// For Hermitian x [..., N, N], of which only the lower triangle is read.
TUTTI_API eigh_result eigh(const array& x);
/// Only the eigenvalues.
TUTTI_API array eigvalsh(const array& x);

struct eig_result {
  array eigenvalues;   ///< [..., N], complex
  array eigenvectors;  ///< [..., N, N], complex: columns of length 1
};
/// For any x [..., N, N]: x times the eigenvectors is the eigenvectors times diag(eigenvalues). The
/// order and the phases of the vectors differ between devices. Results are c64 for f32, c128 for
/// f64. For real matrices, non-real eigenvalues are adjacent conjugate pairs, and so are their
/// vectors; the other vectors are real. If there are fewer than N independent eigenvectors, vectors
/// are repeated.
///
/// Evaluating throws device_error for a matrix whose eigenvalues the iteration does not find, which
/// is rare. Gradients need N independent eigenvectors (device_error), and are those of functions
/// that do not depend on phases.
TUTTI_API eig_result eig(const array& x);
/// Only the eigenvalues.
TUTTI_API array eigvals(const array& x);

struct svd_result {
  array u;   ///< [..., M, M], or [..., M, K]
  array s;   ///< [..., K] real, descending
  array vh;  ///< [..., N, N], or [..., K, N]
};
/// x [..., M, N] = u s vh with K = min(M, N). The full form has a gradient only for M = N
/// (value_error).
TUTTI_API svd_result svd(const array& x, bool full_matrices = true);
/// Only the singular values: [..., K], real, descending.
TUTTI_API array svdvals(const array& x);

/// The inverse of x [..., N, N].
TUTTI_API array inv(const array& x);
/// The determinant of x [..., N, N]: [...]; 0 for singular matrices, whose gradient fails.
TUTTI_API array det(const array& x);
struct slogdet_result {
  array sign;       ///< [...]: of modulus 1, or 0 for singular matrices
  array logabsdet;  ///< [...] real: -inf for singular matrices
};
/// The determinant as sign * exp(logabsdet), which does not overflow.
TUTTI_API slogdet_result slogdet(const array& x);

/// The Moore-Penrose inverse [..., N, M] of x [..., M, N]. Singular values up to `rtol` times the
/// largest count as 0; the default is max(M, N) times the dtype's epsilon. Throws value_error for a
/// negative rtol.
TUTTI_API array pinv(const array& x, std::optional<double> rtol = {});
/// The number of singular values that are not taken as 0, by the same rule: [...] i64.
TUTTI_API array matrix_rank(const array& x, std::optional<double> rtol = {});
/// x [..., N, N] to the power n; powers of the inverse for negative n, the identity for 0.
TUTTI_API array matrix_power(const array& x, std::int64_t n);

enum class matrix_order : std::uint8_t {
  frobenius,      ///< root of the sum of squares
  nuclear,        ///< sum of the singular values
  one,            ///< largest sum of absolute values of a column
  minus_one,      ///< smallest
  two,            ///< largest singular value
  minus_two,      ///< smallest
  infinity,       ///< largest sum of absolute values of a row
  minus_infinity  ///< smallest
};
/// [...], or [..., 1, 1] with keepdims; real. Throws shape_error for the smallest or largest value
/// of an empty matrix.
TUTTI_API array matrix_norm(const array& x, matrix_order order = matrix_order::frobenius,
                            bool keepdims = false);
/// The condition number, [...] real: norm of x times norm of its inverse; for the orders two and
/// minus_two the ratio of singular values, for which x need not be square.
TUTTI_API array cond(const array& x, matrix_order order = matrix_order::two);

struct lstsq_result {
  array solution;   ///< [..., N, K], or [N] for a vector: the one with the smallest norm
  array residuals;  ///< [..., K] real, or []: sums of squares of b - a x
  array rank;       ///< [...] i64
  array s;          ///< [..., min(M, N)] real: singular values of a
};
/// The least-squares solution of a x = b, for a [..., M, N] of any rank, by singular values; `rtol`
/// as in pinv().
TUTTI_API lstsq_result lstsq(const array& a, const array& b, std::optional<double> rtol = {});

/// The exponential of x [..., N, N], by scaling, squaring and a Pade approximant (Higham, "The
/// scaling and squaring method for the matrix exponential revisited", 2005). The norm of x is
/// evaluated at the call.
TUTTI_API array expm(const array& x);

}  // namespace tutti::linalg
