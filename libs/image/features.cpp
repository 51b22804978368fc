// SPDX-License-Identifier: Apache-2.0
//
// Edges and corners from derivatives. Histograms of the orientations of gradients, by cells and
// blocks of cells.
#include "tutti/image/features.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/flooding.hpp"
#include "image/images.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"

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
      base::fail<value_error>("{}: thresholds of {} and {}", op, low, high);
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
    if (!std::isfinite(k)) base::fail<value_error>("{}: a k of {}", op, k);
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

namespace {

constexpr const char* hog_name = "hog";

struct derivatives {
  array down, right;
};

// The differences of both neighbours along an axis, 0 at its ends.
array differences(const array& v, int axis) {
  const std::int64_t inside = v.dim(axis) - 2;
  if (inside < 1) return zeros_like(v);
  std::vector<pad_width> widths(4);
  widths[static_cast<std::size_t>(axis)] = {1, 1};
  return tutti::pad(op::slice_along(v, axis, 2, inside) - op::slice_along(v, axis, 0, inside),
                    widths);
}

// The longest gradient of each pixel of v [images, height, width, channels].
derivatives longest(const array& v) {
  const std::vector<array> down = unstack(differences(v, 1), -1),
                           right = unstack(differences(v, 2), -1);
  derivatives best{down[0], right[0]};
  for (std::size_t c = 1; c < down.size(); ++c) {
    const array longer =
        stop_gradient(square(down[c]) + square(right[c]) > square(best.down) + square(best.right));
    best = {where(longer, down[c], best.down), where(longer, right[c], best.right)};
  }
  return best;
}

// The bin of an orientation modulo 180 degrees.
array part_of(const derivatives& given, std::int64_t parts) {
  const array down = stop_gradient(given.down), right = stop_gradient(given.right);
  const array turned = (down < 0) | ((down == 0) & (right < 0));
  const array angle = atan2(where(turned, -down, down), where(turned, -right, right));
  const auto count = static_cast<double>(parts);
  return minimum(floor(angle * (count / std::numbers::pi)), count - 1);
}

// [images, rows of cells, columns of cells, orientations]: the means of the lengths in each bin.
array cell_histograms(const array& v, const hog_options& o, std::int64_t rows,
                      std::int64_t columns) {
  const std::int64_t high = o.cell.first, wide = o.cell.second;
  const derivatives d = longest(v);
  const auto by_cell = [&](const array& a) {
    const array pixels = crop(expand_dims(a, -1), 0, 0, rows * high, columns * wide);
    return reshape(pixels, {v.dim(0), 1, rows, high, columns, wide});
  };
  const array part = by_cell(part_of(d, o.orientations)), length = by_cell(hypot(d.down, d.right));
  const array each =
      reshape(arange(o.orientations, v.dtype(), v.device()), {o.orientations, 1, 1, 1, 1});
  // NaN is included in each bin.
  const array sums = sum(where((part < each) | (part > each), 0, length), {3, 5});
  return moveaxis(sums / static_cast<double>(high * wide), 1, -1);
}

array normalized(const array& block) {
  return block * rsqrt(sum(square(block), {{-3, -2, -1}, true}) + 1e-10);
}

void check_hog(const hog_options& o) {
  const auto [cell_height, cell_width] = o.cell;
  const auto [block_height, block_width] = o.block;
  if (std::min({o.orientations, cell_height, cell_width, block_height, block_width}) < 1)
    base::fail<value_error>("{}: {} orientations, cells of {} x {} pixels, blocks of {} x {}",
                            hog_name, o.orientations, cell_height, cell_width, block_height,
                            block_width);
}

}  // namespace

array hog(const array& x, const hog_options& options) {
  return base::named(hog_name, [&] {
    op::check_image(x, hog_name);
    check_hog(options);
    if (x.ndim() + 2 > max_rank)
      base::fail<shape_error>("{}: more than 6 axes: {}", hog_name, x.shape());
    const dtype compute = op::image_compute_dtype(x, hog_name);
    const std::int64_t rows = x.dim(-3) / options.cell.first,
                       columns = x.dim(-2) / options.cell.second;
    const auto [high, wide] = options.block;
    if (rows < high || columns < wide || x.dim(-1) == 0)
      base::fail<shape_error>("{}: {} has not the {} x {} cells of {} x {} pixels of a block",
                              hog_name, x.shape(), high, wide, options.cell.first,
                              options.cell.second);
    shape to = x.shape();
    to[to.rank() - 3] = rows - high + 1;
    to[to.rank() - 2] = columns - wide + 1;
    to[to.rank() - 1] = high;
    to.push_back(wide);
    to.push_back(options.orientations);
    const dtype result = op::unrounded_dtype(x, compute);
    if (graph::checked_elements(to, result, hog_name) == 0)
      return op::zeros_on(to, result, op::device_of(x), hog_name);
    const array cells =
        cell_histograms(op::as_batch(op::cast(x, compute, hog_name)), options, rows, columns);
    // [images, rows, columns, orientations, block height, block width].
    const array blocks = moveaxis(sliding_window_view(cells, {high, wide}, {1, 2}), 3, -1);
    return op::cast(reshape(normalized(minimum(normalized(blocks), 0.2)), to), result, hog_name);
  });
}

}  // namespace tutti::image
