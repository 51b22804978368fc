// SPDX-License-Identifier: Apache-2.0
//
// Edges and corners from derivatives.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "image/flooding.hpp"
#include "image/images.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image/features.hpp"

namespace tutti::image {

using base::named;

namespace {

// Values of a pixel, besides 0.
constexpr std::uint8_t weak_edge = 1, strong_edge = 2, walked_edge = 3;

// u8: 0, weak_edge or strong_edge.
array edge_classes(const array& smooth, double low, double high) {
  const array dx = sobel(smooth, direction::horizontal, pad_mode::edge),
              dy = sobel(smooth, direction::vertical, pad_mode::edge);
  // Squares of the derivatives of integers are exact, so that equal ones compare equal.
  const array length = dx * dx + dy * dy;
  const array wide = pad(length, {1, 1, 1, 1});
  const auto neighbour = [&](std::int64_t down, std::int64_t right) {
    return op::image_neighbours(wide, smooth.shape(), 1 + down, 1 + right);
  };
  const array level = (length > neighbour(0, -1)) & (length >= neighbour(0, 1)),
              upright = (length > neighbour(-1, 0)) & (length >= neighbour(1, 0)),
              falling = (length > neighbour(-1, -1)) & (length > neighbour(1, 1)),
              rising = (length > neighbour(-1, 1)) & (length > neighbour(1, -1));
  // Tangents of 22.5 and 67.5 degrees.
  const double flat = std::sqrt(2.0) - 1, steep = std::sqrt(2.0) + 1;
  const array across = abs(dx), down = abs(dy);
  const array same_sign = (dx < 0) == (dy < 0);
  const array peak =
      where(down < flat * across, level,
            where(down > steep * across, upright, where(same_sign, falling, rising)));
  const array counts = peak & (length > low * low), strong = counts & (length > high * high);
  return astype(counts, dtype::u8) + astype(strong, dtype::u8);
}

}  // namespace

array canny(const array& x, double low, double high, double deviation) {
  constexpr const char* op = "canny";
  return named(op, [&] {
    op::check_image(x, op);
    if (!(low >= 0) || !(low <= high))
      throw value_error(fmt::format("{}: thresholds of {} and {}", op, low, high));
    const array numbers = stop_gradient(op::image_numbers(x, op));
    const array smooth = gaussian_blur(numbers, deviation, 4, pad_mode::edge);
    if (x.size() == 0) return op::zeros_on(x.shape(), dtype::boolean, op::device_of(x));
    const auto pixels = static_cast<std::uint64_t>(x.size());
    detail::require_host_memory(op, pixels, sizeof(std::int64_t));
    std::vector<std::uint8_t> found = edge_classes(smooth, low, high).to_vector<std::uint8_t>();
    const op::image_extents extents(x.shape());
    std::vector<std::int64_t> waiting;
    for (std::int64_t start = 0; start < x.size(); ++start) {
      if (found[static_cast<std::size_t>(start)] != strong_edge) continue;
      found[static_cast<std::size_t>(start)] = walked_edge;
      op::flood(extents, start, connectivity::eight, waiting, [&](std::int64_t place) {
        std::uint8_t& of = found[static_cast<std::size_t>(place)];
        const bool joins = of == weak_edge || of == strong_edge;
        if (joins) of = walked_edge;
        return joins;
      });
    }
    for (std::uint8_t& of : found) of = of == walked_edge ? 1 : 0;
    return array::from_bytes(found.data(), found.size(), dtype::boolean, x.shape(), x.device());
  });
}

array harris_corners(const array& x, double k, double deviation, pad_mode mode) {
  constexpr const char* op = "harris_corners";
  return named(op, [&] {
    op::check_image(x, op);
    if (!std::isfinite(k)) throw value_error(fmt::format("{}: a k of {}", op, k));
    const array v = op::image_numbers(x, op);
    const array dx = sobel(v, direction::horizontal, mode),
                dy = sobel(v, direction::vertical, mode);
    const auto smooth = [&](const array& product) {
      return gaussian_blur(product, deviation, 4, mode);
    };
    const array xx = smooth(dx * dx), xy = smooth(dx * dy), yy = smooth(dy * dy);
    const array response = xx * yy - xy * xy - k * square(xx + yy);
    return op::cast(response, op::unrounded_dtype(x, v.dtype()), op);
  });
}

}  // namespace tutti::image
