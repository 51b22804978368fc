// SPDX-License-Identifier: Apache-2.0
//
// k-means clustering: distances by a matrix product, sums by another with the rows' labels.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "tutti/analysis.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using detail::named;

namespace {

// Rows, f32 or f64.
array as_samples(const array& given, const char* what) {
  const dtype type = op::real_floating_type_of(given, "kmeans");
  if (type == dtype::f16 || type == dtype::bf16)
    throw dtype_error(fmt::format("kmeans: {} is not supported; convert to f32", name(type)));
  const array x = stop_gradient(op::cast(given, type, "kmeans"));
  if (x.ndim() != 2 || x.size() == 0)
    throw shape_error(
        fmt::format("kmeans: {} {}, must be [rows, features]", what, x.shape().str()));
  if (!all(isfinite(x)).item<bool>())
    throw value_error(
        fmt::format("kmeans: {} {} have elements that are not finite", what, x.shape().str()));
  return x;
}

void check_options(const kmeans_options& options) {
  if (options.iterations < 1 || !(options.tolerance >= 0))
    throw value_error(fmt::format("kmeans: {} iterations, a tolerance of {}", options.iterations,
                                  options.tolerance));
}

// Without the squared norm of the row, which is the same for all centers.
array nearest_centers(const array& x, const array& centers) {
  const array squares = sum(square(centers), 1);
  return argmin(squares - 2 * matmul(x, matrix_transpose(centers)), 1);
}

// Rows are centred, so that a common offset does not reduce the precision of squares.
kmeans_result lloyd(const array& given, const array& start, const kmeans_options& options) {
  const array middle = mean(given, {0, keep_dims::yes}), x = contiguous(given - middle);
  array centers = start - middle;
  const std::int64_t clusters = centers.dim(0);
  const double enough = options.tolerance * mean(var(x, 0)).item();
  kmeans_result result{{}, {}, 0, 0};
  while (result.iterations < options.iterations) {
    ++result.iterations;
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
  result.labels = nearest_centers(x, centers);
  result.inertia = sum(square(x - take(centers, result.labels))).item();
  result.centers = centers + middle;
  return result;
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

kmeans_result kmeans(const array& given, const array& start, const kmeans_options& options) {
  return named("kmeans", [&] {
    check_options(options);
    const array x = as_samples(given, "samples");
    const array centers = op::cast(as_samples(start, "centers"), x.dtype(), "kmeans");
    if (centers.dim(1) != x.dim(1))
      throw shape_error("kmeans: centers " + centers.shape().str() + " for samples " +
                        x.shape().str());
    return lloyd(x, centers, options);
  });
}

kmeans_result kmeans(random::key key, const array& given, std::int64_t clusters,
                     const kmeans_options& options) {
  return named("kmeans", [&] {
    check_options(options);
    const array x = as_samples(given, "samples");
    if (clusters < 1 || clusters > x.dim(0))
      throw value_error(fmt::format("kmeans: {} clusters of {} samples", clusters, x.dim(0)));
    return lloyd(x, drawn_centers(key, x, clusters), options);
  });
}

}  // namespace tutti
