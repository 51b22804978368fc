// SPDX-License-Identifier: Apache-2.0
//
// Data analysis in addition to statistics.hpp and sorting.hpp: covariances, distances, ranks,
// histograms, interpolation, numerical integrals and derivatives. Names and meanings are
// those of NumPy and SciPy, if they have the function.
//
// Unless stated otherwise, bool and integers become f32, and f16 and bf16 are computed in f32. All
// functions have gradients, except counts and ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/analysis/distributions.hpp"
#include "tutti/analysis/quasirandom.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace tutti {

// ---- covariances

/// Covariances of variables, the rows of m [..., variables, observations]: [..., variables,
/// variables], with divisor observations - correction; for a vector its variance. For complex
/// numbers, the second variable of each pair is conjugated. If the divisor is not positive, the
/// result is infinite or NaN. Throws shape_error for a 0-d array, value_error for a correction that
/// is NaN.
TUTTI_API array cov(const array& m, double correction = 1);
/// cov() divided by the standard deviations of both variables: Pearson's coefficients, in [-1, 1]
/// (both parts of complex ones). Squares of large or small observations do not overflow or
/// underflow. NaN for a variable whose observations are all equal.
TUTTI_API array corrcoef(const array& m);

enum class distance_metric : std::uint8_t {
  euclidean,    ///< the root of the sum of (a - b)^2, without avoidable overflow or underflow; the
                ///< gradient is 0 where the distance is 0
  sqeuclidean,  ///< the sum of (a - b)^2, computed from differences without cancellation
  cityblock,    ///< the sum of |a - b|
  chebyshev,    ///< the largest |a - b|
  cosine        ///< 1 - a b / (|a| |b|), for norms of any size: NaN for a vector of zeros
};
/// Distances between the rows of a [..., M, K] and b [..., N, K], real: [..., M, N]; leading axes
/// broadcast. Does not store M x N x K elements. Throws shape_error if the K differ.
TUTTI_API array cdist(const array& a, const array& b,
                      distance_metric metric = distance_metric::euclidean);

// ---- ranks and counts

enum class rank_method : std::uint8_t {
  average,  ///< the mean of the positions of equal elements
  min,      ///< the first of these positions
  max,      ///< the last of these positions
  dense,    ///< as min, but without gaps after equal elements
  ordinal   ///< a different rank for each element, in their order
};
/// Ranks of the elements along `axis`, starting from 1; without axis, of all elements. i64; for
/// method average a's floating dtype (f32 for integers, f16 and bf16, in which ranks beyond 2^23
/// are rounded). Each NaN counts as a different value after all others.
TUTTI_API array rankdata(const array& a, rank_method method = rank_method::average,
                         std::optional<integer> axis = {});

struct histogram_result {
  array counts;  ///< i64 [bins]
  array edges;   ///< [bins + 1], f64 for f64 and integers of 32 bits and more, else f32
};
/// The number of elements in each of `bins` equal parts of [low, high]; the last part includes its
/// upper edge. As in NumPy, edge i is i * ((high - low) / bins) + low in f64, rounded to the dtype
/// of the edges, and elements are compared with those. Elements outside and NaN are not counted.
/// Throws value_error for bins < 1, low > high and bounds that are not finite or whose difference
/// is not; equal bounds are moved apart by 1/2 each.
TUTTI_API histogram_result histogram(const array& a, std::int64_t bins, double low, double high);
/// From the smallest to the largest element, which are evaluated; throws value_error if one is NaN.
TUTTI_API histogram_result histogram(const array& a, std::int64_t bins = 10);
/// With given ascending edges (1-d, at least 2).
TUTTI_API histogram_result histogram(const array& a, const array& edges);
/// histogram() of each line along `axis`, which is replaced by the counts: i64. Throws as
/// histogram().
TUTTI_API histogram_result histogram_along(const array& a, std::int64_t bins, double low,
                                           double high, integer axis = -1);
struct histogram2d_result {
  array counts;   ///< i64 [bins of x, bins of y]
  array x_edges;  ///< as of histogram()
  array y_edges;
};
/// The number of points (x[i], y[i]), given as arrays of one shape, in each cell of a regular grid.
/// Throws shape_error for other shapes, and as histogram().
TUTTI_API histogram2d_result histogram2d(const array& x, const array& y,
                                         std::pair<std::int64_t, std::int64_t> bins,
                                         std::pair<double, double> x_range,
                                         std::pair<double, double> y_range);

// ---- numerical analysis

/// The piecewise linear function through the points (xp[i], fp[i]), 1-d, evaluated at each x. xp
/// must ascend (not checked; NaN counts as the largest). Beyond its ends the value is that of the
/// first or last point, or `left` and `right`. Differentiable in x, xp and fp. NaN at NaN. As in
/// NumPy, non-finite points use the line from the left point, or from the right point if that gives
/// NaN, or the value of both points if that is NaN too; at a point, its value. Throws shape_error
/// for other shapes or no points.
TUTTI_API array interp(const array& x, const array& xp, const array& fp,
                       std::optional<double> left = {}, std::optional<double> right = {});
/// The integral of y along `axis` by the trapezoidal rule, with sample distance `dx`. Also complex.
TUTTI_API array trapezoid(const array& y, double dx = 1, integer axis = -1);
/// For sample positions x: 1-d, or of a shape that broadcasts to y's. Throws shape_error otherwise.
TUTTI_API array trapezoid(const array& y, const array& x, integer axis = -1);
/// Derivatives along `axis` by central differences, with element distance `dx`, and at both ends by
/// one-sided differences of first or second order. Also complex. Throws value_error for dx = 0 and
/// other edge_order, shape_error for fewer than edge_order + 1 elements.
TUTTI_API array gradient(const array& y, double dx = 1, integer axis = -1, int edge_order = 1);
/// For positions x, 1-d, of second order also if they are not equidistant (B. Fornberg, "Generation
/// of finite difference formulas on arbitrarily spaced grids", 1988). Throws shape_error if the
/// length of x differs from the axis.
TUTTI_API array gradient(const array& y, const array& x, integer axis = -1, int edge_order = 1);

}  // namespace tutti
