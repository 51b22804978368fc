// SPDX-License-Identifier: Apache-2.0
//
// Resizing, one axis after the other: for each new position the pixels within the filter's radius
// and their weights, which the host computes, are gathered and summed. If the extents have a simple
// ratio, the weights repeat after a few positions, and all but those at the edges are sums of
// slices.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image/basics.hpp"

namespace tutti::image {

namespace {

constexpr const char* label = "resize";
// Maximum number of terms of an explicit sum; maximum number of positions after which the weights
// repeat; and the minimum number of repetitions.
constexpr std::int64_t most_terms = 32, most_phases = 4, least_periods = 8;

double sinc(double t) {
  const double angle = std::numbers::pi * t;
  return t == 0 ? 1 : std::sin(angle) / angle;
}

// Keys' kernel for a = -1/2.
double cubic(double t) {
  if (t < 1) return (1.5 * t - 2.5) * t * t + 1;
  return t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
}

double radius_of(filter by) {
  constexpr double radii[] = {0.5, 1, 2, 3, 0.5};
  return radii[static_cast<int>(by)];
}

double kernel(filter by, double t) {
  t = std::abs(t);
  switch (by) {
    case filter::bilinear:
      return std::max(1 - t, 0.0);
    case filter::bicubic:
      return cubic(t);
    default:
      return t < 3 ? sinc(t) * sinc(t / 3) : 0;
  }
}

// `taps` pixels for each position with their weights; missing ones are its last one with weight 0.
struct place_table {
  std::int64_t taps = 0;
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

// The pixels that contribute to one position.
struct reach {
  std::int64_t first, end;
};

class axis_filter {
 public:
  axis_filter(std::int64_t extent, std::int64_t size, filter by)
      : extent_(extent),
        by_(by),
        scale_(static_cast<double>(extent) / static_cast<double>(size)),
        width_(std::max(scale_, 1.0)),
        radius_(by == filter::area ? scale_ / 2 : radius_of(by) * width_) {}

  // The maximum for any position, plus one for rounding.
  std::int64_t most_taps() const {
    const double most = std::ceil(2 * radius_) + 2;
    return most < static_cast<double>(extent_) ? static_cast<std::int64_t>(most) : extent_;
  }

  // In an infinite image.
  std::pair<double, double> whole(std::int64_t place) const {
    const double middle = (static_cast<double>(place) + 0.5) * scale_;
    if (by_ == filter::area) return {std::floor(middle - radius_), std::ceil(middle + radius_)};
    return {std::floor(middle - radius_ + 0.5), std::floor(middle + radius_ + 0.5)};
  }

  reach of(std::int64_t place) const {
    const auto [low, high] = whole(place);
    const auto inside = [&](double v, double least, double most) {
      return static_cast<std::int64_t>(std::clamp(v, least, most));
    };
    const auto last = static_cast<double>(extent_ - 1);
    const std::int64_t first = inside(low, 0, last);
    return {first,
            std::min(inside(high, static_cast<double>(first) + 1, last + 1), first + most_taps())};
  }

  double weight(std::int64_t place, std::int64_t pixel) const {
    const double middle = (static_cast<double>(place) + 0.5) * scale_;
    const auto at = static_cast<double>(pixel);
    if (by_ != filter::area) return kernel(by_, (at + 0.5 - middle) / width_);
    return std::max(std::min(at + 1, middle + radius_) - std::max(at, middle - radius_), 0.0);
  }

