// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS with a bisecting line search.
#include "ml/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <utility>

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

// Minus the gradient times the approximate inverse of the second derivatives.
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

constexpr double decrease = 1e-4, curvature_share = 0.9;
constexpr int trials = 40;

// Whether `next` lies far enough down along a direction of that slope.
bool descends(const point& from, const point& next, double step, double slope, double next_slope,
              double noise) {
  if (next.value <= from.value + decrease * step * slope) return true;
  return next.value <= from.value + noise * std::abs(from.value) &&
         next_slope <= (2 * decrease - 1) * slope;
}

// The next point along `direction`; false where there is none.
bool search_line(const smooth_function& f, const point& from, const number_list& direction,
                 double first_step, double noise, point& next) {
  const double slope = product(from.gradient, direction);
  if (!(slope < 0)) return false;
  double low = 0, high = std::numeric_limits<double>::infinity(), step = first_step;
  for (int trial = 0; trial < trials; ++trial) {
    next.place = moved(from.place, step, direction);
    next.value = f(next.place, next.gradient);
    const double next_slope = product(next.gradient, direction);
    if (!std::isfinite(next.value) || !descends(from, next, step, slope, next_slope, noise))
      high = step;
    else if (next_slope < curvature_share * slope)
      low = step;
    else
      return true;
    step = std::isfinite(high) ? (low + high) / 2 : 2 * low;
  }
  return false;
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
      // What was remembered may be noise: once more along the gradient.
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
