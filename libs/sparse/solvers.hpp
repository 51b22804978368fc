// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the iterative solvers: checks, residuals, and stopping criteria.
#pragma once

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

}  // namespace tutti::sparse
