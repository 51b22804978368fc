// SPDX-License-Identifier: Apache-2.0
//
// Least squares, with and without an L2 penalty.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
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

regression_problem problem_of(const array& given, const array& targets, bool centred,
                              const char* op) {
  const array x = as_samples(given, op), y = as_targets(targets, x, op);
  const array x_mean = centred ? tutti::mean(x, 0) : zeros({x.dim(1)}, x.dtype(), x.device());
  shape outputs = y.shape();
  outputs.erase(0);
  const array y_mean = centred ? tutti::mean(y, 0) : zeros(outputs, y.dtype(), x.device());
  return {centred ? x - x_mean : x, centred ? y - y_mean : y, x_mean, y_mean};
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
    require_fitted(coefficients_, "predict");
    const array x = as_samples(given, coefficients_.dim(-1), "predict");
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
    throw value_error(fmt::format("ridge: alpha = {} is out of range", options.alpha));
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

}  // namespace tutti::ml
