// SPDX-License-Identifier: Apache-2.0
//
// GMRES: the vectors of a Krylov space stay on the device; the small least squares problem of their
// products is solved on the host by Givens rotations.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "base/named_errors.hpp"
#include "sparse/krylov.hpp"
#include "sparse/solvers.hpp"

namespace tutti::sparse {

using tutti::base::named;

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
