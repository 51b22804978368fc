// SPDX-License-Identifier: Apache-2.0
//
// Warps: where each pixel of the result lies in the image, and what is there.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/named_errors.hpp"
#include "op/image/images.hpp"
#include "tutti/error.hpp"
#include "tutti/image.hpp"

namespace tutti::image {

namespace {

// Places in the image, of each pixel of the result in row-major order.
struct places {
  array x, y;
};

void check(const warp_options& options, std::string_view op) {
  if (options.by > sampling::bilinear)
    throw value_error(
        fmt::format("{}: no sampling of number {}", op, static_cast<int>(options.by)));
  if (options.beyond > border::edge)
    throw value_error(
        fmt::format("{}: no border of number {}", op, static_cast<int>(options.beyond)));
}

// Where `extent` pixels may be asked for: one beyond each edge, which has the value. NaN is there.
array within(const array& at, std::int64_t extent, border beyond) {
  const bool edge = beyond == border::edge;
  const double low = edge ? 0 : -1, high = static_cast<double>(edge ? extent - 1 : extent);
  return clip(where(at == at, at, low), low, high);
}

// Pixels of x [rows, height * width, channels] in one of the corners around each place.
class corner_reader {
 public:
  corner_reader(const array& x, std::int64_t height, std::int64_t width, const array& value)
      : x_(x), height_(height), width_(width), value_(value) {}

  array at(const array& row, const array& column) const {
    const array y = astype(row, dtype::i64), x = astype(column, dtype::i64);
    const array index = clip(y, 0, height_ - 1) * width_ + clip(x, 0, width_ - 1);
    const array found = op::take_rows(x_, contiguous(index));
    const array inside = (y >= 0) & (y < height_) & (x >= 0) & (x < width_);
    return where(expand_dims(inside, -1), found, value_);
  }

