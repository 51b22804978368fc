// SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients, and stabilised bi-conjugate gradients: scalars of the recurrences stay on
// the device; one norm is read per iteration. GMRES: the vectors of a Krylov space stay on the
// device; the small least squares problem of their products is solved on the host by Givens
// rotations.
#include "sparse/solvers.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/pattern.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

array zeros_of(std::int64_t n, const array& like) {
  return op::zeros_on({n}, like.dtype(), op::device_of(like));
}

std::int64_t square_extent(const tutti::shape& extents) {
  if (extents.rank() != 2 || extents[0] != extents[1])
    base::fail<shape_error>("linear_operator: {} is no square matrix", extents);
  return extents[0];
}

matrix without_history(const matrix& a) {
  return checked(a, "linear_operator").with_values(stop_gradient(a.values()));
}

}  // namespace

linear_operator::linear_operator(const matrix& a)
    : product_([a = without_history(a)](const array& x) { return matmul(a, x); }),
      like_(zeros_of(square_extent(checked(a, "linear_operator").shape()), a.values())) {}

linear_operator::linear_operator(const array& a) {
  const std::int64_t n = square_extent(op::extents_of(a, "linear_operator"));
  product_ = [a = stop_gradient(a)](const array& x) { return tutti::matmul(a, x); };
  like_ = op::zeros_on({n}, op::floating_type_of(a, "linear_operator"), op::device_of(a));
}

array linear_operator::operator()(const array& x) const {
  if (!product_) throw value_error("linear_operator: an empty function");
  const array y = product_(x);
  if (op::extents_of(y, "linear_operator") != x.shape())
    base::fail<shape_error>("linear_operator: a product of shape {} with a vector {}", y.shape(),
                            x.shape());
  return op::cast(y, x.dtype(), "linear_operator");
}

array conjugate_dot(const array& a, const array& b) {
  return tutti::sum((is_complex(a.dtype()) ? conj(a) : a) * b);
}

array length_of(const array& a) {
  return sqrt(tutti::sum(is_complex(a.dtype()) ? square(real(a)) + square(imag(a)) : square(a)));
}

array as_vector(const array& given, const char* what, const char* op) {
  const dtype type = op::floating_type_of(given, op);
  if (type == dtype::f16 || type == dtype::bf16)
    base::fail<dtype_error>("{}: {} is not supported; convert to f32", op, type);
  if (given.ndim() != 1)
    base::fail<shape_error>("{}: {} of shape {}, must be 1-d", op, what, given.shape());
  return stop_gradient(op::cast(given, type, op));
}

iteration::iteration(const linear_operator& a, const array& b, const solver_options& options,
                     const char* op)
    : a_(a), options_(options), b_(as_vector(b, "b", op)) {
  if (!(options.rtol >= 0) || !(options.atol >= 0))
    base::fail<value_error>("{}: tolerances {} and {}", op, options.rtol, options.atol);
  if (options.restart < 1) base::fail<value_error>("{}: restart {}", op, options.restart);
  const std::int64_t n = b_.size();
  if (a.like().valid()) {
    if (a.like().size() != n)
      base::fail<shape_error>("{}: a matrix of {} rows and b of shape {}", op, a.like().size(),
                              b_.shape());
    b_ = op::cast(b_, common_dtype(b_, a.like(), op), op);
  }
  limit_ = options.iterations.value_or(n < std::int64_t{1} << 59 ? 10 * n : n);
  if (limit_ < 0) base::fail<value_error>("{}: {} iterations", op, limit_);
  result_.x = zeros_of(n, b_);
  residual_ = b_;
  if (options.start) {
    const array start = as_vector(*options.start, "start", op);
    if (start.size() != n)
      base::fail<shape_error>("{}: start of shape {} and b of shape {}", op, start.shape(),
                              b_.shape());
    result_.x = op::cast(start, b_.dtype(), op);
    residual_ = b_ - a_(result_.x);
  }
  const array of_b = length_of(b_), of_residual = length_of(residual_);
  eval({of_b, of_residual});
  target_ = std::max(options.rtol * of_b.item(), options.atol);
  result_.residual = of_residual.item();
  result_.converged = result_.residual <= target_;
  is_done_ = result_.converged || limit_ == 0 || !std::isfinite(result_.residual);
}

void iteration::count(double length, const std::function<array()>& x) {
  if (!std::isfinite(length)) {  // breakdown: the previous state is the best
    is_done_ = true;
    return;
  }
  result_.residual = length;
  ++result_.iterations;
  result_.converged = length <= target_;
  is_done_ = result_.converged || left() == 0;
  if (options_.callback && !options_.callback({result_.iterations, length, x()})) is_done_ = true;
}

void iteration::advance(const array& x, const array& residual, double length) {
  if (std::isfinite(length)) {
    result_.x = x;
    residual_ = residual;
  }
  count(length, [&] { return x; });
}

void iteration::replace(const array& x) {
  result_.x = x;
  residual_ = b_ - a_(x);
  eval({result_.x, residual_});
}

