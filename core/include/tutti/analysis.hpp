// SPDX-License-Identifier: Apache-2.0
//
// Data analysis beside statistics.hpp and sorting.hpp: covariances, distances, ranks, counts by
// row, interpolation, numerical integrals and derivatives, principal components, clusters. Names
// and meanings are NumPy's and SciPy's where they have the function.
//
// bool and integers become f32, f16 and bf16 are computed in f32, unless it says otherwise. All but
// what counts and ranks has gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/ops.hpp"
#include "tutti/random.hpp"
#include "tutti/sorting.hpp"

namespace tutti {

// ---- covariances

/// Covariances of variables, the rows of m [..., variables, observations]: [..., variables,
/// variables], with divisor observations - correction; of a vector its variance. Of complex numbers
/// that of each variable with the conjugate of each other. Where the divisor is not positive the
/// result is infinite or NaN. Throws shape_error for a 0-d array, value_error for a correction that
/// is NaN.
TUTTI_API array cov(const array& m, double correction = 1);
/// The same, divided by the deviations of both variables: Pearson's coefficients, in [-1, 1] (both
/// parts of complex ones), whatever the size of the observations: their squares neither overflow
/// nor vanish. NaN for a variable whose observations are equal.
TUTTI_API array corrcoef(const array& m);

enum class distance_metric : std::uint8_t {
  euclidean,    ///< the root of the sum of (a - b)^2, of which none overflows or vanishes unduly;
                ///< the gradient is 0 where it is 0
  sqeuclidean,  ///< the sum of (a - b)^2, from differences: no digits cancel
  cityblock,    ///< the sum of |a - b|
  chebyshev,    ///< the largest |a - b|
  cosine        ///< 1 - a b / (|a| |b|), whatever the norms: NaN for a vector of zeros
};
/// Distances between the rows of a [..., M, K] and b [..., N, K], real: [..., M, N]; leading axes
/// broadcast. Nothing of M x N x K elements is stored. Throws shape_error where the K differ.
TUTTI_API array cdist(const array& a, const array& b,
                      distance_metric metric = distance_metric::euclidean);

// ---- ranks and counts

enum class rank_method : std::uint8_t {
  average,  ///< of the places of equal elements their mean
  min,      ///< the first of them
  max,      ///< the last of them
  dense,    ///< as min, but that the next element follows without a gap
  ordinal   ///< each its own, in their order
};
/// Places of the elements in the sorted order along `axis`, from 1 on; without axis, of all. i64,
/// of method average a's floating dtype (f32 of integers and halves, where places beyond 2^23
/// round). Each NaN is a value of its own, after all others.
TUTTI_API array rankdata(const array& a, rank_method method = rank_method::average,
                         std::optional<integer> axis = {});

/// The p-th percentile, 0 <= p <= 100: quantile() of p / 100.
TUTTI_API array percentile(const array& a, double p, const reduce_options& options = {},
                           interpolation method = interpolation::linear);
/// Several at once, along a first axis of the result.
TUTTI_API array percentile(const array& a, const std::vector<double>& p,
                           const reduce_options& options = {},
                           interpolation method = interpolation::linear);

/// histogram() of each line along `axis`, which has the counts then: i64. Throws as histogram().
TUTTI_API histogram_result histogram_along(const array& a, std::int64_t bins, double low,
                                           double high, integer axis = -1);
struct histogram2d_result {
  array counts;   ///< i64 [bins of x, bins of y]
  array x_edges;  ///< as of histogram()
  array y_edges;
};
/// How many points (x[i], y[i]), arrays of one shape, lie in each cell of a grid of equal cells.
/// Throws shape_error for other shapes, and as histogram().
TUTTI_API histogram2d_result histogram2d(const array& x, const array& y,
                                         std::pair<std::int64_t, std::int64_t> bins,
                                         std::pair<double, double> x_range,
                                         std::pair<double, double> y_range);

// ---- numerical analysis

/// The piecewise linear function through points (xp[i], fp[i]), 1-d, of which xp ascends (not
/// checked; NaN counts as the largest), at each x; beyond its ends fp's first and last value, or
/// `left` and `right`. Differentiable in x, xp and fp. NaN at NaN. Between points that are not
/// finite as NumPy: the line from the left point on, from the right one back where that is NaN, and
/// the value that both have where that is NaN too; at a point its value. Throws shape_error for
/// other shapes or no points.
TUTTI_API array interp(const array& x, const array& xp, const array& fp,
                       std::optional<double> left = {}, std::optional<double> right = {});
/// The integral of y along `axis` by the trapezoidal rule, for places `dx` apart. Complex too.
TUTTI_API array trapezoid(const array& y, double dx = 1, integer axis = -1);
/// For places x: 1-d, or of a shape that y's broadcasts to. Throws shape_error for another one.
TUTTI_API array trapezoid(const array& y, const array& x, integer axis = -1);
/// Derivatives along `axis` by central differences, for elements `dx` apart, and at both ends by
/// one-sided ones of first or second order. Complex too. Throws value_error for a dx of 0 and
/// another edge_order, shape_error for fewer than edge_order + 1 elements.
TUTTI_API array gradient(const array& y, double dx = 1, integer axis = -1, int edge_order = 1);
/// For places x, 1-d, of second order where they are not even (B. Fornberg, "Generation of finite
/// difference formulas on arbitrarily spaced grids", 1988). Throws shape_error where x is not as
/// long as the axis.
TUTTI_API array gradient(const array& y, const array& x, integer axis = -1, int edge_order = 1);

// ---- components and clusters. In f32 and f64; f16 and bf16 throw dtype_error.

struct pca_result {
  array mean;                      ///< [features]
  array components;                ///< [count, features], orthonormal rows
  array explained_variance;        ///< [count], descending, with divisor samples - 1
  array explained_variance_ratio;  ///< [count]: of the variance of all features
  array scores;                    ///< [samples, count]: (x - mean) components^T
};
/// The `count` directions in which the rows of x [samples, features] vary most, by singular values
/// of the centred rows. Of each component the element of the largest amount is positive. Throws
/// shape_error for other ranks, value_error unless 1 <= count <= min(samples, features).
TUTTI_API pca_result pca(const array& x, std::int64_t count);

struct kmeans_options {
  int iterations = 300;     ///< at most
  double tolerance = 1e-4;  ///< ends when the centers move by less than this, squared, times the
                            ///< mean variance of the features
};
struct kmeans_result {
  array centers;   ///< [clusters, features]
  array labels;    ///< i64 [samples]: the nearest center
  double inertia;  ///< sum of the squared distances to these
  int iterations;  ///< that were made
};
/// Lloyd's algorithm over the rows of x [samples, features] from given centers [clusters,
/// features]. A center that is nearest to no row stays where it is. Evaluates in each iteration;
/// has no gradient. Throws shape_error for other shapes or no rows, value_error for options out of
/// range and elements that are not finite.
TUTTI_API kmeans_result kmeans(const array& x, const array& centers,
                               const kmeans_options& options = {});
/// From rows of x that are drawn one by one, each with a probability in proportion to the squared
/// distance to those before it (D. Arthur and S. Vassilvitskii, "k-means++", 2007). Throws
/// value_error unless 1 <= clusters <= samples.
TUTTI_API kmeans_result kmeans(random::key key, const array& x, std::int64_t clusters,
                               const kmeans_options& options = {});

}  // namespace tutti