 private:
  array x_;
  std::int64_t height_, width_;
  array value_;
};

array sampled(const array& x, std::int64_t height, std::int64_t width, const places& at,
              const warp_options& options, const array& value) {
  const corner_reader pixels(x, height, width, value);
  const array u = within(at.x, width, options.beyond), v = within(at.y, height, options.beyond);
  if (options.by == sampling::nearest) return pixels.at(floor(v + 0.5), floor(u + 0.5));
  const array left = stop_gradient(floor(u)), top = stop_gradient(floor(v));
  const array right_share = op::cast(expand_dims(u - left, -1), x.dtype(), "warp"),
              lower_share = op::cast(expand_dims(v - top, -1), x.dtype(), "warp");
  const array upper =
      pixels.at(top, left) * (1 - right_share) + pixels.at(top, left + 1) * right_share;
  const array lower =
      pixels.at(top + 1, left) * (1 - right_share) + pixels.at(top + 1, left + 1) * right_share;
  return upper * (1 - lower_share) + lower * lower_share;
}

bool is_integer_of(double value, dtype type) {
  constexpr double wide = 9007199254740992;
  return std::abs(value) <= wide && value == std::floor(value) &&
         op::holds(type, static_cast<std::int64_t>(value));
}

// The result of places(x', y') for each pixel, which are given as vectors.
template <class F>
array warped(const array& given, const warp_options& options, dtype of_places, std::string_view op,
             F&& places_of) {
  op::check_image(given, op);
  check(options, op);
  const bool is_nearest = options.by == sampling::nearest;
  const dtype type = op::type_of(given, op);
  const array numbers = is_nearest ? op::cast(given, type, op) : op::image_numbers(given, op);
  const std::int64_t height = given.dim(-3), width = given.dim(-2), channels = given.dim(-1);
  shape to = given.shape();
  const std::int64_t rows = options.height.value_or(height),
                     columns = options.width.value_or(width);
  to[to.rank() - 3] = rows;
  to[to.rank() - 2] = columns;
  if (graph::checked_elements(to, type, op) == 0)
    return op::zeros_on(to, type, given.node()->device, op);
  const std::int64_t pixels = height * width;
  if (pixels == 0)
    throw shape_error(fmt::format("{}: no pixels to take: {}", op, given.shape().str()));
  const dtype compute =
      of_places == dtype::f64 || numbers.dtype() == dtype::f64 ? dtype::f64 : dtype::f32;
  const std::int64_t count = graph::extent_product(rows, columns, op);
  const array place = graph::iota({count}, numbers.node()->device, op);
  const array x = astype(place % columns, compute),
              y = astype(floor_divide(place, columns), compute);
  const array flat =
      contiguous(reshape(numbers, {numbers.size() / (pixels * channels), pixels, channels}));
  if (is_integral(flat.dtype()) && !is_integer_of(options.value, flat.dtype()))
    throw value_error(
        fmt::format("{}: {} is no value of {}", op, options.value, name(flat.dtype())));
  const array value = op::cast(array(options.value), flat.dtype(), op);
  const array out =
      reshape(sampled(flat, height, width, places_of(x, y, compute), options, value), to);
  return is_nearest ? out : op::as_image_dtype(out, type, op);
}

array element(const array& m, int i, int j, dtype type, std::string_view op) {
  return op::cast(m({i, j}), type, op);
}

dtype matrix_dtype(const array& m, const shape& wanted, std::string_view op) {
  if (graph::get(m, op).extents != wanted)
    throw shape_error(
        fmt::format("{}: the matrix is {}, not {}", op, wanted.str(), m.shape().str()));
  return op::real_floating_type_of(m, op);
}

}  // namespace

array affine_warp(const array& x, const array& m, const warp_options& options) {
  constexpr const char* op = "affine_warp";
  return detail::named(op, [&] {
    const dtype of_matrix = matrix_dtype(m, {2, 3}, op);
    return warped(x, options, of_matrix, op,
                  [&](const array& column, const array& row, dtype type) {
                    const auto coordinate = [&](int i) {
                      return element(m, i, 0, type, op) * column +
                             element(m, i, 1, type, op) * row + element(m, i, 2, type, op);
                    };
                    return places{coordinate(0), coordinate(1)};
                  });
  });
}

array perspective_warp(const array& x, const array& m, const warp_options& options) {
  constexpr const char* op = "perspective_warp";
  return detail::named(op, [&] {
    const dtype of_matrix = matrix_dtype(m, {3, 3}, op);
    return warped(x, options, of_matrix, op,
                  [&](const array& column, const array& row, dtype type) {
                    const auto coordinate = [&](int i) {
                      return element(m, i, 0, type, op) * column +
                             element(m, i, 1, type, op) * row + element(m, i, 2, type, op);
                    };
                    const array depth = coordinate(2);
                    return places{coordinate(0) / depth, coordinate(1) / depth};
                  });
  });
}

array rotate(const array& x, double degrees, const warp_options& options) {
  op::check_image(x, "rotate");
  if (!std::isfinite(degrees))
    throw value_error(fmt::format("rotate: an angle of {} degrees", degrees));
  // Quarters of a turn are exact.
  const double turned = std::remainder(degrees, 360);
  const double angle = turned * std::numbers::pi / 180;
  const double c = std::abs(turned) == 90 ? 0 : std::cos(angle);
  const double s = std::abs(turned) == 180 ? 0 : std::sin(angle);
  const auto middle = [](std::int64_t extent) { return (static_cast<double>(extent) - 1) / 2; };
  const double x0 = middle(x.dim(-2)), y0 = middle(x.dim(-3)),
               x1 = middle(options.width.value_or(x.dim(-2))),
               y1 = middle(options.height.value_or(x.dim(-3)));
  // Rows go down, so that counter-clockwise is from x to -y.
  const std::vector<double> m = {c, -s, x0 - c * x1 + s * y1,  //
                                 s, c,  y0 - s * x1 - c * y1};
  const bool is_double = x.dtype() == dtype::f64;
  const array matrix =
      op::image_constants(x.device(), m, {2, 3}, is_double ? dtype::f64 : dtype::f32);
  return detail::named("rotate", [&] { return affine_warp(x, matrix, options); });
}

}  // namespace tutti::image
