// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra, with the names and meanings of the Python array API standard's `linalg`. Matrices
// are the last two axes, leading axes are batches, which broadcast where there are two operands.
//
// Operands are f32, f64, c64 or c128; bool and integers become f32, and f16 and bf16 throw
// dtype_error. Results have the dtype of the operands, or the real one of theirs where it says so.
// What is asked of something that is no matrix, or no square one, throws shape_error at the call.
//
// Whether a matrix is singular or positive definite is known only when it is computed: then
// evaluating the result, or reading it, throws device_error with the name of the function and the
// number of a matrix of the batch that has no result. What was enqueued behind it on the device,
// but not waited for, may fail with it. NaN and infinities in a matrix make its results NaN, or
// fail like a singular matrix.
//
// Gradients are those of the formulas, where these exist: not for equal eigenvalues or singular
// values whose vectors are used, nor for what is singular. Those of Hermitian operands are spread
// over both triangles.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"

namespace tutti::linalg {

/// The lower triangular L with x = L L^H, or with `upper` the upper triangular U with x = U^H U, of
/// Hermitian positive definite matrices x [..., N, N], of which only that triangle is read.
TUTTI_API array cholesky(const array& x, bool upper = false);

/// x1 [..., N, N] times the result is x2: [..., N, K], or one vector [N]. Throws shape_error where
/// they do not fit.
TUTTI_API array solve(const array& x1, const array& x2);

enum class transposition : std::uint8_t { none, plain, conjugate };
struct triangular_options {
  bool upper = false;
  transposition transpose = transposition::none;  ///< solves with the (conjugate) transpose of a
  bool unit_diagonal = false;                     ///< the diagonal counts as ones
};
/// As solve(), for triangular a, of which nothing else is read.
TUTTI_API array triangular_solve(const array& a, const array& b,
                                 const triangular_options& options = {});

struct lu_result {
  array permutation;  ///< [..., M] i64: row i of l u is row permutation[i] of x
  array l;            ///< [..., M, K] unit lower triangular
  array u;            ///< [..., K, N] upper triangular
};
/// LU factors of x [..., M, N] with partial pivoting; K = min(M, N). Of singular matrices too.
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
/// Of Hermitian x [..., N, N], of which only the lower triangle is read.
TUTTI_API eigh_result eigh(const array& x);
/// The eigenvalues alone.
TUTTI_API array eigvalsh(const array& x);

struct eig_result {
  array eigenvalues;   ///< [..., N], complex
  array eigenvectors;  ///< [..., N, N], complex: columns of length 1
};
/// Of any x [..., N, N]: x times the eigenvectors is the eigenvectors times diag(eigenvalues), in
/// an order and with phases of the vectors that differ between devices. Results are c64 for f32,
/// c128 for f64. Of real matrices, numbers that are not real come as neighbours that are conjugate,
/// and so do their vectors; the other vectors are real. Where there are less than N directions,
/// vectors repeat.
///
/// Evaluating throws device_error for a matrix whose eigenvalues the iteration does not find, which
/// is rare. Gradients need N directions (device_error), and are those of functions that do not
/// depend on phases.
TUTTI_API eig_result eig(const array& x);
/// The eigenvalues alone.
TUTTI_API array eigvals(const array& x);

struct svd_result {
  array u;   ///< [..., M, M], or [..., M, K]
  array s;   ///< [..., K] real, descending
  array vh;  ///< [..., N, N], or [..., K, N]
};
/// x [..., M, N] = u s vh with K = min(M, N). The full form has a gradient only for M = N
/// (value_error).
TUTTI_API svd_result svd(const array& x, bool full_matrices = true);
/// The singular values alone: [..., K], real, descending.
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
/// How many singular values count as more than 0, by the same rule: [...] i64.
TUTTI_API array matrix_rank(const array& x, std::optional<double> rtol = {});
/// x [..., N, N] times itself, n - 1 times; of its inverse for negative n, the identity for 0.
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
/// [...], or [..., 1, 1] with keepdims; real. Throws shape_error where a smallest or largest one is
/// asked of an empty matrix.
TUTTI_API array matrix_norm(const array& x, matrix_order order = matrix_order::frobenius,
                            bool keepdims = false);
/// The condition number, [...] real: norm of x times norm of its inverse; of the orders two and
/// minus_two the ratio of singular values, for which x need not be square.
TUTTI_API array cond(const array& x, matrix_order order = matrix_order::two);

struct lstsq_result {
  array solution;   ///< [..., N, K], or [N] for a vector: the shortest of the best ones
  array residuals;  ///< [..., K] real, or []: sums of squares of b - a x
  array rank;       ///< [...] i64
  array s;          ///< [..., min(M, N)] real: singular values of a
};
/// What comes nearest to a x = b in the sum of squares, for a [..., M, N] of any rank, by the
/// singular values; `rtol` as of pinv().
TUTTI_API lstsq_result lstsq(const array& a, const array& b, std::optional<double> rtol = {});

/// The exponential of x [..., N, N], by scaling, squaring and a Pade approximant (Higham, "The
/// scaling and squaring method for the matrix exponential revisited", 2005). The norm of x is
/// evaluated at the call.
TUTTI_API array expm(const array& x);

}  // namespace tutti::linalg
