// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of cumulative operations: scans in the opposite direction.

#include "autograd/gradients.hpp"
#include "op/along.hpp"

namespace tutti::autograd {
namespace {

// A scan over values of the node's shape, in its direction or in the opposite one.
class direction {
 public:
  explicit direction(const tutti_scan_params& p) : p_(p) {}
  array forward(const array& x, tutti_scan kind) const { return run(x, kind, p_.reverse != 0); }
  array backward(const array& x, tutti_scan kind) const { return run(x, kind, p_.reverse == 0); }
  array inclusive(const array& x, tutti_scan kind) const {
    return op::scan3(contiguous(x), kind, false, p_.reverse != 0, x.dtype(), "gradient");
  }

 private:
  array run(const array& x, tutti_scan kind, bool reverse) const {
    return op::scan3(contiguous(x), kind, p_.exclusive != 0, reverse, x.dtype(), "gradient");
  }
  const tutti_scan_params p_;
};

// d/dx_j of the products that contain x_j: by division if x_j is not 0. The first `order` zeros of
// a row are treated separately; products with more zeros have no derivative of that order.
array of_products(const direction& along, const array& x, const array& y, const array& g,
                  int order) {
  const array is_zero = x == 0;
  const array zeros = along.inclusive(op::cast(is_zero, dtype::i32, "gradient"), TUTTI_SCAN_SUM);
  array found = where(is_zero, 0, along.backward(g * y, TUTTI_SCAN_SUM) / where(is_zero, 1, x));
  for (int nth = 1; nth <= order; ++nth) {
    const array here = logical_and(is_zero, zeros == nth);
    const array others = along.forward(where(here, 1, x), TUTTI_SCAN_PROD);
    found = where(here, along.backward(g * others, TUTTI_SCAN_SUM), found);
  }
  return found;
}

// Each cotangent belongs to the element that was the extremum so far, the latest of equal ones.
array of_extrema(const tutti_scan_params& p, const array& x, const array& g) {
  const direction along(p);
  const std::int64_t length = x.dim(1);
  const array best = along.inclusive(x, static_cast<tutti_scan>(p.scan));
  const array step = expand_dims(graph::iota({length}, x.node()->device), 1);
  const array order = p.reverse != 0 ? length - 1 - step : step;
  const array reached = where(x == best, order, std::int64_t{-1});
  const array latest = along.forward(reached, TUTTI_SCAN_MAX);
  const array found = maximum(latest, 0);
  const array index = p.reverse != 0 ? length - 1 - found : found;
  return op::scatter_along(where(latest >= 0, g, 0), index, 1, length);
}

// exp(x_j) * sum of g_k exp(-y_k), for both signs of g separately and in logarithms, so that no
// power overflows. For higher derivatives it is linear also in elements g = 0, which contribute
// nothing.
array of_logsumexp(const direction& along, const array& x, const array& y, const array& g,
                   int order) {
  const double none = -HUGE_VAL;
  const auto part = [&](const array& weight) {
    const array some = weight > 0;
    const array logarithm = where(some, log(where(some, weight, 1)) - y, none);
    return exp(along.backward(logarithm, TUTTI_SCAN_LOGSUMEXP) + x);
  };
  const array found = part(g) - part(-g);
  if (order == 1) return found;
  const array is_zero = g == 0;
  return found + (part(where(is_zero, g + 1, 0)) - part(astype(is_zero, g.dtype())));
}

}  // namespace

std::vector<array> scan_cotangents(const array& y, const array& g, int order) {
  const graph::node& n = *y.node();
  const array x(n.inputs[0]);
  const auto p = n.operation().get<tutti_scan_params>();
  const direction along(p);
  switch (p.scan) {
    case TUTTI_SCAN_SUM:
      return {astype(along.backward(g, TUTTI_SCAN_SUM), x.dtype())};
    case TUTTI_SCAN_PROD:
      return {astype(of_products(along, astype(x, y.dtype()), y, g, order), x.dtype())};
    case TUTTI_SCAN_LOGSUMEXP:
      return {of_logsumexp(along, x, y, g, order)};
    default:
      return {of_extrema(p, x, g)};
  }
}

}  // namespace tutti::autograd
