// SPDX-License-Identifier: Apache-2.0
//
// Filters of images: weighted sums and extremes of windows, along one axis after the other if that
// is equivalent.

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/image/filters.hpp"
#include "tutti/movement.hpp"
#include "tutti/sorting.hpp"

namespace tutti::image {

using base::named;

namespace {

// Rows and columns, counted from the end.
constexpr int row_axis = -3, column_axis = -2;

array padded_along(const array& x, int axis, std::int64_t radius, pad_mode mode) {
  std::vector<pad_width> widths(static_cast<std::size_t>(x.ndim()));
  widths[static_cast<std::size_t>(x.ndim() + axis)] = {radius, radius};
  return tutti::pad(x, widths, mode);
}

array padded(const array& x, std::int64_t rows, std::int64_t columns, pad_mode mode) {
  return pad(x, {rows, rows, columns, columns}, mode);
}

// The part beginning at `first` of an image that is wider by count - 1 pixels along the axis.
array piece(const array& wide, int axis, std::int64_t first, std::int64_t count) {
  return op::part_along(wide, wide.ndim() + axis, first, first + wide.dim(axis) - (count - 1));
}

array times(const array& a, double weight) { return weight == 1 ? a : a * weight; }

// The sum of at(k) times weights[k], an odd number of them, in one program. For symmetric or
// antisymmetric weights each weight is multiplied only once.
template <class At>
array weighed_sum(const std::vector<double>& weights, At&& at) {
  const std::size_t last = weights.size() - 1;
  array total;
  const auto add = [&](const array& term) { total = total.valid() ? total + term : term; };
  for (std::size_t k = 0; k < weights.size() / 2; ++k) {
    const double near = weights[k], far = weights[last - k];
    if (far == 0 && near == 0) continue;
    add(times(near == far ? at(last - k) + at(k) : at(last - k) - at(k), far));
  }
  if (const double middle = weights[last / 2]; middle != 0 || !total.valid())
    add(times(at(last / 2), middle));
  return total;
}

// The maximum number of terms of explicit sums; with up to this many, both directions are in one
// program.
constexpr std::size_t most_written = 32, most_of_both = 16;

// Along one axis of an image that is wider by the number of weights minus one. The weights are
// symmetric or antisymmetric.
array weighed_along(const array& wide, int axis, const std::vector<double>& weights) {
  const auto taps = static_cast<std::int64_t>(weights.size());
  if (weights.size() <= most_written)
    return weighed_sum(weights, [&](std::size_t k) {
      return piece(wide, axis, static_cast<std::int64_t>(k), taps);
    });
  const array w = op::numbers_on(wide.device(), weights, {taps}, wide.dtype());
  return sum(sliding_window_view(wide, {taps}, axis) * w, -1);
}

array separable(const array& x, const std::vector<double>& down, const std::vector<double>& right,
                pad_mode mode) {
  const auto rows = static_cast<std::int64_t>(down.size());
  const array wide = padded(x, rows / 2, static_cast<std::int64_t>(right.size()) / 2, mode);
  if (down.size() * right.size() > most_of_both)
    return weighed_along(weighed_along(wide, column_axis, right), row_axis, down);
  return weighed_sum(down, [&](std::size_t k) {
    return weighed_along(piece(wide, row_axis, static_cast<std::int64_t>(k), rows), column_axis,
                         right);
  });
}

// The maximum for weighted sums and extremes; and for sorting.
constexpr std::int64_t widest_window = 1 << 20, widest_sorted = 1 << 10;

void check_window(std::int64_t size, std::string_view op, std::int64_t below = widest_window) {
  if (size < 1 || size % 2 == 0)
    base::fail<value_error>("{}: a window of {} pixels is not odd", op, size);
  if (size >= below)
    base::fail<value_error>("{}: a window of {} pixels, must be below {}", op, size, below);
}

void check_mode(pad_mode mode, std::string_view op) {
  base::require_known(op, "mode", mode, pad_mode::reflect);
}

// f of the values of an image with pixels and one free dimension for its windows.
template <class F>
array filtered(const array& x, pad_mode mode, std::string_view op, bool keeps_dtype, F&& f) {
  return named(op, [&] {
    op::check_image(x, op);
    check_mode(mode, op);
    const dtype compute = op::image_compute_dtype(x, op);
    const dtype result = keeps_dtype ? x.dtype() : op::unrounded_dtype(x, compute);
    if (x.size() == 0) return op::zeros_on(x.shape(), result, op::device_of(x));
    if (x.ndim() == max_rank) base::fail<shape_error>("{}: more than 7 axes: {}", op, x.shape());
    return op::as_image_dtype(f(op::cast(x, compute, op)), result, op);
  });
}

array derivative(const array& x, direction along, const std::vector<double>& across, pad_mode mode,
                 std::string_view op) {
  base::require_known(op, "direction", along, direction::vertical);
  const std::vector<double> difference = {-1, 0, 1};
  return filtered(x, mode, op, false, [&](const array& v) {
    return along == direction::horizontal ? separable(v, across, difference, mode)
                                          : separable(v, difference, across, mode);
  });
}

// The median of an odd number of arrays: the largest is moved to the end, then the largest of the
// others, and so on until the median is found. Elementwise, and so in one program.
array middle_of(std::vector<array> v) {
  const std::size_t n = v.size();
  for (std::size_t round = 0; round <= n / 2; ++round)
    for (std::size_t i = 0; i + 1 < n - round; ++i) {
      const array low = minimum(v[i], v[i + 1]);
      v[i + 1] = maximum(v[i], v[i + 1]);
      v[i] = low;
    }
  return v[n / 2];
}

// Extremes of windows: of a few pixels pairwise, otherwise as a reduction.
template <class Pair, class All>
array extremes(const array& x, integer height, integer width, std::string_view op, Pair&& pair,
               All&& all) {
  return named(op, [&] {
    op::check_image(x, op);
    check_window(height, op);
    check_window(width, op);
    const dtype type = op::type_of(x, op);
    if (is_complex(type)) base::fail<dtype_error>("{}: {} has no order", op, type);
    if (x.size() == 0) return op::cast(x, type, op);
    if (x.ndim() == max_rank) base::fail<shape_error>("{}: more than 7 axes: {}", op, x.shape());
    array y = op::cast(x, type == dtype::boolean ? dtype::u8 : type, op);
    const std::pair<int, std::int64_t> axes[] = {{column_axis, width}, {row_axis, height}};
    for (const auto& [axis, size] : axes) {
      if (size == 1) continue;
      // The values repeated at the edge are already within each window.
      const array wide = padded_along(y, axis, size / 2, pad_mode::edge);
      if (size > static_cast<std::int64_t>(most_written)) {
        y = all(sliding_window_view(wide, {size}, axis));
        continue;
      }
      y = piece(wide, axis, 0, size);
      for (std::int64_t k = 1; k < size; ++k) y = pair(y, piece(wide, axis, k, size));
    }
    return op::cast(y, type, op);
  });
}

}  // namespace

array gaussian_blur(const array& x, double deviation, double truncate, pad_mode mode) {
  constexpr const char* op = "gaussian_blur";
  if (!(deviation >= 0) || !(truncate >= 0) || !(deviation * truncate < widest_window))
    base::fail<value_error>("gaussian_blur: a deviation of {}, cut off at {}", deviation, truncate);
  const auto radius = static_cast<std::int64_t>(truncate * deviation + 0.5);
  std::vector<double> weights(static_cast<std::size_t>(2 * radius + 1), 1);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double t = static_cast<double>(i) - static_cast<double>(radius);
    if (radius > 0) weights[i] = std::exp(-t * t / (2 * deviation * deviation));
    sum += weights[i];
  }
  for (double& w : weights) w /= sum;
  return filtered(x, mode, op, true,
                  [&](const array& v) { return separable(v, weights, weights, mode); });
}

