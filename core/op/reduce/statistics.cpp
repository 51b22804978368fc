// SPDX-License-Identifier: Apache-2.0
//
// Deviations, norms, counts and weighted means, composed of reductions.
#include "tutti/statistics.hpp"

#include <cmath>

#include "base/named_errors.hpp"
#include "op/operands.hpp"

namespace tutti {

array op::binary_exponents(const array& amounts) {
  const array top = stop_gradient(amounts);
  const array usable = (top > 0) & isfinite(top);
  const double most = top.dtype() == dtype::f64 ? 1000 : 120;
  return clip(floor(log2(where(usable, top, 1))), -most, most);
}

using base::named;

namespace {

// f(a) where a > 0, and a itself where it is 0 or NaN, with a gradient of 0 there.
template <class F>
array root_of(const array& a, F&& f) {
  const array is_zero = a == 0;
  return where(is_zero, 0, f(where(is_zero, 1, a)));
}

array extreme_norm(const array& x, bool largest, const reduce_options& options) {
  if (x.size() == 0)
    base::fail<value_error>("norm: no elements to choose from in an array of shape {}", x.shape());
  return largest ? max(abs(x), options) : min(abs(x), options);
}

// A power of two near the element that dominates a p-norm, the largest or, for p below 0, the
// smallest; 1 if that is 0, infinite or NaN.
array scale_of(const array& x, double p, const reduce_options& options) {
  reduce_options keep = options;
  keep.keepdims = true;
  return exp2(op::binary_exponents(extreme_norm(x, p > 0, keep)));
}

// |y|^p; for p below 1, whose slope at 0 is infinite, with a gradient of 0 there.
array absolute_power(const array& y, double p) {
  if (p == 2) return square(y);
  if (p >= 1) return power(abs(y), p);
  const array is_zero = y == 0;
  return where(is_zero, p > 0 ? 0 : HUGE_VAL, power(abs(where(is_zero, 1, y)), p));
}

}  // namespace

array count_nonzero(const array& a, const reduce_options& options) {
  return named("count_nonzero",
               [&] { return sum(op::cast(a, dtype::boolean, "count_nonzero"), options); });
}

array stddev(const array& a, const reduce_options& options, double correction) {
  return named("stddev", [&] {
    if (std::isnan(correction)) throw value_error("stddev: the correction is NaN");
    const dtype type = op::floating_type_of(a, "stddev");
    const array x = op::cast(a, graph::compute_dtype(type), "stddev");
    const auto root = [](const array& v) { return sqrt(v); };
    return op::cast(root_of(var(x, options, correction), root), type, "stddev");
  });
}

array norm(const array& a, double p, const reduce_options& options) {
  return named("norm", [&] {
    if (std::isnan(p)) throw value_error("norm: p is NaN");
    const dtype given = op::floating_type_of(a, "norm");
    const dtype type = real_dtype(given);
    array x = op::cast(a, graph::compute_dtype(given), "norm");
    if (is_complex(given)) x = abs(x);
    array out;
    if (std::isinf(p)) {
      out = extreme_norm(x, p > 0, options);
    } else if (p == 0) {
      out = sum(op::cast(x != 0, x.dtype(), "norm"), options);
    } else if (p == 1) {
      out = sum(abs(x), options);
    } else if (x.size() == 0) {
      out = sum(x, options) + (p < 0 ? HUGE_VAL : 0);
    } else {
      const array scale = scale_of(x, p, options);
      const array y = x / scale;
      const auto root = [&](const array& v) { return p == 2 ? sqrt(v) : power(v, 1 / p); };
      const array total = root_of(sum(absolute_power(y, p), options), root);
      out = total * reshape(scale, total.shape());
    }
    return op::cast(out, type, "norm");
  });
}

array average(const array& a, const array& weights, const reduce_options& options) {
  return named("average", [&] {
    const dtype type = op::promote_operands({a, weights}, op::row_kind::FLOATING, "average").type;
    const dtype compute = graph::compute_dtype(type);
    const shape extents = a.shape();
    const bool along_one = options.axes && options.axes->size() == 1 && weights.ndim() == 1;
    const int axis =
        along_one ? normalize_axis(options.axes->front(), extents.rank(), "average") : 0;
    if (weights.shape() != extents && !(along_one && weights.dim(0) == extents[axis]))
      base::fail<shape_error>(
          "average: weights of shape {} fit neither the array {} nor one axis of it",
          weights.shape(), extents);
    array w = op::cast(weights, compute, "average");
    if (w.shape() != extents) {
      shape lying = extents;
      for (int i = 0; i < lying.rank(); ++i)
        if (i != axis) lying[i] = 1;
      w = reshape(w, lying);
    }
    const array x = op::cast(a, compute, "average");
    return op::cast(sum(x * w, options) / sum(w, options), type, "average");
  });
}

}  // namespace tutti
