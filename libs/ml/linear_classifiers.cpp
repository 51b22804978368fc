// SPDX-License-Identifier: Apache-2.0
//
// Linear classifiers: losses and their gradients on the device, with two products each; L-BFGS on
// host numbers.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "nn/line_search.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

namespace {

struct lbfgs_result {
  std::vector<double> place;
  int iterations;
  bool converged;
};

/// The value of a function at `place`; writes its derivatives to `gradient`.
using smooth_function =
    std::function<double(const std::vector<double>& place, std::vector<double>& gradient)>;

using number_list = std::vector<double>;

double product(const number_list& a, const number_list& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest(const number_list& a) {
  double out = 0;
  for (const double value : a) out = std::max(out, std::isnan(value) ? INFINITY : std::abs(value));
  return out;
}

number_list moved(const number_list& from, double step, const number_list& direction) {
  number_list out = from;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += step * direction[i];
  return out;
}

struct pair_of_differences {
  number_list place, gradient;
  double curvature;  // their product, positive
};

// The negative product of the estimated inverse Hessian and the gradient.
number_list descent(const number_list& gradient, const std::deque<pair_of_differences>& history) {
  number_list d = moved(number_list(gradient.size()), -1, gradient);
  std::vector<double> shares(history.size());
  for (std::size_t i = history.size(); i-- > 0;) {
    shares[i] = product(history[i].place, d) / history[i].curvature;
    d = moved(d, -shares[i], history[i].gradient);
  }
  if (!history.empty()) {
    const pair_of_differences& last = history.back();
    const double scale = last.curvature / product(last.gradient, last.gradient);
    for (double& value : d) value *= scale;
  }
  for (std::size_t i = 0; i < history.size(); ++i) {
    const double share = product(history[i].gradient, d) / history[i].curvature;
    d = moved(d, shares[i] - share, history[i].place);
  }
  return d;
}

struct point {
  number_list place, gradient;
  double value;
};

constexpr int trials = 40;
constexpr std::size_t most_stored_steps = 10;

// The next point along `direction`; false if there is none.
bool search_line(const smooth_function& f, const point& from, const number_list& direction,
                 double first_step, double noise, point& next) {
  const double slope = product(from.gradient, direction);
  if (!(slope < 0)) return false;
  double reached = 0;
  const auto at = [&](double step) -> nn::detail::line_point {
    next.place = moved(from.place, step, direction);
    next.value = f(next.place, next.gradient);
    reached = step;
    return {step, next.value, product(next.gradient, direction)};
  };
  const double found =
      nn::detail::strong_wolfe(at, {0, from.value, slope}, first_step, trials, noise).length;
  if (found == 0) return false;
  if (found != reached) at(found);
  return true;
}

/// L-BFGS from `start` (J. Nocedal, S. Wright, "Numerical Optimization", 2006, algorithm 7.5) with
/// the line search of nn. The optimiser of nn keeps its steps as arrays in the dtype of the
/// parameters, which would take a launch and a wait for each product and lose the last steps in
/// f32. Converged if no derivative is larger than `tolerance`; ends before that if no step is
/// found. Differences of values below their relative error `noise` are ignored.
lbfgs_result minimize(const smooth_function& f, std::vector<double> start, int iterations,
                      double tolerance, double noise) {
  point here{std::move(start), {}, 0}, next{{}, {}, 0};
  here.gradient.resize(here.place.size());
  next.gradient.resize(here.place.size());
  here.value = f(here.place, here.gradient);
  std::deque<pair_of_differences> history;
  int made = 0;
  bool converged = largest(here.gradient) <= tolerance;
  while (!converged && made < iterations) {
    const number_list direction = descent(here.gradient, history);
    const double first = history.empty() ? std::min(1.0, 1 / largest(here.gradient)) : 1;
    if (!search_line(f, here, direction, first, noise, next)) {
      // The history may be noise: retry along the gradient.
      if (history.empty()) break;
      history.clear();
      continue;
    }
    ++made;
    pair_of_differences step{moved(next.place, -1, here.place),
                             moved(next.gradient, -1, here.gradient), 0};
    step.curvature = product(step.place, step.gradient);
    if (step.curvature > 0) history.push_back(std::move(step));
    if (history.size() > most_stored_steps) history.pop_front();
    std::swap(here, next);
    converged = largest(here.gradient) <= tolerance;
  }
  return {std::move(here.place), made, converged};
}

// For scores [rows, functions]: the mean loss, and the derivatives of each row's loss.
struct losses_and_slopes {
  array loss, slopes;
};
using loss_of_scores = std::function<losses_and_slopes(const array& scores)>;

// The mean loss plus penalty |w|^2 / 2, for weights [functions, features] followed by intercepts.
class penalized_loss {
 public:
  penalized_loss(const array& x, std::int64_t functions, double penalty, bool with_intercept,
                 loss_of_scores loss)
      : x_(x),
        weights_{functions, x.dim(1)},
        penalty_(penalty),
        with_intercept_(with_intercept),
        loss_(std::move(loss)) {}

  std::size_t size() const { return weight_count() + function_count(); }

  double operator()(const std::vector<double>& place, std::vector<double>& gradient) const {
    const array w = weights(place), b = intercept(place);
    const losses_and_slopes at = loss_(matmul(x_, w.T()) + b);
    const array slopes = at.slopes / static_cast<double>(x_.dim(0));
    const array all =
        concatenate({reshape(at.loss, {1}), matmul(slopes.T(), x_).flatten(), sum(slopes, 0)});
    const std::vector<double> found = host_values(all);
    double squares = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const bool is_weight = i < weight_count();
      gradient[i] = is_weight || with_intercept_ ? found[i + 1] : 0;
      if (!is_weight) continue;
      gradient[i] += penalty_ * place[i];
      squares += place[i] * place[i];
    }
    return found[0] + penalty_ * squares / 2;
  }

  array weights(const std::vector<double>& place) const {
    return numbers_like(x_, std::span(place).first(weight_count()), weights_);
  }
  array intercept(const std::vector<double>& place) const {
    return numbers_like(x_, std::span(place).subspan(weight_count()), {weights_[0]});
  }

 private:
  std::size_t weight_count() const { return static_cast<std::size_t>(weights_.size()); }
  std::size_t function_count() const { return static_cast<std::size_t>(weights_[0]); }

  array x_;
  shape weights_;
  double penalty_;
  bool with_intercept_;
  loss_of_scores loss_;
};

// log(1 + exp(s)) - y s, with derivative sigmoid(s) - y; y is [rows, 1] of 0 and 1.
loss_of_scores binomial_loss(const array& y) {
  return [y](const array& scores) -> losses_and_slopes {
    const array none = zeros_like(scores);
    return {tutti::mean(logaddexp(none, scores) - y * scores), sigmoid(scores) - y};
  };
}

// members: [rows, classes] of 0 and 1.
loss_of_scores multinomial_loss(const array& members) {
  return [members](const array& scores) -> losses_and_slopes {
    const array logs = log_softmax(scores, 1);
    return {-tutti::mean(sum(members * logs, 1)), exp(logs) - members};
  };
}

// signs: [rows, functions] of -1 and 1.
loss_of_scores squared_hinge_loss(const array& signs) {
  return [signs](const array& scores) -> losses_and_slopes {
    const array missing = maximum(1 - signs * scores, 0);
    return {tutti::mean(sum(square(missing), 1)), -2 * signs * missing};
  };
}

void check_training(const char* op, double c, int iterations, double tolerance) {
  if (!(c > 0) || iterations < 1 || !(tolerance >= 0))
    base::fail<value_error>("{}: c = {}, {} iterations, a tolerance of {}", op, c, iterations,
                            tolerance);
}

struct training_set {
  array x;                // evaluated
  unique_result classes;  // of its labels
  array members;          // [rows, functions] of 0 and 1, evaluated
};

training_set training_set_of(const array& given, const array& y, const char* op) {
  const array x = as_finite_samples(given, op);
  training_set t{x, classes_of(y, x, op), {}};
  const std::int64_t classes = t.classes.values.size();
  t.members = classes == 2 ? expand_dims(t.classes.inverse, 1).astype(x.dtype())
                           : one_hot(t.classes.inverse, classes, x.dtype());
  t.members.eval();
  return t;
}

// Coefficients, intercept, iterations, whether they converged.
std::tuple<array, array, int, bool> train(const training_set& t, const loss_of_scores& loss,
                                          double c, bool with_intercept, int iterations,
                                          double tolerance) {
  const penalized_loss f(t.x, t.members.dim(1), 1 / (c * static_cast<double>(t.x.dim(0))),
                         with_intercept, loss);
  const double noise = 8 * finfo(t.x.dtype()).epsilon;
  const lbfgs_result found =
      minimize(f, std::vector<double>(f.size()), iterations, tolerance, noise);
  return {f.weights(found.place), f.intercept(found.place), found.iterations, found.converged};
}

}  // namespace

