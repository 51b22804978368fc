// SPDX-License-Identifier: Apache-2.0
//
// Linear systems and eigenvalues of large matrices that need only products with vectors: sparse
// matrices, dense ones, or functions. Names and meanings are those of SciPy's
// `sparse.linalg`.
//
// Vectors are f32, f64, c64 or c128 and stay on their device. The solvers evaluate in each
// iteration, because they check the residual; they have no gradients: the gradient of x in a x = b
// is a solution with the transpose. Shapes that do not match throw shape_error, parameters out of
// range value_error.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>

#include "tutti/sparse/matrix.hpp"

namespace tutti::sparse {

/// An operator that multiplies a vector [n], with a result of the same dtype.
class TUTTI_API linear_operator {
 public:
  linear_operator(const matrix& a);
  linear_operator(const array& a);  ///< [n, n]
  template <class F>
  requires(std::is_invocable_r_v<array, const F&, const array&> &&
           !std::same_as<F, linear_operator>) linear_operator(F product)
      : product_(std::move(product)) {}

  /// Throws shape_error if the product has another shape than x, value_error for an empty function.
  array operator()(const array& x) const;
  /// For a matrix: zeros [n] of its dtype and device; otherwise invalid.
  const array& like() const { return like_; }

 private:
  std::function<array(const array&)> product_;
  array like_;
};

/// Progress of a solver; `x` of the eigensolver is invalid.
struct solver_progress {
  std::int64_t iteration;
  double residual;  ///< norm of b - a x, or the largest error bound of a wanted eigenvalue
  array x;
};

struct solver_options {
  double rtol = 1e-5;  ///< solved if the residual is at most max(rtol |b|, atol)
  double atol = 0;
  std::optional<std::int64_t> iterations{};                ///< maximum; default: 10 n
  std::optional<array> start{};                            ///< default: zeros
  std::optional<linear_operator> preconditioner{};         ///< approximates the inverse of a
  std::function<bool(const solver_progress&)> callback{};  ///< after each iteration; false: stop
  std::int64_t restart = 20;                               ///< gmres: number of vectors kept
};

struct solver_result {
  array x;
  bool converged = false;
  std::int64_t iterations = 0;
  double residual = 0;  ///< norm of b - a x, as updated by the solver
};

/// a x = b for Hermitian positive definite a, by conjugate gradients (M. R. Hestenes, E. Stiefel,
/// 1952); the preconditioner must be Hermitian positive definite too.
TUTTI_API solver_result cg(const linear_operator& a, const array& b,
                           const solver_options& options = {});
/// For any a, by stabilised bi-conjugate gradients (H. A. van der Vorst, 1992). Two products per
/// iteration. Ends without convergence if it breaks down.
TUTTI_API solver_result bicgstab(const linear_operator& a, const array& b,
                                 const solver_options& options = {});
/// For any a, by the smallest residual over growing Krylov spaces (Y. Saad, M. H. Schultz, 1986),
/// restarted after `restart` iterations; preconditioned from the right.
TUTTI_API solver_result gmres(const linear_operator& a, const array& b,
                              const solver_options& options = {});

/// Solves with triangular a; the other triangle is not read: b [n] or [n, k]. On the host, row by
/// row, so it evaluates. Throws value_error with the row if a diagonal element is 0 or missing.
/// Differentiable with respect to a's values and b.
struct triangular_options {
  bool upper = false;
  bool unit_diagonal = false;  ///< the diagonal is taken as ones
};
TUTTI_API array triangular_solve(const matrix& a, const array& b,
                                 const triangular_options& options = {});

/// Preconditioners: the inverse of the diagonal, and incomplete LU factors with the pattern of a
/// (Y. Saad, "Iterative Methods for Sparse Linear Systems", 2003, 10.3), computed and applied on
/// the host. Throw value_error with a row without diagonal element, or with a pivot of 0.
TUTTI_API linear_operator jacobi(const matrix& a);
TUTTI_API linear_operator ilu0(const matrix& a);

enum class spectrum : std::uint8_t { largest_magnitude, largest, smallest };

struct eigsh_options {
  spectrum which = spectrum::largest_magnitude;
  std::optional<std::int64_t> vectors{};     ///< of the Krylov space; max(2 k + 1, 20) or n
  double tol = 0;                            ///< relative to the eigenvalue; 0: machine precision
  std::optional<std::int64_t> iterations{};  ///< maximum of restarts; default: 10 n
  std::optional<array> start{};              ///< [n]; default: random
  std::function<bool(const solver_progress&)> callback{};  ///< after each restart; false: stop
};
struct eigsh_result {
  array eigenvalues;   ///< [k] real, ascending
  array eigenvectors;  ///< [n, k], orthonormal columns
  bool converged = false;
  std::int64_t iterations = 0;  ///< restarts
};
/// k eigenvalues, 0 < k < n, of the Hermitian a with n rows, by the Lanczos method with thick
/// restarts (K. Wu, H. Simon, 2000) and full orthogonalisation. If a is a function, n and the dtype
/// are those of `start`, which must then be given.
TUTTI_API eigsh_result eigsh(const linear_operator& a, std::int64_t k,
                             const eigsh_options& options = {});

}  // namespace tutti::sparse