solver_result cg(const linear_operator& a, const array& b, const solver_options& options) {
  return named("cg", [&] {
    iteration at(a, b, options, "cg");
    array p, rho;
    while (!at.is_done()) {
      const array z = at.preconditioned(at.residual());
      const array next = conjugate_dot(at.residual(), z);
      p = p.valid() ? z + next / rho * p : z;
      rho = next;
      const array q = at.product(p), alpha = rho / conjugate_dot(p, q);
      const array x = at.x() + alpha * p, residual = at.residual() - alpha * q;
      const array length = length_of(residual);
      eval({x, residual, p, rho, length});
      at.advance(x, residual, length.item());
    }
    return at.result();
  });
}

solver_result bicgstab(const linear_operator& a, const array& b, const solver_options& options) {
  return named("bicgstab", [&] {
    iteration at(a, b, options, "bicgstab");
    const array shadow = at.residual();
    array p, v, rho, alpha, omega;
    while (!at.is_done()) {
      const array& r = at.residual();
      const array next = conjugate_dot(shadow, r);
      p = p.valid() ? r + next / rho * (alpha / omega) * (p - omega * v) : r;
      rho = next;
      const array direction = at.preconditioned(p);
      v = at.product(direction);
      alpha = rho / conjugate_dot(shadow, v);
      const array half = r - alpha * v, between = at.preconditioned(half);
      const array t = at.product(between), squares = conjugate_dot(t, t);
      // If the residual is 0 after the first half, the second one would be 0 / 0.
      omega = where(squares == 0, 0, conjugate_dot(t, half) / where(squares == 0, 1, squares));
      const array x = at.x() + alpha * direction + omega * between;
      const array residual = half - omega * t, length = length_of(residual);
      eval({x, residual, p, v, rho, alpha, omega, length});
      at.advance(x, residual, length.item());
    }
    return at.result();
  });
}

namespace {

using number = std::complex<double>;

// Columns of a Hessenberg matrix, made triangular as they come, with the right-hand side.
class least_squares {
 public:
  explicit least_squares(double length) : right_{number(length)} {}

  /// `column` has one element more than the number of columns including it. Returns the residual.
  double add(std::vector<number> column) {
    for (std::size_t i = 0; i < rotations_.size(); ++i) rotate(column, i, rotations_[i]);
    const std::size_t n = rotations_.size();
    const double length = std::hypot(std::abs(column[n]), std::abs(column[n + 1]));
    // A column of zeros does not reduce the residual.
    rotations_.push_back(length == 0 ? rotation{number(0), number(1)}
                                     : rotation{column[n] / length, column[n + 1] / length});
    right_.push_back(0);
    rotate(column, n, rotations_.back());
    rotate(right_, n, rotations_.back());
    columns_.push_back(std::move(column));
    return std::abs(right_[n + 1]);
  }

  std::vector<number> solution() const {
    const std::size_t n = columns_.size();
    std::vector<number> y(right_.begin(), right_.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) y[i] -= columns_[j][i] * y[j];
      // A column of zeros, of a singular matrix, is ignored.
      y[i] = columns_[i][i] == number(0) ? number(0) : y[i] / columns_[i][i];
    }
    return y;
  }

 private:
  struct rotation {
    number c, s;
  };
  static void rotate(std::vector<number>& v, std::size_t i, const rotation& r) {
    const number a = v[i], b = v[i + 1];
    v[i] = std::conj(r.c) * a + std::conj(r.s) * b;
    v[i + 1] = r.c * b - r.s * a;
  }

  std::vector<rotation> rotations_;
  std::vector<std::vector<number>> columns_;
  std::vector<number> right_;
};

// One space, from the residual on.
void run_cycle(iteration& at, std::int64_t restart) {
  const double length = length_of(at.residual()).item();
  if (!(length > 0) || !std::isfinite(length)) return at.stop();
  krylov_basis basis(at.residual() / length, restart);
  least_squares problem(length);
  const auto solution = [&] {
    return at.x() + at.preconditioned(basis.combined(problem.solution()));
  };
  const std::int64_t most = std::min(restart, at.left());
  for (std::int64_t j = 0; j < most && !at.is_done(); ++j) {
    const krylov_basis::step next = basis.expand(at.product(at.preconditioned(basis.last())));
    if (!std::isfinite(next.length)) {
      at.stop();
      break;
    }
    std::vector<number> column = next.products;
    column.emplace_back(next.is_exhausted ? 0 : next.length);
    at.count(problem.add(std::move(column)), solution);
    // Another cycle would find nothing new either.
    if (next.is_exhausted) at.stop();
  }
  at.replace(solution());
}

}  // namespace

solver_result gmres(const linear_operator& a, const array& b, const solver_options& options) {
  return named("gmres", [&] {
    iteration at(a, b, options, "gmres");
    const std::int64_t n = std::max<std::int64_t>(op::extents_of(b, "gmres").size(), 1);
    while (!at.is_done()) run_cycle(at, std::min(options.restart, n));
    return at.result();
  });
}

}  // namespace tutti::sparse
