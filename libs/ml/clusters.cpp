// SPDX-License-Identifier: Apache-2.0
//
// k-means clustering: distances by a matrix product, sums by another with the rows' labels.
// Silhouettes of clusters, in blocks of rows whose distances fit in memory.

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/analysis.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

namespace {

// Without the squared norm of the row, which is the same for all centers.
array nearest_centers(const array& x, const array& centers) {
  const array squares = sum(square(centers), 1);
  return argmin(squares - 2 * matmul(x, matrix_transpose(centers)), 1);
}

// Centers, labels, inertia, iterations.
using clustering = std::tuple<array, array, double, int>;

// Rows are centred, so that a common offset does not reduce the precision of squares.
clustering lloyd(const array& given, const array& start, const k_means_options& options) {
  const array middle = mean(given, {0, keep_dims::yes}), x = contiguous(given - middle);
  array centers = start - middle;
  const std::int64_t clusters = centers.dim(0);
  const double enough = options.tolerance * mean(var(x, 0)).item();
  int made = 0;
  while (made < options.iterations) {
    ++made;
    const array labels = nearest_centers(x, centers);
    const array members = one_hot(labels, clusters, x.dtype());
    const array counts = expand_dims(sum(members, 0), 1);
    const array sums = matmul(matrix_transpose(members), x);
    const array moved = where(counts > 0, sums / maximum(counts, 1), centers);
    const array way = sum(square(moved - centers));
    eval({moved, way});
    centers = moved;
    if (way.item() <= enough) break;
  }
  const array labels = nearest_centers(x, centers);
  const double inertia = sum(square(x - take(centers, labels))).item();
  return {centers + middle, labels, inertia, made};
}

// The first row at random, each further one by a random number within the cumulative sums of
// squared distances to the nearest row chosen before.
array drawn_centers(random::key key, const array& x, std::int64_t clusters) {
  const std::int64_t n = x.dim(0);
  const array numbers = random::uniform(key, {clusters}, 0, 1, dtype::f32, x.device());
  const std::vector<float> u = numbers.to_vector<float>();
  std::vector<std::int64_t> rows;
  array nearest;
  for (const float part : u) {
    std::int64_t row = std::min(static_cast<std::int64_t>(part * static_cast<double>(n)), n - 1);
    if (nearest.valid()) {
      const array sums = cumsum(nearest, 0);
      const double whole = sums[n - 1].item();
      const array place =
          searchsorted(sums, full({}, part * whole, sums.dtype(), x.device()), side::right);
      // If all distances are 0, any row can be chosen.
      if (whole > 0) row = std::min(place.item<std::int64_t>(), n - 1);
    }
    rows.push_back(row);
    const array chosen = x({{row, row + 1}});
    const array apart = sum(square(x - chosen), 1);
    nearest = nearest.valid() ? minimum(nearest, apart) : apart;
    nearest.eval();
  }
  return take(x, array::from(rows, x.device()));
}

}  // namespace

k_means::k_means(random::key key, const k_means_options& options) : key_(key), options_(options) {
  if (options.clusters < 1 || options.starts < 1 || options.iterations < 1 ||
      !(options.tolerance >= 0))
    base::fail<value_error>("k_means: {} clusters, {} starts, {} iterations, a tolerance of {}",
                            options.clusters, options.starts, options.iterations,
                            options.tolerance);
}

k_means& k_means::fit(const array& given) {
  constexpr const char* op = "k_means::fit";
  named(op, [&] {
    const array x = as_finite_samples(given, op);
    if (options_.clusters > x.dim(0))
      base::fail<value_error>("{}: {} clusters of {} rows", op, options_.clusters, x.dim(0));
    clustering best;
    for (const random::key key : random::split(key_, options_.starts)) {
      clustering found = lloyd(x, drawn_centers(key, x, options_.clusters), options_);
      if (!std::get<0>(best).valid() || std::get<double>(found) < std::get<double>(best))
        best = std::move(found);
    }
    std::tie(centers_, labels_, inertia_, iterations_) = best;
  });
  return *this;
}

k_means& k_means::fit(const array& given, const array& start) {
  constexpr const char* op = "k_means::fit";
  named(op, [&] {
    const array x = as_finite_samples(given, op);
    const array centers = as_finite_samples(start, x.dim(1), op).astype(x.dtype());
    std::tie(centers_, labels_, inertia_, iterations_) = lloyd(x, centers, options_);
  });
  return *this;
}

array k_means::transform(const array& given) const {
  return named("k_means::transform",
               [&] { return cdist(as_samples(given, centers_, "k_means::transform"), centers_); });
}

array k_means::predict(const array& given) const {
  return named("k_means::predict", [&] {
    const array x = as_finite_samples(given, centers_, "k_means::predict");
    return argmin(cdist(x, centers_, distance_metric::sqeuclidean), 1);
  });
}

double k_means::score(const array& given) const {
  return named("k_means::score", [&] {
    const array x = as_samples(given, centers_, "k_means::score");
    return -sum(min(cdist(x, centers_, distance_metric::sqeuclidean), 1)).item();
  });
}

io::named_arrays k_means::parameters() const {
  require_fitted(centers_, "k_means::parameters");
  return {{"centers", centers_}};
}

void k_means::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"centers"}, "k_means::load_parameters");
  const array centers = reader.floats("centers", 2);
  if (centers.size() == 0) reader.require_shape("centers", centers, {1, 1});
  centers_ = centers;
}

namespace {

// From rows [first, last) to all rows.
array silhouettes_of(const array& x, const unique_result& clusters, const array& members,
                     std::int64_t first, std::int64_t last) {
  const array counts = clusters.counts.astype(x.dtype());
  const array own = clusters.inverse({{first, last}});
  const array sums = matmul(cdist(x({{first, last}}), x), members);
  const array is_own = members({{first, last}}) > 0;
  const array size = take(counts, own);
  const array near = sum(where(is_own, sums, 0), 1) / maximum(size - 1, 1);
  const array far = min(where(is_own, full({}, INFINITY, x.dtype(), x.device()), sums / counts), 1);
  const array larger = maximum(near, far);
  const array is_zero = larger == 0;
  return where((size == 1) | is_zero, 0, (far - near) / where(is_zero, 1, larger));
}

}  // namespace

array silhouette_samples(const array& given, const array& labels) {
  constexpr const char* op = "silhouette_samples";
  return named(op, [&] {
    const array x = as_finite_samples(given, op);
    const std::int64_t rows = x.dim(0);
    const unique_result clusters = unique(as_labels(labels, rows, op));
    const std::int64_t count = clusters.values.size();
    if (count < 2 || count >= rows)
      base::fail<value_error>("{}: {} clusters of {} rows", op, count, rows);
    const array members = one_hot(clusters.inverse, count, x.dtype());
    members.eval();
    const std::int64_t block = std::max<std::int64_t>(1, (std::int64_t{1} << 23) / rows);
    std::vector<array> parts;
    for (std::int64_t first = 0; first < rows; first += block) {
      parts.push_back(silhouettes_of(x, clusters, members, first, std::min(first + block, rows)));
      parts.back().eval();
    }
    return concatenate(parts);
  });
}

array silhouette_score(const array& x, const array& labels) {
  return named("silhouette_score", [&] { return tutti::mean(silhouette_samples(x, labels)); });
}

}  // namespace tutti::ml
