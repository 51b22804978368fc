// SPDX-License-Identifier: Apache-2.0
//
// Least squares, with and without an L2 penalty. The lasso: products of features on the device,
// coordinate descent on the host.

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/linalg.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

namespace {

// Samples and targets minus their means, or unchanged without an intercept.
struct regression_problem {
  array x, y, x_mean, y_mean;
};

regression_problem problem_of(const array& x, const array& y, bool centred) {
  const array x_mean = centred ? tutti::mean(x, 0) : zeros({x.dim(1)}, x.dtype(), x.device());
  shape outputs = y.shape();
  outputs.erase(0);
  const array y_mean = centred ? tutti::mean(y, 0) : zeros(outputs, y.dtype(), x.device());
  return {centred ? x - x_mean : x, centred ? y - y_mean : y, x_mean, y_mean};
}

regression_problem problem_of(const array& given, const array& targets, bool centred,
                              const char* op) {
  const array x = as_samples(given, op);
  return problem_of(x, as_targets(targets, x, op), centred);
}

// A solution [features] or [features, targets].
struct regression_line {
  array coefficients, intercept;
};

regression_line line_of(const regression_problem& p, const array& solution) {
  const array coefficients = solution.T();
  return {coefficients, p.y_mean - matmul(coefficients, p.x_mean)};
}

}  // namespace

array linear_model::predict(const array& given) const {
  return named("predict", [&] {
    const array x = as_samples(given, coefficients_, "predict");
    return matmul(x, coefficients_.T()) + intercept_;
  });
}

double linear_model::score(const array& x, const array& y) const {
  return named("score", [&] { return r2_score(y, predict(x)).item(); });
}

io::named_arrays linear_model::parameters() const {
  require_fitted(coefficients_, "parameters");
  return {{"coefficients", coefficients_}, {"intercept", intercept_}};
}

void linear_model::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"coefficients", "intercept"}, "load_parameters");
  const array coefficients = reader.floats("coefficients", -1);
  const array intercept = reader.floats("intercept", -1);
  if (coefficients.ndim() < 1 || coefficients.ndim() > 2)
    reader.require_shape("coefficients", coefficients, {-1, -1});
  reader.require_shape("intercept", intercept,
                       coefficients.ndim() == 1 ? shape{} : shape{coefficients.dim(0)});
  coefficients_ = coefficients;
  intercept_ = intercept;
}

linear_regression& linear_regression::fit(const array& x, const array& y) {
  named("linear_regression::fit", [&] {
    const regression_problem p = problem_of(x, y, options_.fit_intercept, "linear_regression::fit");
    const regression_line line = line_of(p, linalg::lstsq(p.x, p.y).solution);
    coefficients_ = line.coefficients;
    intercept_ = line.intercept;
  });
  return *this;
}

ridge::ridge(const ridge_options& options) : options_(options) {
  if (!(options.alpha >= 0) || !std::isfinite(options.alpha))
    base::fail<value_error>("ridge: alpha = {} is out of range", options.alpha);
}

namespace {

array diagonal_of(double value, std::int64_t n, const array& like) {
  return eye(n, like.dtype(), like.device()) * value;
}

array penalized(const regression_problem& p, double alpha) {
  const double root = std::sqrt(alpha);
  const std::int64_t rows = p.x.dim(0), features = p.x.dim(1);
  if (features <= rows) {
    const linalg::qr_result f = linalg::qr(concatenate({p.x, diagonal_of(root, features, p.x)}));
    const array projected = matmul(f.q({{0, rows}}).T(), p.y);
    return linalg::triangular_solve(f.r, projected, {.upper = true});
  }
  // The products of rows instead of features give a smaller factor.
  const array turned = p.x.T();
  const array r = linalg::qr(concatenate({turned, diagonal_of(root, rows, p.x)})).r;
  const array half =
      linalg::triangular_solve(r, p.y, {.upper = true, .transpose = linalg::transposition::plain});
  return matmul(turned, linalg::triangular_solve(r, half, {.upper = true}));
}

}  // namespace

ridge& ridge::fit(const array& x, const array& y) {
  named("ridge::fit", [&] {
    const regression_problem p = problem_of(x, y, options_.fit_intercept, "ridge::fit");
    const array solution =
        options_.alpha == 0 ? linalg::lstsq(p.x, p.y).solution : penalized(p, options_.alpha);
    const regression_line line = line_of(p, solution);
    coefficients_ = line.coefficients;
    intercept_ = line.intercept;
  });
  return *this;
}

