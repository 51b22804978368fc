// SPDX-License-Identifier: Apache-2.0
//
// Histograms of images and functions of them; sums over rectangles.

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/analysis.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image/filters.hpp"
#include "tutti/sorting.hpp"

namespace tutti::image {

using base::named;

namespace {

// [..., channels, height * width].
array as_lines(const array& x) {
  shape extents = x.shape();
  const int rank = extents.rank();
  const std::int64_t pixels = extents[rank - 3] * extents[rank - 2], channels = extents[rank - 1];
  extents.erase(rank - 1);
  extents[rank - 3] = channels;
  extents[rank - 2] = pixels;
  return reshape(moveaxis(x, -1, -3), extents);
}

// The inverse, for an image with these extents.
array from_lines(const array& lines, const shape& extents) {
  shape split = lines.shape();
  const int rank = split.rank();
  split[rank - 1] = extents[rank - 2];
  split.push_back(extents[rank - 1]);
  return moveaxis(reshape(lines, split), -3, -1);
}

void check_bytes(const array& x, std::string_view op) {
  op::check_image(x, op);
  if (x.dtype() != dtype::u8) base::fail<dtype_error>("{}: the image is u8, not {}", op, x.dtype());
}

array byte_counts(const array& lines) { return histogram_along(lines, 256, -0.5, 255.5).counts; }

}  // namespace

array channel_histogram(const array& x, integer bins, double low, double high) {
  return named("channel_histogram", [&] {
    op::check_image(x, "channel_histogram");
    return histogram_along(as_lines(x), bins, low, high).counts;
  });
}

array otsu_threshold(const array& x) {
  constexpr const char* op = "otsu_threshold";
  return named(op, [&] {
    check_bytes(x, op);
    const std::int64_t pixels = x.dim(-3) * x.dim(-2);
    if (pixels == 0) base::fail<shape_error>("{}: no pixels: {}", op, x.shape());
    const array counts = byte_counts(as_lines(x));
    if (counts.size() == 0) {
      shape extents = counts.shape();
      extents.erase(extents.rank() - 1);
      return op::zeros_on(extents, dtype::u8, op::device_of(x));
    }
    // Sums of integers are exact; f64 represents them up to 2^53.
    const array value = arange(0, 256, 1, dtype::i64, x.device());
    const array below = cumulative_sum(counts, -1), sums = cumulative_sum(counts * value, -1);
    const auto number = [](const array& a) { return a.astype(dtype::f64); };
    const array n0 = number(below), n1 = static_cast<double>(pixels) - n0;
    const array all = number(sums({ellipsis(), {255, {}}}));
    const array s0 = number(sums), s1 = all - s0;
    const array parted = (n0 > 0) & (n1 > 0);
    const array difference = s0 / maximum(n0, 1) - s1 / maximum(n1, 1);
    const array between = where(parted, n0 * n1 * difference * difference, 0);
    return argmax(between, -1).astype(dtype::u8);
  });
}

array equalize(const array& x) {
  constexpr const char* op = "equalize";
  return named(op, [&]() -> array {
    check_bytes(x, op);
    const std::int64_t pixels = x.dim(-3) * x.dim(-2);
    if (pixels == 0) base::fail<shape_error>("{}: no pixels: {}", op, x.shape());
    if (x.size() == 0) return x;
    const array lines = as_lines(x);
    const array counts = byte_counts(lines);
    const array up_to = cumulative_sum(counts, -1);
    // The first that is not 0 is the count of the smallest value.
    const array least = min(where(up_to > 0, up_to, pixels), {-1, true});
    const array spread = maximum(pixels - least, 1).astype(dtype::f64);
    const array scaled = (up_to - least).astype(dtype::f64) * (255 / spread);
    const array same = broadcast_to(arange(0, 256, 1, dtype::f64, x.device()), counts.shape());
    const array table = where(least == pixels, same, round(maximum(scaled, 0))).astype(dtype::u8);
    return from_lines(take_along_axis(table, lines.astype(dtype::i64), -1), x.shape());
  });
}

array integral_image(const array& x) {
  constexpr const char* op = "integral_image";
  return named(op, [&] {
    op::check_image(x, op);
    const dtype type = op::type_of(x, op);
    if (is_complex(type))
      base::fail<dtype_error>("{}: images are of real numbers, not {}", op, type);
    const array v = is_floating(type)        ? op::cast(x, dtype::f64, op)
                    : type == dtype::boolean ? op::cast(x, dtype::i64, op)
                                             : op::cast(x, type, op);
    const array sums = cumulative_sum(cumulative_sum(v, -2), -3);
    return pad(sums, {.top = 1, .left = 1});
  });
}

namespace {

constexpr const char* clahe_name = "clahe";
constexpr std::int64_t levels = 256;

struct tiling {
  std::int64_t rows, columns;  // of tiles
  std::int64_t height, width;  // of one
  std::int64_t pixels() const { return height * width; }
};

// The i64 counts of the values, clipped at `limit` pixels; the excess is distributed over all
// values, and its remainder at regular distances, beginning with the first.
array clipped(const array& counts, std::int64_t limit) {
  const array kept = minimum(counts, limit);
  const array excess = sum(counts - kept, {-1, true});
  const array share = floor_divide(excess, levels), rest = excess - share * levels;
  const array step = maximum(floor_divide(array(levels), maximum(rest, 1)), 1);
  const array value = arange(0, levels, 1, dtype::i64, counts.device());
  const array extra = (value % step == 0) & (floor_divide(value, step) < rest);
  return kept + share + astype(extra, dtype::i64);
}

// f32 [1, images * rows * columns * channels * levels, 1]: the new value of each value in each tile
// of x [images, height, width, channels], whose extents are those of the tiles.
array tables(const array& x, const tiling& t, double clip_limit) {
  const std::int64_t images = x.dim(0), channels = x.dim(3);
  const array split = reshape(x, {images, t.rows, t.height, t.columns, t.width, channels});
  const array lines = reshape(transpose(split, {0, 1, 3, 5, 2, 4}),
                              {images, t.rows, t.columns, channels, t.pixels()});
  array counts = histogram_along(lines, levels, -0.5, 255.5).counts;
  const auto pixels = static_cast<double>(t.pixels());
  if (clip_limit > 0) {
    const double limit = std::min(clip_limit * pixels / static_cast<double>(levels), pixels);
    counts = clipped(counts, std::max<std::int64_t>(static_cast<std::int64_t>(limit), 1));
  }
  const float scale = 255.0f / static_cast<float>(pixels);
  const array up_to = cumulative_sum(counts, -1).astype(dtype::f32);
  const array becomes = minimum(round(up_to * scale), 255);
  return reshape(becomes, {1, becomes.size(), 1});
}

// For each position along an axis the tiles before and after it, and its distance from the former.
struct nearest_tiles {
  array before, behind, share;
};

nearest_tiles nearest_of(std::int64_t places, std::int64_t tiles, std::int64_t tile_extent,
                         const shape& column, const device& on) {
  const auto count = static_cast<std::uint64_t>(places);
  auto before = detail::host_vector<std::int64_t>(clahe_name, count), behind = before;
  auto share = detail::host_vector<float>(clahe_name, count);
  const float scale = 1.0f / static_cast<float>(tile_extent);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float at = static_cast<float>(i) * scale - 0.5f, whole = std::floor(at);
    const auto tile = static_cast<std::int64_t>(whole);
    share[i] = at - whole;
    before[i] = std::max<std::int64_t>(tile, 0);
    behind[i] = std::min(tile + 1, tiles - 1);
  }
  return {array::from(before, column, on), array::from(behind, column, on),
          array::from(share, column, on)};
}

}  // namespace

