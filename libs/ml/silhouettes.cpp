// SPDX-License-Identifier: Apache-2.0
//
// Silhouettes of clusters, in blocks of rows whose distances fit in memory.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/analysis.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

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
      throw value_error(fmt::format("{}: {} clusters of {} rows", op, count, rows));
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