namespace {

// All divided by the number of rows.
struct products_of_features {
  std::vector<double> gram;   // [features, features]
  std::vector<double> cross;  // of features and targets
  double squares = 0;         // of targets
  std::size_t features = 0;
};

class coordinate_descent {
 public:
  coordinate_descent(const products_of_features& products, double alpha)
      : p_(products), alpha_(alpha), weights_(p_.features), reached_(p_.features) {}

  /// One sweep; returns the largest change of a weight.
  double sweep() {
    double most = 0;
    for (std::size_t j = 0; j < p_.features; ++j) {
      const double* row = &p_.gram[j * p_.features];
      if (!(row[j] > 0)) continue;  // a constant feature
      const double pull = p_.cross[j] - reached_[j] + row[j] * weights_[j];
      const double kept = std::max(std::abs(pull) - alpha_, 0.0);
      const double change = std::copysign(kept, pull) / row[j] - weights_[j];
      if (change == 0) continue;
      weights_[j] += change;
      for (std::size_t i = 0; i < p_.features; ++i) reached_[i] += change * row[i];
      most = std::max(most, std::abs(change));
    }
    return most;
  }

  /// The duality gap between the current point and the dual point given by the residual.
  double gap() const {
    double fitted = 0, cross = 0, sum_of_weights = 0, slope = 0;
    for (std::size_t j = 0; j < p_.features; ++j) {
      fitted += weights_[j] * reached_[j];
      cross += weights_[j] * p_.cross[j];
      sum_of_weights += std::abs(weights_[j]);
      slope = std::max(slope, std::abs(p_.cross[j] - reached_[j]));
    }
    const double residual = std::max(p_.squares - 2 * cross + fitted, 0.0);
    const double scale = slope > alpha_ ? alpha_ / slope : 1;
    return residual * (1 + scale * scale) / 2 + alpha_ * sum_of_weights -
           scale * (p_.squares - cross);
  }

  const std::vector<double>& weights() const { return weights_; }

 private:
  const products_of_features& p_;
  double alpha_;
  std::vector<double> weights_, reached_;  // reached_: gram times weights
};

products_of_features products_of(const array& x, const array& y, const char* op) {
  const std::int64_t features = x.dim(1);
  const auto wide = static_cast<std::uint64_t>(features);
  tutti::detail::require_host_memory(op, wide, 2 * wide * sizeof(double));
  const double rows = static_cast<double>(x.dim(0));
  const array gram = matmul(x.T(), x) / rows, cross = matmul(x.T(), y) / rows;
  const array squares = tutti::mean(square(y));
  eval({gram, cross, squares});
  return {host_values(gram), host_values(cross), squares.item(),
          static_cast<std::size_t>(features)};
}

}  // namespace

lasso::lasso(const lasso_options& options) : options_(options) {
  if (!(options.alpha >= 0) || !std::isfinite(options.alpha) || options.iterations < 1 ||
      !(options.tolerance >= 0))
    base::fail<value_error>("lasso: alpha = {}, {} iterations, a tolerance of {}", options.alpha,
                            options.iterations, options.tolerance);
}

lasso& lasso::fit(const array& given, const array& targets) {
  constexpr const char* op = "lasso::fit";
  named(op, [&] {
    const array x = as_finite_samples(given, op), y = stop_gradient(as_targets(targets, x, op));
    if (y.ndim() != 1) base::fail<shape_error>("{}: targets {} must be [rows]", op, y.shape());
    require_finite(y, "targets", op);
    const regression_problem p = problem_of(x, y, options_.fit_intercept);
    const products_of_features products = products_of(p.x, p.y, op);
    coordinate_descent descent(products, options_.alpha);
    int made = 0;
    double gap = descent.gap();
    while (made < options_.iterations && gap > options_.tolerance * products.squares) {
      ++made;
      const double change = descent.sweep();
      gap = descent.gap();
      if (change == 0) break;
    }
    coefficients_ = numbers_like(x, descent.weights(), {x.dim(1)});
    intercept_ = p.y_mean - sum(coefficients_ * p.x_mean);
    iterations_ = made;
    gap_ = gap;
  });
  return *this;
}

}  // namespace tutti::ml