array linear_classifier::decision_function(const array& given) const {
  return named("decision_function", [&] {
    const array x = as_samples(given, coefficients_, "decision_function");
    const array scores = matmul(x, coefficients_.T()) + intercept_;
    return coefficients_.dim(0) == 1 ? reshape(scores, {x.dim(0)}) : scores;
  });
}

array linear_classifier::predict(const array& x) const {
  return named("predict", [&] {
    const array scores = decision_function(as_finite_samples(x, coefficients_, "predict"));
    if (scores.ndim() == 1) return where(scores > 0, classes_[1], classes_[0]);
    return take(classes_, argmax(scores, 1));
  });
}

double linear_classifier::score(const array& x, const array& y) const {
  return named("score", [&] { return accuracy_score(y, predict(x)).item(); });
}

io::named_arrays linear_classifier::parameters() const {
  require_fitted(coefficients_, "parameters");
  return {{"classes", classes_}, {"coefficients", coefficients_}, {"intercept", intercept_}};
}

void linear_classifier::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"classes", "coefficients", "intercept"},
                                "load_parameters");
  const array classes = reader.integers("classes", 1);
  const array coefficients = reader.floats("coefficients", 2);
  const array intercept = reader.floats("intercept", 1);
  if (classes.size() < 2) throw shape_error("load_parameters: fewer than 2 classes");
  const std::int64_t functions = classes.size() == 2 ? 1 : classes.size();
  reader.require_shape("coefficients", coefficients, {functions, -1});
  reader.require_shape("intercept", intercept, {functions});
  classes_ = classes;
  coefficients_ = coefficients;
  intercept_ = intercept;
}