array box_blur(const array& x, integer height, integer width, pad_mode mode) {
  constexpr const char* op = "box_blur";
  check_window(height, op);
  check_window(width, op);
  const std::vector<double> down(static_cast<std::size_t>(std::int64_t{height}), 1),
      right(static_cast<std::size_t>(std::int64_t{width}), 1);
  const double pixels = static_cast<double>(down.size()) * static_cast<double>(right.size());
  return filtered(x, mode, op, true,
                  [&](const array& v) { return separable(v, down, right, mode) / pixels; });
}

array median_filter(const array& x, integer size, pad_mode mode) {
  constexpr const char* op = "median_filter";
  return named(op, [&]() -> array {
    op::check_image(x, op);
    check_mode(mode, op);
    check_window(size, op, widest_sorted);
    const dtype type = op::type_of(x, op);
    if (is_complex(type)) base::fail<dtype_error>("{}: {} has no order", op, type);
    if (x.size() == 0 || size == 1) return op::cast(x, type, op);
    const array v = op::cast(x, type == dtype::boolean ? dtype::u8 : type, op);
    const array wide = padded(v, size / 2, size / 2, mode);
    if (size == 3) {
      std::vector<array> all;
      for (std::int64_t i = 0; i < 9; ++i)
        all.push_back(op::image_neighbours(wide, v.shape(), i / 3, i % 3));
      return op::cast(middle_of(all), type, op);
    }
    if (v.ndim() + 2 > max_rank) base::fail<shape_error>("{}: more than 6 axes: {}", op, x.shape());
    const array windows = sliding_window_view(wide, {size, size}, {row_axis, column_axis});
    const std::int64_t count = graph::extent_product(size, size, op);
    shape flat = v.shape();
    flat.push_back(count);
    const array sorted = sort(reshape(windows, flat), -1);
    const array middle = sorted({ellipsis(), count / 2});
    // NaN is sorted to the end.
    if (!is_floating(type)) return op::cast(middle, type, op);
    const array last = sorted({ellipsis(), count - 1});
    return where(isnan(last), last, middle);
  });
}