 private:
  std::int64_t extent_;
  filter by_;
  double scale_, width_, radius_;
};

// For the positions [begin, end).
place_table table_of(const axis_filter& along, std::int64_t begin, std::int64_t end_of_places) {
  place_table table;
  table.taps = along.most_taps();
  const auto count =
      static_cast<std::uint64_t>(graph::extent_product(end_of_places - begin, table.taps, label));
  table.index = detail::host_vector<std::int64_t>(label, count);
  table.weight = detail::host_vector<double>(label, count);
  std::size_t at = 0;
  for (std::int64_t place = begin; place < end_of_places; ++place) {
    const auto [first, end] = along.of(place);
    double sum = 0;
    for (std::int64_t k = 0; k < table.taps; ++k, ++at) {
      const std::int64_t pixel = first + k;
      table.index[at] = std::min(pixel, end - 1);
      table.weight[at] = pixel < end ? along.weight(place, pixel) : 0;
      sum += table.weight[at];
    }
    for (std::size_t k = at - static_cast<std::size_t>(table.taps); k < at; ++k)
      table.weight[k] /= sum;
  }
  return table;
}

// The positions [begin, end) along an axis.
array taken_along(const array& x, int axis, const axis_filter& along, std::int64_t begin,
                  std::int64_t end) {
  const place_table table = table_of(along, begin, end);
  const array near = take(x, array::from(table.index, x.device()), axis);
  shape split = x.shape();
  split[axis] = end - begin;
  split.insert(axis + 1, table.taps);
  shape column = {end - begin, table.taps};
  for (int later = axis + 1; later < x.ndim(); ++later) column.push_back(1);
  const array weight = op::numbers_on(x.device(), table.weight, column, x.dtype());
  const array side_by_side = reshape(near, split);
  if (table.taps > most_terms) return sum(side_by_side * weight, axis + 1);
  // There are too few channels for a reduction along them: one elementwise program instead.
  const std::vector<array> pixels = unstack(side_by_side, axis + 1), weights = unstack(weight, 1);
  array total = pixels[0] * weights[0];
  for (std::size_t k = 1; k < pixels.size(); ++k) total = total + pixels[k] * weights[k];
  return total;
}

// The ratio of the extents in lowest terms: positions `phases` apart have pixels `pixels` apart and
// the same weights. The axis consists of `periods` of them, of which those in [first, last) do not
// extend beyond an edge.
struct regularity {
  std::int64_t phases, pixels, first, last;
};

regularity regularity_of(std::int64_t extent, std::int64_t size, const axis_filter& along) {
  const std::int64_t periods = std::gcd(extent, size);
  regularity r{size / periods, extent / periods, 0, periods};
  // The positions of longer axes cannot be represented exactly.
  if (r.phases > most_phases || along.most_taps() > most_terms || extent > 1 << 30) {
    r.last = 0;
    return r;
  }
  for (std::int64_t place = 0; place < r.phases; ++place) {
    const auto [low, high] = along.whole(place);
    const auto step = static_cast<double>(r.pixels), end = static_cast<double>(extent);
    r.first = std::max(r.first, static_cast<std::int64_t>(std::ceil(-low / step)));
    r.last = std::min(r.last, static_cast<std::int64_t>(std::floor((end - high) / step)) + 1);
  }
  return r;
}

// These positions, as sums of slices with scalar weights.
array sliced_along(const array& x, int axis, const regularity& r, const axis_filter& along) {
  const std::int64_t count = r.last - r.first;
  std::vector<array> phases;
  for (std::int64_t place = 0; place < r.phases; ++place) {
    const auto [low, high] = along.whole(place);
    const auto begin = static_cast<std::int64_t>(low), end = static_cast<std::int64_t>(high);
    double all = 0;
    for (std::int64_t pixel = begin; pixel < end; ++pixel) all += along.weight(place, pixel);
    array total;
    for (std::int64_t pixel = begin; pixel < end; ++pixel) {
      const double weight = along.weight(place, pixel) / all;
      if (weight == 0) continue;
      const std::int64_t start = pixel + r.first * r.pixels;
      const array term = op::slice_along(x, axis, start, count, r.pixels) * weight;
      total = total.valid() ? total + term : term;
    }
    phases.push_back(total);
  }
  if (phases.size() == 1) return phases[0];
  shape extents = x.shape();
  extents[axis] = count * r.phases;
  return reshape(stack(phases, axis + 1), extents);
}

array resized_along(const array& x, int axis, std::int64_t size, filter by) {
  const axis_filter along(x.dim(axis), size, by);
  const regularity r = regularity_of(x.dim(axis), size, along);
  if (r.last - r.first < least_periods) return taken_along(x, axis, along, 0, size);
  std::vector<array> parts;
  if (r.first > 0) parts.push_back(taken_along(x, axis, along, 0, r.first * r.phases));
  parts.push_back(sliced_along(x, axis, r, along));
  if (r.last * r.phases < size)
    parts.push_back(taken_along(x, axis, along, r.last * r.phases, size));
  return parts.size() == 1 ? parts[0] : concatenate(parts, axis);
}

array nearest_along(const array& x, int axis, std::int64_t size) {
  auto index = detail::host_vector<std::int64_t>(label, static_cast<std::uint64_t>(size));
  __extension__ using wide = __int128;
  for (std::int64_t i = 0; i < size; ++i)
    index[static_cast<std::size_t>(i)] =
        static_cast<std::int64_t>((wide(2) * i + 1) * x.dim(axis) / (wide(2) * size));
  return take(x, array::from(index, x.device()), axis);
}

}  // namespace

array resize(const array& given, integer height, integer width, filter by) {
  return base::named(label, [&] {
    op::check_image(given, label);
    base::require_known("resize", "filter", by, filter::area);
    // Gathering whole rows is faster than pixels of rows; so an increase in height comes last.
    const bool rows_first = height <= given.dim(-3);
    std::int64_t sizes[] = {width, height};
    int axes[] = {given.ndim() - 2, given.ndim() - 3};
    if (rows_first) {
      std::swap(sizes[0], sizes[1]);
      std::swap(axes[0], axes[1]);
    }
    const dtype type = op::type_of(given, label);
    const bool is_nearest = by == filter::nearest;
    array x = is_nearest ? op::cast(given, type, label) : op::image_numbers(given, label);
    shape to = x.shape();
    for (int i = 0; i < 2; ++i) {
      to[axes[i]] = sizes[i];
      if (sizes[i] > 0 && x.dim(axes[i]) == 0)
        base::fail<shape_error>("resize: no pixels to take: {}", x.shape());
    }
    if (graph::checked_elements(to, type, label) == 0)
      return op::zeros_on(to, type, op::device_of(x), label);
    for (int i = 0; i < 2; ++i) {
      if (sizes[i] == x.dim(axes[i])) continue;
      if (x.ndim() == max_rank && !is_nearest)
        base::fail<shape_error>("resize: more than 7 axes: {}", x.shape());
      x = is_nearest ? nearest_along(x, axes[i], sizes[i])
                     : resized_along(x, axes[i], sizes[i], by);
    }
    return is_nearest ? x : op::as_image_dtype(x, type, label);
  });
}

}  // namespace tutti::image
