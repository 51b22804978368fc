// SPDX-License-Identifier: Apache-2.0
#include "nn/line_search.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::nn::detail {

namespace {

constexpr double sufficient_decrease = 1e-4;
constexpr double curvature = 0.9;

/// The minimum of the cubic through both points and slopes, kept a tenth away from the ends.
double between(const line_point& a, const line_point& b) {
  const double low = std::min(a.length, b.length), high = std::max(a.length, b.length);
  const double width = high - low;
  double at = low + width / 2;
  if (std::isfinite(a.loss) && std::isfinite(b.loss) && std::isfinite(b.slope)) {
    const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length);
    const double root = d1 * d1 - a.slope * b.slope;
    if (root >= 0) {
      const double d2 = std::copysign(std::sqrt(root), b.length - a.length);
      const double cubic =
          b.length - (b.length - a.length) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
      if (std::isfinite(cubic)) at = cubic;
    }
  }
  return std::clamp(at, low + 0.1 * width, high - 0.1 * width);
}

class search {
 public:
  search(const std::function<line_point(double)>& evaluate, const line_point& start, int most,
         double noise)
      : evaluate_(evaluate),
        start_(start),
        best_(start),
        left_(most),
        noise_(noise * std::abs(start.loss)) {}

  line_point from(double first) {
    line_point previous = start_;
    double length = first;
    while (left_ > 0) {
      const line_point here = at(length);
      if (is_too_long(here, previous)) return zoom(previous, here);
      if (is_flat(here)) return here;
      if (here.slope >= 0) return zoom(here, previous);
      previous = here;
      length *= 2;
    }
    return best_;
  }

 private:
  line_point at(double length) {
    --left_;
    const line_point p = evaluate_(length);
    if (std::isfinite(p.loss) && p.loss < best_.loss) best_ = p;
    return p;
  }
  bool is_too_long(const line_point& p, const line_point& low) const {
    return !std::isfinite(p.slope) ||
           is_above(p, start_, -sufficient_decrease * p.length * start_.slope) ||
           (low.length > 0 && is_above(p, low, 0));
  }
  /// Whether p is not lower than q by `fall`. If the difference of their losses is noise,
  /// whether p is steep and uphill from q.
  bool is_above(const line_point& p, const line_point& q, double fall) const {
    if (std::abs(p.loss - q.loss) < noise_)
      return !is_flat(p) && p.slope * (p.length - q.length) > 0;
    return fall > 0 ? !(p.loss <= q.loss - fall) : !(p.loss < q.loss);
  }
  bool is_flat(const line_point& p) const { return std::abs(p.slope) <= -curvature * start_.slope; }
  /// `low` satisfies the first condition and is the better end.
  line_point zoom(line_point low, line_point high) {
    while (left_ > 0 && low.length != high.length) {
      const line_point p = at(between(low, high));
      if (is_too_long(p, start_) || is_above(p, low, 0)) {
        high = p;
        continue;
      }
      if (is_flat(p)) return p;
      if (p.slope * (high.length - low.length) >= 0) high = low;
      low = p;
    }
    return best_;
  }

  const std::function<line_point(double)>& evaluate_;
  const line_point start_;
  line_point best_;
  int left_;
  const double noise_;
};

}  // namespace

line_point strong_wolfe(const std::function<line_point(double length)>& evaluate,
                        const line_point& start, double first, int most, double noise) {
  return search(evaluate, start, most, noise).from(first);
}

}  // namespace tutti::nn::detail
