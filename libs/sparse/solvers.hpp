// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the iterative solvers: checks, residuals, stopping criteria, and Krylov spaces.
#pragma once

#include <complex>
#include <vector>

#include "tutti/extension.hpp"
#include "tutti/sparse/solvers.hpp"

namespace tutti::sparse {

/// Sum of conj(a) b of vectors, 0-d; and the root of that of a with itself, real.
array conjugate_dot(const array& a, const array& b);
array length_of(const array& a);

/// A vector [n] in a dtype for solvers. Throws with `op`.
array as_vector(const array& given, const char* what, const char* op);

/// A system at its start, and its current solution.
class iteration {
 public:
  iteration(const linear_operator& a, const array& b, const solver_options& options,
            const char* op);

  array product(const array& x) const { return a_(x); }
  array preconditioned(const array& r) const {
    return options_.preconditioner ? (*options_.preconditioner)(r) : r;
  }
  const array& x() const { return result_.x; }
  const array& residual() const { return residual_; }
  bool is_done() const { return is_done_; }
  double target() const { return target_; }
  std::int64_t left() const { return limit_ - result_.iterations; }

  /// The result of an iteration; kept if the `length` of the residual, evaluated, is finite.
  void advance(const array& x, const array& residual, double length);
  /// The same for an iteration that computes x later; the callback gets the result of `x`.
  void count(double length, const std::function<array()>& x);
  /// Adopts this x, with its residual.
  void replace(const array& x);
  void stop() { is_done_ = true; }
  solver_result result() const { return result_; }

 private:
  linear_operator a_;
  solver_options options_;
  array b_, residual_;
  solver_result result_;
  double target_ = 0;
  std::int64_t limit_ = 0;
  bool is_done_ = false;
};

/// Orthonormal vectors of a Krylov space, as rows of one array on the device.
class krylov_basis {
 public:
  /// Space for `most` vectors plus one; `first` [n] has norm 1.
  krylov_basis(const array& first, std::int64_t most);

  struct step {
    std::vector<std::complex<double>> products;  // of each vector with w, conj(v) w
    double length;                               // norm of the rest of w
    bool is_exhausted;                           // the rest is nearly 0: the space is invariant
  };
  /// Makes w orthogonal to all vectors, twice, and appends the rest as the next one, unless
  /// exhausted.
  step expand(const array& w);
  /// Appends a vector from random numbers that is orthogonal to all others.
  void expand_randomly();
  /// The sum of the vectors times `factors`, for as many vectors as factors.
  array combined(const std::vector<std::complex<double>>& factors) const;
  /// Replaces the vectors before the last by `kept` sums of them, as from sums_of(); the last one
  /// follows them.
  void compress(const std::vector<std::complex<double>>& factors, std::int64_t kept);
  /// Sums of the first `count` vectors: columns of row-major `factors` [count, columns] give rows
  /// [columns, n].
  array sums_of(const std::vector<std::complex<double>>& factors, std::int64_t count,
                std::int64_t columns) const;

  array last() const;
  std::int64_t count() const { return count_; }

 private:
  array factors_of(const std::vector<std::complex<double>>& factors, const shape& extents) const;
  void append(const array& v);

  std::int64_t most_, count_ = 0;
  array all_;  // [most + 1, n]; zeros behind count
};

}  // namespace tutti::sparse
