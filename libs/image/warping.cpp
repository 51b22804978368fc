// SPDX-License-Identifier: Apache-2.0
//
// Warps: the position of each pixel of the result in the image, and its value.

#include <cmath>
#include <limits>
#include <numbers>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/image/basics.hpp"

namespace tutti::image {

namespace {

// Positions in the image, for each row and column of the result.
struct places {
  array x, y;
};

void check(const warp_options& options, std::string_view op) {
  base::require_known(op, "sampling", options.by, sampling::bilinear);
  base::require_known(op, "border", options.beyond, border::edge);
}

// Limits positions for `extent` pixels to one beyond each edge, which has the border value. NaN is
// outside.
array within(const array& at, std::int64_t extent, border beyond) {
  const bool edge = beyond == border::edge;
  const double low = edge ? 0 : -1, high = static_cast<double>(edge ? extent - 1 : extent);
  return clip(where(at == at, at, low), low, high);
}

// x [images, height, width, channels] with its surroundings as far as positions reach, so that
// positions need no further checks.
class bordered_image {
 public:
  bordered_image(const array& x, border beyond, const array& value) {
    const bool edge = beyond == border::edge;
    before_ = edge ? 0 : 1;
    // One more, because bilinear sampling also reads the next pixel.
    const std::int64_t after = edge ? 1 : 2;
    const array wide =
        pad(x, {before_, after, before_, after}, edge ? pad_mode::edge : pad_mode::constant, value);
    width_ = wide.dim(2);
    pixels_ = reshape(wide, {wide.dim(0), wide.dim(1) * width_, wide.dim(3)});
    index_ = op::holds(dtype::i32, pixels_.dim(1)) ? dtype::i32 : dtype::i64;
  }

  // The index of the pixel at a row and a column, floats within the borders.
  array place(const array& row, const array& column) const {
    return (astype(row, index_) + before_) * width_ + (astype(column, index_) + before_);
  }
  // The pixels this many rows below and columns right of positions [rows, columns]: [images, rows,
  // columns, channels].
  array at(const array& place, std::int64_t down = 0, std::int64_t right = 0) const {
    const std::int64_t further = down * width_ + right;
    const array index = contiguous(further == 0 ? place : place + further);
    const array found = op::take_rows(pixels_, reshape(index, {index.size()}));
    return reshape(found, {found.dim(0), place.dim(0), place.dim(1), found.dim(2)});
  }