logistic_regression::logistic_regression(const logistic_regression_options& options)
    : options_(options) {
  check_training("logistic_regression", options.c, options.iterations, options.tolerance);
}

logistic_regression& logistic_regression::fit(const array& x, const array& y) {
  named("logistic_regression::fit", [&] {
    const training_set t = training_set_of(x, y, "logistic_regression::fit");
    const bool is_binary = t.members.dim(1) == 1;
    std::tie(coefficients_, intercept_, iterations_, converged_) =
        train(t, is_binary ? binomial_loss(t.members) : multinomial_loss(t.members), options_.c,
              options_.fit_intercept, options_.iterations, options_.tolerance);
    classes_ = t.classes.values;
  });
  return *this;
}

array logistic_regression::predict_proba(const array& x) const {
  return named("predict_proba", [&] {
    const array scores = decision_function(x);
    if (scores.ndim() == 2) return softmax(scores, 1);
    return stack({sigmoid(-scores), sigmoid(scores)}, 1);
  });
}

linear_svc::linear_svc(const linear_svc_options& options) : options_(options) {
  check_training("linear_svc", options.c, options.iterations, options.tolerance);
}

linear_svc& linear_svc::fit(const array& x, const array& y) {
  named("linear_svc::fit", [&] {
    const training_set t = training_set_of(x, y, "linear_svc::fit");
    const array signs = 2 * t.members - 1;
    signs.eval();
    std::tie(coefficients_, intercept_, iterations_, converged_) =
        train(t, squared_hinge_loss(signs), options_.c, options_.fit_intercept, options_.iterations,
              options_.tolerance);
    classes_ = t.classes.values;
  });
  return *this;
}

}  // namespace tutti::ml