array clahe(const array& x, double clip_limit, integer tile_rows, integer tile_columns) {
  return base::named(clahe_name, [&]() -> array {
    op::check_image(x, clahe_name);
    if (x.dtype() != dtype::u8)
      base::fail<dtype_error>("{}: the image is u8, not {}", clahe_name, x.dtype());
    if (!(clip_limit >= 0)) base::fail<value_error>("{}: a limit of {}", clahe_name, clip_limit);
    const std::int64_t height = x.dim(-3), width = x.dim(-2), channels = x.dim(-1);
    tiling t{tile_rows, tile_columns, 0, 0};
    if (t.rows < 1 || t.columns < 1 || t.rows > height || t.columns > width)
      base::fail<value_error>("{}: {} x {} tiles of {}", clahe_name, t.rows, t.columns, x.shape());
    if (x.size() == 0) return x;
    t.height = (height + t.rows - 1) / t.rows;
    t.width = (width + t.columns - 1) / t.columns;
    const array images = op::as_batch(x);
    const array whole =
        pad(images, {.bottom = t.height * t.rows - height, .right = t.width * t.columns - width},
            pad_mode::reflect);
    const array table = tables(whole, t, clip_limit);
    const nearest_tiles down = nearest_of(height, t.rows, t.height, {height, 1, 1}, x.device()),
                        right = nearest_of(width, t.columns, t.width, {width, 1}, x.device());
    // Index at which the values of a pixel's channel begin in its tile's table.
    const array number = arange(images.dim(0), dtype::i64, x.device()),
                channel = arange(channels, dtype::i64, x.device());
    const array rows_before = reshape(number, {images.dim(0), 1, 1, 1}) * t.rows;
    const array value = images.astype(dtype::i64);
    const auto said_by = [&](const array& row, const array& column) {
      const array tile = (rows_before + row) * t.columns + column;
      const array place = (tile * channels + channel) * levels + value;
      return reshape(op::take_rows(table, reshape(contiguous(place), {place.size()})),
                     images.shape());
    };
    const auto along = [&](const array& row) {
      return said_by(row, right.before) * (1 - right.share) +
             said_by(row, right.behind) * right.share;
    };
    const array y = along(down.before) * (1 - down.share) + along(down.behind) * down.share;
    return reshape(op::as_image_dtype(y, dtype::u8, clahe_name), x.shape());
  });
}

}  // namespace tutti::image
