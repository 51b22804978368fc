// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS over all parameters as one vector.

#include <cmath>
#include <limits>
#include <map>

#include "base/fail.hpp"
#include "nn/line_search.hpp"
#include "nn/optimizer_state.hpp"
#include "tutti/contractions.hpp"
#include "tutti/nn/optimizers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using detail::line_point;
using detail::require_option;

namespace {

void check_options(const lbfgs_options& o) {
  require_option(std::isfinite(o.learning_rate) && o.learning_rate > 0, "lbfgs", "learning_rate",
                 o.learning_rate);
  require_option(o.history >= 1, "lbfgs", "history", o.history);
  require_option(o.iterations >= 1, "lbfgs", "iterations", o.iterations);
  require_option(o.evaluations >= 1, "lbfgs", "evaluations", o.evaluations);
  require_option(detail::is_rate(o.tolerance_gradient), "lbfgs", "tolerance_gradient",
                 o.tolerance_gradient);
  require_option(detail::is_rate(o.tolerance_change), "lbfgs", "tolerance_change",
                 o.tolerance_change);
}

array flattened(const std::vector<array>& arrays) {
  std::vector<array> rows;
  for (const array& a : arrays) rows.push_back(a.flatten());
  return concatenate(rows);
}

std::vector<array> unflattened(const array& flat, const std::vector<array>& like) {
  std::vector<array> out;
  std::int64_t begin = 0;
  for (const array& a : like) {
    out.push_back(flat(slice{begin, begin + a.size()}).reshape(a.shape()));
    begin += a.size();
  }
  return out;
}

double dot(const array& a, const array& b) { return sum(a * b).item(); }
double largest(const array& a) { return a.size() == 0 ? 0 : max(abs(a)).item(); }

struct flat_point {
  array parameters, gradient;
  double loss = 0;
};

/// The loss as a function of one vector; counts its evaluations.
class flat_loss {
 public:
  flat_loss(const function& loss, const std::vector<array>& like)
      : step_(value_and_grad(loss)), like_(like) {}
  flat_point operator()(const array& flat) {
    ++count_;
    const auto [value, gradients] = step_(unflattened(flat, like_));
    array gradient = flattened(gradients).astype(flat.dtype());
    eval(gradient, value);
    return {flat, gradient, value.item()};
  }
  int count() const { return count_; }

 private:
  std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)> step_;
  const std::vector<array>& like_;
  int count_ = 0;
};

/// The negative product of the estimated inverse Hessian and the gradient (two-loop recursion).
array direction_of(const array& gradient, const std::vector<array>& changes,
                   const std::vector<array>& slopes) {
  array q = gradient;
  std::vector<array> alphas(changes.size());
  std::vector<array> rho;
  for (std::size_t i = 0; i < changes.size(); ++i)
    rho.push_back(reciprocal(sum(changes[i] * slopes[i])));
  for (std::size_t i = changes.size(); i-- > 0;) {
    alphas[i] = rho[i] * sum(changes[i] * q);
    q = q - alphas[i] * slopes[i];
  }
  if (!changes.empty()) q = q * (sum(changes.back() * slopes.back()) / sum(square(slopes.back())));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const array beta = rho[i] * sum(slopes[i] * q);
    q = q + (alphas[i] - beta) * changes[i];
  }
  return -q;
}

void check_parameters_of(const std::vector<array>& parameters) {
  if (parameters.empty()) throw value_error("lbfgs: no parameters");
  for (const array& p : parameters) {
    detail::require_floating("lbfgs", "parameters", p.dtype());
    if (p.dtype() != parameters[0].dtype())
      base::fail<dtype_error>("lbfgs: parameters are {} and {}", parameters[0].dtype(), p.dtype());
  }
}

}  // namespace

lbfgs::lbfgs(const lbfgs_options& given)
    : options(given), loss_(std::numeric_limits<double>::quiet_NaN()) {
  check_options(options);
}

std::vector<array> lbfgs::step(const function& loss, const std::vector<array>& parameters) {
  check_options(options);
  check_parameters_of(parameters);
  const array first = flattened(detail::all_widened(parameters));
  if (!changes_.empty() && changes_[0].shape() != first.shape())
    base::fail<shape_error>("lbfgs: parameters of {} elements, but state of {}", first.size(),
                            changes_[0].size());
  flat_loss evaluate(loss, parameters);
  const dtype type = parameters[0].dtype();
  // The loss receives halves; changes are accumulated in f32.
  const auto point_at = [&](const array& flat) {
    flat_point p = evaluate(detail::narrowed(flat, type));
    return flat_point{flat, detail::widened(p.gradient), p.loss};
  };
  flat_point here = point_at(first);
  if (!std::isfinite(here.loss))
    base::fail<value_error>("lbfgs: the loss is {} at the parameters", here.loss);

  for (int i = 0; i < options.iterations; ++i) {
    const double steepest = largest(here.gradient);
    if (!(steepest > options.tolerance_gradient)) break;
    array direction = direction_of(here.gradient, changes_, slopes_);
    direction.eval();
    double slope = dot(here.gradient, direction);
    if (!(slope < 0)) {  // the estimate is spoilt by rounding
      changes_.clear();
      slopes_.clear();
      direction = -here.gradient;
      slope = dot(here.gradient, direction);
    }
    // Without a curvature estimate, the direction has no natural length.
    const double scale = changes_.empty() ? std::min(1.0, 1 / sum(abs(here.gradient)).item()) : 1;
    std::map<double, flat_point> seen;
    const auto on_line = [&](double length) {
      const flat_point p = point_at(here.parameters + direction * length);
      seen[length] = p;
      return line_point{length, p.loss, dot(p.gradient, direction)};
    };
    const line_point found = detail::strong_wolfe(
        on_line, {0, here.loss, slope}, scale * options.learning_rate, options.evaluations);
    if (found.length == 0) break;
    const flat_point next = seen.at(found.length);
    const array change = next.parameters - here.parameters, bend = next.gradient - here.gradient;
    eval({next.parameters, change, bend});
    if (dot(change, bend) > 1e-10 * dot(bend, bend)) {
      if (changes_.size() == static_cast<std::size_t>(options.history)) {
        changes_.erase(changes_.begin());
        slopes_.erase(slopes_.begin());
      }
      changes_.push_back(change);
      slopes_.push_back(bend);
    }
    const double fallen = here.loss - next.loss;
    here = next;
    if (std::abs(fallen) <= options.tolerance_change || largest(change) <= options.tolerance_change)
      break;
  }
  loss_ = here.loss;
  evaluations_ = evaluate.count();
  std::vector<array> updated = unflattened(here.parameters, parameters);
  for (array& p : updated) p = detail::narrowed(p, type);
  return updated;
}

std::vector<array> lbfgs::state() const {
  std::vector<array> all = changes_;
  all.insert(all.end(), slopes_.begin(), slopes_.end());
  return all;
}

void lbfgs::load_state(std::span<const array> state) {
  constexpr const char* op = "lbfgs::load_state";
  detail::check_loaded(op, state);
  const std::size_t count = state.size() / 2;
  if (state.size() % 2 != 0 || count > static_cast<std::size_t>(options.history))
    base::fail<value_error>("{}: {} arrays for a history of {} pairs", op, state.size(),
                            options.history);
  for (const array& a : state)
    if (a.ndim() != 1 || a.shape() != state[0].shape())
      base::fail<shape_error>("{}: {} beside {}", op, a.shape(), state[0].shape());
  changes_.assign(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(count));
  slopes_.assign(state.begin() + static_cast<std::ptrdiff_t>(count), state.end());
}

}  // namespace tutti::nn
