// SPDX-License-Identifier: Apache-2.0
//
// Resizing, one axis after the other: of each new place the pixels within the filter's radius and
// their weights, which the host computes, are taken side by side and added up.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/named_errors.hpp"
#include "op/image/images.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image.hpp"

namespace tutti::image {

namespace {

constexpr const char* label = "resize";
// Of a sum that is written out.
constexpr std::int64_t most_terms = 32;

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
  switch (by) {
    case filter::bilinear:
      return 1;
    case filter::bicubic:
      return 2;
    case filter::lanczos:
      return 3;
    default:
      return 0.5;
  }
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

// `taps` pixels of each place with their weights; those that a place has not are its last one with
// weight 0.
struct place_table {
  std::int64_t taps = 0;
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

// The pixels that count for one place.
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

  // The most that any place has, one more for what rounding adds.
  std::int64_t most_taps() const {
    const double most = std::ceil(2 * radius_) + 2;
    return most < static_cast<double>(extent_) ? static_cast<std::int64_t>(most) : extent_;
  }

  reach of(std::int64_t place) const {
    const double middle = (static_cast<double>(place) + 0.5) * scale_;
    const bool by_share = by_ == filter::area;
    const double low = by_share ? std::floor(middle - radius_) : std::floor(middle - radius_ + 0.5);
    const double high = by_share ? std::ceil(middle + radius_) : std::floor(middle + radius_ + 0.5);
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

place_table table_of(std::int64_t extent, std::int64_t size, filter by) {
  const axis_filter along(extent, size, by);
  place_table table;
  table.taps = along.most_taps();
  const auto count = static_cast<std::uint64_t>(graph::extent_product(size, table.taps, label));
  table.index = detail::host_vector<std::int64_t>(label, count);
  table.weight = detail::host_vector<double>(label, count);
  std::size_t at = 0;
  for (std::int64_t place = 0; place < size; ++place) {
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

array resized_along(const array& x, int axis, std::int64_t size, filter by) {
  const place_table table = table_of(x.dim(axis), size, by);
  const array near = take(x, array::from(table.index, x.device()), axis);
  shape split = x.shape();
  split[axis] = size;
  split.insert(axis + 1, table.taps);
  shape column = {size, table.taps};
  for (int later = axis + 1; later < x.ndim(); ++later) column.push_back(1);
  const array weight = op::image_constants(x.device(), table.weight, column, x.dtype());
  const array side_by_side = reshape(near, split);
  if (table.taps > most_terms) return sum(side_by_side * weight, axis + 1);
  // Channels are too few for a reduction that runs along them: one elementwise program instead.
  const std::vector<array> pixels = unstack(side_by_side, axis + 1), weights = unstack(weight, 1);
  array total = pixels[0] * weights[0];
  for (std::size_t k = 1; k < pixels.size(); ++k) total = total + pixels[k] * weights[k];
  return total;
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
  return detail::named(label, [&] {
    op::check_image(given, label);
    if (by > filter::area)
      throw value_error(fmt::format("resize: no filter of number {}", static_cast<int>(by)));
    // Whole rows are taken faster than pixels of rows; what gets taller does so last.
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
        throw shape_error(fmt::format("resize: no pixels to take: {}", x.shape().str()));
    }
    if (graph::checked_elements(to, type, label) == 0)
      return op::zeros_on(to, type, x.node()->device, label);
    for (int i = 0; i < 2; ++i) {
      if (sizes[i] == x.dim(axes[i])) continue;
      if (x.ndim() == max_rank && !is_nearest)
        throw shape_error(fmt::format("resize: more than 7 axes: {}", x.shape().str()));
      x = is_nearest ? nearest_along(x, axes[i], sizes[i])
                     : resized_along(x, axes[i], sizes[i], by);
    }
    return is_nearest ? x : op::as_image_dtype(x, type, label);
  });
}

}  // namespace tutti::image
