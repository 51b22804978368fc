// SPDX-License-Identifier: Apache-2.0
//
// The lasso: products of features on the device, coordinate descent on the host.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

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
    throw value_error(fmt::format("lasso: alpha = {}, {} iterations, a tolerance of {}",
                                  options.alpha, options.iterations, options.tolerance));
}

lasso& lasso::fit(const array& given, const array& targets) {
  constexpr const char* op = "lasso::fit";
  named(op, [&] {
    array x = as_finite_samples(given, op), y = stop_gradient(as_targets(targets, x, op));
    if (y.ndim() != 1)
      throw shape_error(fmt::format("{}: targets {} must be [rows]", op, y.shape().str()));
    require_finite(y, "targets", op);
    const bool centred = options_.fit_intercept;
    const array x_mean = centred ? tutti::mean(x, 0) : zeros({x.dim(1)}, x.dtype(), x.device());
    const array y_mean = centred ? tutti::mean(y) : zeros({}, x.dtype(), x.device());
    if (centred) {
      x = x - x_mean;
      y = y - y_mean;
    }
    const products_of_features products = products_of(x, y, op);
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
    intercept_ = y_mean - sum(coefficients_ * x_mean);
    iterations_ = made;
    gap_ = gap;
  });
  return *this;
}

}  // namespace tutti::ml
