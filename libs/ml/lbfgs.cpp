// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS on host numbers.
#include "ml/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>

#include "nn/line_search.hpp"

namespace tutti::ml {

namespace {

using number_list = std::vector<double>;

double product(const number_list& a, const number_list& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
  return out;
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

}  // namespace

lbfgs_result minimize(const smooth_function& f, std::vector<double> start,
                      const lbfgs_options& options) {
  point here{std::move(start), {}, 0}, next{{}, {}, 0};
  here.gradient.resize(here.place.size());
  next.gradient.resize(here.place.size());
  here.value = f(here.place, here.gradient);
  std::deque<pair_of_differences> history;
  int made = 0;
  bool converged = largest(here.gradient) <= options.tolerance;
  while (!converged && made < options.iterations) {
    const number_list direction = descent(here.gradient, history);
    const double first = history.empty() ? std::min(1.0, 1 / largest(here.gradient)) : 1;
    if (!search_line(f, here, direction, first, options.noise, next)) {
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
    if (history.size() > static_cast<std::size_t>(options.history)) history.pop_front();
    std::swap(here, next);
    converged = largest(here.gradient) <= options.tolerance;
  }
  return {std::move(here.place), here.value, made, converged};
}

}  // namespace tutti::ml