 private:
  std::int64_t before_, width_;
  array pixels_;
  dtype index_;
};

array sampled(const array& x, const places& at, const warp_options& options, const array& value) {
  const bordered_image source(x, options.beyond, value);
  const array u = within(at.x, x.dim(2), options.beyond),
              v = within(at.y, x.dim(1), options.beyond);
  if (options.by == sampling::nearest)
    return source.at(source.place(floor(v + 0.5), floor(u + 0.5)));
  const array left = stop_gradient(floor(u)), top = stop_gradient(floor(v));
  const array right_share = op::cast(expand_dims(u - left, -1), x.dtype(), "warp"),
              lower_share = op::cast(expand_dims(v - top, -1), x.dtype(), "warp");
  const array place = source.place(top, left);
  const array upper = source.at(place) * (1 - right_share) + source.at(place, 0, 1) * right_share;
  const array lower =
      source.at(place, 1, 0) * (1 - right_share) + source.at(place, 1, 1) * right_share;
  return upper * (1 - lower_share) + lower * lower_share;
}

bool is_integer_of(double value, dtype type) {
  constexpr double wide = 9007199254740992;
  return std::abs(value) <= wide && value == std::floor(value) &&
         op::holds(type, static_cast<std::int64_t>(value));
}

// The result of places(x', y') for each pixel, given as a row and a column.
template <class F>
array warped(const array& given, const warp_options& options, dtype of_places, std::string_view op,
             F&& places_of) {
  op::check_image(given, op);
  check(options, op);
  const bool is_nearest = options.by == sampling::nearest;
  const dtype type = op::type_of(given, op);
  const array numbers = is_nearest ? op::cast(given, type, op) : op::image_numbers(given, op);
  const std::int64_t height = given.dim(-3), width = given.dim(-2);
  shape to = given.shape();
  const std::int64_t rows = options.height.value_or(height),
                     columns = options.width.value_or(width);
  to[to.rank() - 3] = rows;
  to[to.rank() - 2] = columns;
  if (graph::checked_elements(to, type, op) == 0)
    return op::zeros_on(to, type, op::device_of(given), op);
  if (height == 0 || width == 0)
    base::fail<shape_error>("{}: no pixels to take: {}", op, given.shape());
  const dtype compute =
      of_places == dtype::f64 || numbers.dtype() == dtype::f64 ? dtype::f64 : dtype::f32;
  // For each column and each row: no division is needed to compute positions.
  const auto numbered = [&](const shape& along) {
    return astype(graph::iota(along, op::device_of(numbers), op), compute);
  };
  const array x = numbered({columns}), y = numbered({rows, 1});
  const dtype stored = numbers.dtype();
  if (is_integral(stored) && !is_integer_of(options.value, stored))
    base::fail<value_error>("{}: {} is no value of {}", op, options.value, stored);
  const array value = op::cast(array(options.value), stored, op);
  const array out =
      reshape(sampled(op::as_batch(numbers), places_of(x, y, compute), options, value), to);
  return is_nearest ? out : op::as_image_dtype(out, type, op);
}

array element(const array& m, int i, int j, dtype type, std::string_view op) {
  return op::cast(m({i, j}), type, op);
}

dtype matrix_dtype(const array& m, const shape& wanted, std::string_view op) {
  if (op::extents_of(m, op) != wanted)
    base::fail<shape_error>("{}: the matrix is {}, not {}", op, wanted, m.shape());
  return op::real_floating_type_of(m, op);
}

// With m [rows, 3]: the third row, if there is one, gives the divisor of both coordinates.
array warped_by(const array& x, const array& m, int rows, const warp_options& options,
                const char* op) {
  return base::named(op, [&] {
    const dtype of_matrix = matrix_dtype(m, {rows, 3}, op);
    return warped(x, options, of_matrix, op,
                  [&](const array& column, const array& row, dtype type) {
                    const auto coordinate = [&](int i) {
                      return element(m, i, 0, type, op) * column +
                             (element(m, i, 1, type, op) * row + element(m, i, 2, type, op));
                    };
                    if (rows == 2) return places{coordinate(0), coordinate(1)};
                    const array depth = coordinate(2);
                    return places{coordinate(0) / depth, coordinate(1) / depth};
                  });
  });
}

}  // namespace

array affine_warp(const array& x, const array& m, const warp_options& options) {
  return warped_by(x, m, 2, options, "affine_warp");
}

array perspective_warp(const array& x, const array& m, const warp_options& options) {
  return warped_by(x, m, 3, options, "perspective_warp");
}

array rotate(const array& x, double degrees, const warp_options& options) {
  op::check_image(x, "rotate");
  if (!std::isfinite(degrees)) base::fail<value_error>("rotate: an angle of {} degrees", degrees);
  // Quarter turns are exact.
  const double turned = std::remainder(degrees, 360);
  const double angle = turned * std::numbers::pi / 180;
  const double c = std::abs(turned) == 90 ? 0 : std::cos(angle);
  const double s = std::abs(turned) == 180 ? 0 : std::sin(angle);
  const auto middle = [](std::int64_t extent) { return (static_cast<double>(extent) - 1) / 2; };
  const double x0 = middle(x.dim(-2)), y0 = middle(x.dim(-3)),
               x1 = middle(options.width.value_or(x.dim(-2))),
               y1 = middle(options.height.value_or(x.dim(-3)));
  // Rows go down, so counter-clockwise is from x to -y.
  const std::vector<double> m = {c, -s, x0 - c * x1 + s * y1,  //
                                 s, c,  y0 - s * x1 - c * y1};
  const bool is_double = x.dtype() == dtype::f64;
  const array matrix = op::numbers_on(x.device(), m, {2, 3}, is_double ? dtype::f64 : dtype::f32);
  return base::named("rotate", [&] { return affine_warp(x, matrix, options); });
}

}  // namespace tutti::image
