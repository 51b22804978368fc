// SPDX-License-Identifier: Apache-2.0
//
// Histograms of images and functions of them; sums over rectangles.
#include <fmt/format.h>

#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/analysis.hpp"
#include "tutti/error.hpp"
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
  if (x.dtype() != dtype::u8)
    throw dtype_error(fmt::format("{}: the image is u8, not {}", op, name(x.dtype())));
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
    if (pixels == 0) throw shape_error(fmt::format("{}: no pixels: {}", op, x.shape().str()));
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
    if (pixels == 0) throw shape_error(fmt::format("{}: no pixels: {}", op, x.shape().str()));
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
      throw dtype_error(fmt::format("{}: images are of real numbers, not {}", op, name(type)));
    const array v = is_floating(type)        ? op::cast(x, dtype::f64, op)
                    : type == dtype::boolean ? op::cast(x, dtype::i64, op)
                                             : op::cast(x, type, op);
    const array sums = cumulative_sum(cumulative_sum(v, -2), -3);
    return pad(sums, {.top = 1, .left = 1});
  });
}

}  // namespace tutti::image