array bilateral_filter(const array& x, integer radius, double place_deviation,
                       double color_deviation, pad_mode mode) {
  constexpr const char* op = "bilateral_filter";
  for (const double deviation : {place_deviation, color_deviation})
    if (!(deviation > 0) || std::isinf(deviation))
      base::fail<value_error>("{}: a deviation of {}", op, deviation);
  const std::int64_t most = radius;
  if (most < 0 || most > 32) base::fail<value_error>("{}: a radius of {}", op, most);
  return filtered(x, mode, op, true, [&](const array& v) {
    const array wide = padded(v, most, most, mode);
    array weights, weighed;
    for (std::int64_t row = -most; row <= most; ++row)
      for (std::int64_t column = -most; column <= most; ++column) {
        const array other = op::image_neighbours(wide, v.shape(), row + most, column + most);
        const double place = static_cast<double>(row * row + column * column) /
                             (2 * place_deviation * place_deviation);
        const array colors = sum(square(other - v), {-1, true});
        const array weight = exp(colors * (-1 / (2 * color_deviation * color_deviation)) - place);
        weights = weights.valid() ? weights + weight : weight;
        weighed = weighed.valid() ? weighed + weight * other : weight * other;
      }
    return weighed / weights;
  });
}

array sobel(const array& x, direction along, pad_mode mode) {
  return derivative(x, along, {1, 2, 1}, mode, "sobel");
}

array scharr(const array& x, direction along, pad_mode mode) {
  return derivative(x, along, {3, 10, 3}, mode, "scharr");
}

array laplacian(const array& x, pad_mode mode) {
  return filtered(x, mode, "laplacian", false, [&](const array& v) {
    const array wide = padded(v, 1, 1, mode);
    const auto at = [&](std::int64_t row, std::int64_t column) {
      return op::image_neighbours(wide, v.shape(), row, column);
    };
    return at(0, 1) + at(2, 1) + (at(1, 0) + at(1, 2)) - 4 * v;
  });
}

array adaptive_threshold(const array& x, integer size, double offset, local_mean by,
                         pad_mode mode) {
  constexpr const char* op = "adaptive_threshold";
  return named(op, [&] {
    check_window(size, op);
    if (std::isnan(offset)) base::fail<value_error>("{}: an offset of {}", op, offset);
    base::require_known(op, "mean", by, local_mean::gaussian);
    op::check_image(x, op);
    const array v = op::image_numbers(x, op);
    // The window extends to three deviations.
    const double deviation = static_cast<double>(std::int64_t{size} - 1) / 6;
    const array around = by == local_mean::box ? box_blur(v, size, size, mode)
                                               : gaussian_blur(v, deviation, 3, mode);
    return v > around - offset;
  });
}

array erode(const array& x, integer height, integer width) {
  return extremes(
      x, height, width, "erode", [](const array& a, const array& b) { return minimum(a, b); },
      [](const array& windows) { return min(windows, -1); });
}
array dilate(const array& x, integer height, integer width) {
  return extremes(
      x, height, width, "dilate", [](const array& a, const array& b) { return maximum(a, b); },
      [](const array& windows) { return max(windows, -1); });
}
array opening(const array& x, integer height, integer width) {
  return named("opening", [&] { return dilate(erode(x, height, width), height, width); });
}
array closing(const array& x, integer height, integer width) {
  return named("closing", [&] { return erode(dilate(x, height, width), height, width); });
}

}  // namespace tutti::image
