// SPDX-License-Identifier: Apache-2.0
//
// Covariances, distances between rows.

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/analysis.hpp"
#include "tutti/extension.hpp"
#include "tutti/linalg.hpp"
#include "tutti/movement.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

using base::named;

namespace {

// Variables [..., variables, observations], in the dtype of the computation.
array covariances(const array& x, double correction) {
  const array centered = x - mean(x, {-1, keep_dims::yes});
  const double divisor = std::max(static_cast<double>(x.dim(-1)) - correction, 0.0);
  return matmul(centered, matrix_transpose(conj(centered))) / divisor;
}

array as_variables(const array& m, dtype type, const char* op) {
  const array x = op::cast(m, graph::compute_dtype(type), op);
  if (x.ndim() == 0) base::fail<shape_error>("{}: a number has no observations", op);
  return x.ndim() == 1 ? expand_dims(x, 0) : x;
}

// A square matrix, or the only element of one.
array of_variables(const array& c, const array& given, dtype type, const char* op) {
  return op::cast(given.ndim() == 1 ? reshape(c, {}) : c, type, op);
}

}  // namespace

array cov(const array& m, double correction) {
  return named("cov", [&] {
    if (std::isnan(correction)) throw value_error("cov: the correction is NaN");
    const dtype type = op::floating_type_of(m, "cov");
    return of_variables(covariances(as_variables(m, type, "cov"), correction), m, type, "cov");
  });
}

namespace {

// For each variable's observations, at least one: [..., variables, 1].
struct observed_range {
  array largest;  // in magnitude; for complex ones the larger part
  array is_constant;
};

observed_range range_of(const array& x) {
  if (is_complex(x.dtype())) {
    const observed_range a = range_of(real(x)), b = range_of(imag(x));
    return {maximum(a.largest, b.largest), a.is_constant & b.is_constant};
  }
  const array most = max(x, {-1, keep_dims::yes}), least = min(x, {-1, keep_dims::yes});
  return {maximum(abs(most), abs(least)), most == least};
}

}  // namespace

array corrcoef(const array& m) {
  return named("corrcoef", [&] {
    const dtype type = op::floating_type_of(m, "corrcoef");
    const array x = as_variables(m, type, "corrcoef");
    if (x.dim(-1) == 0) return of_variables(covariances(x, 0), m, type, "corrcoef");
    const observed_range r = range_of(stop_gradient(x));
    const array c = covariances(x / exp2(op::binary_exponents(r.largest)), 0);
    // The mean of equal observations may have a rounding error, and thus a deviation.
    const array root = sqrt(real(diagonal(c, 0, -2, -1)));
    const array deviation = where(reshape(r.is_constant, root.shape()), NAN, root);
    const array quotients = c / expand_dims(deviation, -1) / expand_dims(deviation, -2);
    const array clipped = is_complex(type)
                              ? complex(clip(real(quotients), -1, 1), clip(imag(quotients), -1, 1))
                              : clip(quotients, -1, 1);
    return of_variables(clipped, m, type, "corrcoef");
  });
}

namespace {

// max |x| along the last axis, which has elements and is kept. No gradient.
array largest_along_last(const array& x) {
  return max(abs(stop_gradient(x)), {-1, keep_dims::yes});
}

// The lines of x along its last axis, if it has elements, each divided by a power of two so that
// its largest element is near 1: squares do not all overflow or underflow.
array scaled_lines(const array& x) {
  if (x.dim(-1) == 0) return x;
  return x / exp2(op::binary_exponents(largest_along_last(x)));
}

array cosine_distances(const array& given_a, const array& given_b) {
  const array a = scaled_lines(given_a), b = scaled_lines(given_b);
  const reduce_options along(-1);
  const array sizes = expand_dims(norm(a, 2, along), -1) * expand_dims(norm(b, 2, along), -2);
  return 1 - matmul(a, matrix_transpose(b)) / sizes;
}

// Binary exponents [..., M, 1, N] by which the differences of rows are scaled: they scale the
// larger row down to 2^reach, so that no sum of squares overflows, or up to 1. Between these bounds
// rows are not scaled, so that small elements beside large ones of both rows still count.
array exponents_of_pairs(const array& a, const array& b) {
  const double reach = a.dtype() == dtype::f64 ? 400 : 40;
  const auto exponents = [](const array& x) { return op::binary_exponents(largest_along_last(x)); };
  const array larger =
      maximum(expand_dims(exponents(a), -1), expand_dims(matrix_transpose(exponents(b)), -3));
  return larger - clip(larger, 0, reach);
}

// Of differences [..., M, K, N].
array euclidean_distances(const array& apart, const array& exponents) {
  const array squares = sum(square(apart * exp2(-exponents)), -2), is_zero = squares == 0;
  const array roots = where(is_zero, 0, sqrt(where(is_zero, 1, squares)));
  return roots * reshape(exp2(exponents), roots.shape());
}

array distances(const array& a, const array& b, distance_metric metric) {
  if (metric == distance_metric::cosine) return cosine_distances(a, b);
  // [..., M, K, N]: neighbours in memory belong to different sums, which are added up side by side.
  const array apart = expand_dims(a, -1) - expand_dims(contiguous(matrix_transpose(b)), -3);
  switch (metric) {
    case distance_metric::cityblock:
      return sum(abs(apart), -2);
    case distance_metric::chebyshev:
      return apart.dim(-2) == 0 ? sum(apart, -2) : max(abs(apart), -2);
    case distance_metric::euclidean:
      if (apart.dim(-2) > 0) return euclidean_distances(apart, exponents_of_pairs(a, b));
      [[fallthrough]];
    default:
      return sum(square(apart), -2);
  }
}

}  // namespace

array cdist(const array& a, const array& b, distance_metric metric) {
  return named("cdist", [&] {
    base::require_known("cdist", "metric", metric, distance_metric::cosine);
    const array operands[] = {a, b};
    const dtype type = op::real_floating_type_of(operands, "cdist");
    const array x = op::cast(a, graph::compute_dtype(type), "cdist");
    const array y = op::cast(b, x.dtype(), "cdist");
    if (x.ndim() < 2 || y.ndim() < 2 || x.dim(-1) != y.dim(-1))
      base::fail<shape_error>("cdist: rows of {} and of {}", x.shape(), y.shape());
    return op::cast(distances(x, y, metric), type, "cdist");
  });
}

}  // namespace tutti
