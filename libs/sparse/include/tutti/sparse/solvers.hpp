// SPDX-License-Identifier: Apache-2.0
//
// Linear systems and eigenvalues of large matrices, of which only products with vectors are wanted:
// sparse matrices, dense ones, or functions. Names and meanings are those of SciPy's
// `sparse.linalg`.
//
// Vectors are f32, f64, c64 or c128 and stay on their device. The solvers evaluate in each
// iteration, since they decide by the size of what is left; they have no gradients: that of x in a
// x = b is a solution with the transpose. Shapes that do not fit throw shape_error, parameters out
// of range value_error.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>

#include "tutti/sparse/matrix.hpp"

namespace tutti::sparse {

/// What is multiplied with a vector [n], giving one of the same dtype.
class TUTTI_API linear_operator {
 public:
  linear_operator(const matrix& a);
  linear_operator(const array& a);  ///< [n, n]
  template <class F>
  requires(std::is_invocable_r_v<array, const F&, const array&> &&
           !std::same_as<F, linear_operator>) linear_operator(F product)
      : product_(std::move(product)) {}

  /// Throws shape_error for a product of another shape than x, value_error for an empty function.
  array operator()(const array& x) const;
  /// Of a matrix: zeros [n] of its dtype and device; else invalid.
  const array& like() const { return like_; }

 private:
  std::function<array(const array&)> product_;
  array like_;
};

/// What a solver has reached; `x` of the eigensolver is invalid.
struct solver_progress {
  std::int64_t iteration;
  double residual;  ///< norm of b - a x, or the largest error bound of a wanted eigenvalue
  array x;
};

struct solver_options {
  double rtol = 1e-5;  ///< solved where the residual is at most max(rtol |b|, atol)
  double atol = 0;
  std::optional<std::int64_t> iterations{};                ///< at most; 10 n where none is given
  std::optional<array> start{};                            ///< zeros where none is given
  std::optional<linear_operator> preconditioner{};         ///< near the inverse of a
  std::function<bool(const solver_progress&)> callback{};  ///< after each iteration; false: stop
  std::int64_t restart = 20;                               ///< gmres: vectors that are kept
};

struct solver_result {
  array x;
  bool converged = false;
  std::int64_t iterations = 0;
  double residual = 0;  ///< norm of b - a x, as the solver has carried it along
};

/// a x = b for Hermitian positive definite a, by conjugate gradients (M. R. Hestenes, E. Stiefel,
/// 1952); the preconditioner is Hermitian positive definite as well.
TUTTI_API solver_result cg(const linear_operator& a, const array& b,
                           const solver_options& options = {});
/// For any a, by stabilised bi-conjugate gradients (H. A. van der Vorst, 1992). Two products an
/// iteration. Ends without having converged where it breaks down.
TUTTI_API solver_result bicgstab(const linear_operator& a, const array& b,
                                 const solver_options& options = {});
/// For any a, by the least residual over growing Krylov spaces (Y. Saad, M. H. Schultz, 1986),
/// begun anew after `restart` iterations; preconditioned from the right.
TUTTI_API solver_result gmres(const linear_operator& a, const array& b,
                              const solver_options& options = {});

/// Solves with triangular a, of which nothing else is read: b [n] or [n, k]. On the host, row by
/// row, so it evaluates. Throws value_error naming the row where the diagonal is 0 or missing.
/// Differentiable with respect to a's values and b.
struct triangular_options {
  bool upper = false;
  bool unit_diagonal = false;  ///< the diagonal counts as ones
};
TUTTI_API array triangular_solve(const matrix& a, const array& b,
                                 const triangular_options& options = {});

/// Preconditioners: the inverse of the diagonal, and incomplete LU factors with the places of a (Y.
/// Saad, "Iterative Methods for Sparse Linear Systems", 2003, 10.3), made and applied on the host.
/// Throw value_error naming a row without a diagonal element, or with a pivot of 0.
TUTTI_API linear_operator jacobi(const matrix& a);
TUTTI_API linear_operator ilu0(const matrix& a);

enum class spectrum : std::uint8_t { largest_magnitude, largest, smallest };

struct eigsh_options {
  spectrum which = spectrum::largest_magnitude;
  std::optional<std::int64_t> vectors{};     ///< of the Krylov space; max(2 k + 1, 20) or n
  double tol = 0;                            ///< relative to the eigenvalue; 0: machine precision
  std::optional<std::int64_t> iterations{};  ///< restarts at most; 10 n where none is given
  std::optional<array> start{};              ///< [n]; random where none is given
  std::function<bool(const solver_progress&)> callback{};  ///< after each restart; false: stop
};
struct eigsh_result {
  array eigenvalues;   ///< [k] real, ascending
  array eigenvectors;  ///< [n, k], orthonormal columns
  bool converged = false;
  std::int64_t iterations = 0;  ///< restarts
};
/// k eigenvalues, 0 < k < n, of the Hermitian a of n rows, by the Lanczos method with thick
/// restarts (K. Wu, H. Simon, 2000) and full orthogonalisation. Where a is a function, n and the
/// dtype are those of `start`, which must be given then.
TUTTI_API eigsh_result eigsh(const linear_operator& a, std::int64_t k,
                             const eigsh_options& options = {});

}  // namespace tutti::sparse
