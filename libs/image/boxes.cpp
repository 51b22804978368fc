// SPDX-License-Identifier: Apache-2.0
//
// Boxes and their overlap, on the host.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image/features.hpp"

namespace tutti::image {

namespace {

struct box {
  double x0, y0, x1, y1;
  double area() const { return std::max(x1 - x0, 0.0) * std::max(y1 - y0, 0.0); }
};

// Relative to the union. NaN if a box contains NaN, or if neither has an area.
double overlap_of(const box& a, const box& b) {
  const box common{std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1),
                   std::min(a.y1, b.y1)};
  const double both = common.area();
  return both / (a.area() + b.area() - both);
}

std::vector<double> host_numbers(const array& a, std::string_view op) {
  const dtype type = op::real_type_of(a, op);
  return contiguous(op::cast(stop_gradient(op::cast(a, type, op)), dtype::f64, op))
      .to_vector<double>();
}

}  // namespace

array non_maximum_suppression(const array& boxes, const array& scores, double overlap) {
  constexpr const char* op = "non_maximum_suppression";
  return base::named(op, [&] {
    const shape &of_boxes = op::extents_of(boxes, op), &of_scores = op::extents_of(scores, op);
    if (of_boxes.rank() != 2 || of_boxes[1] != 4 || of_scores != shape{of_boxes[0]})
      base::fail<shape_error>("{}: boxes {} with scores {}, must be [n, 4] and [n]", op, of_boxes,
                              of_scores);
    if (std::isnan(overlap)) base::fail<value_error>("{}: an overlap of {}", op, overlap);
    const std::int64_t count = of_boxes[0];
    detail::require_host_memory(op, static_cast<std::uint64_t>(count), 7 * sizeof(double));
    const std::vector<double> ends = host_numbers(boxes, op), score = host_numbers(scores, op);
    std::vector<std::size_t> order(score.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return score[a] > score[b] || (std::isnan(score[b]) && !std::isnan(score[a]));
    });
    std::vector<box> kept;
    std::vector<std::int64_t> indices;
    for (const std::size_t i : order) {
      const box next{ends[4 * i], ends[4 * i + 1], ends[4 * i + 2], ends[4 * i + 3]};
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const box& b) { return overlap_of(b, next) > overlap; }))
        continue;
      kept.push_back(next);
      indices.push_back(static_cast<std::int64_t>(i));
    }
    return array::from(indices, boxes.device());
  });
}

}  // namespace tutti::image
