// SPDX-License-Identifier: Apache-2.0
//
// Positions of a pattern: correlations, and sums over windows from integral images.

#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/convolution.hpp"
#include "tutti/image/features.hpp"
#include "tutti/signal.hpp"

namespace tutti::image {

namespace {

// The sums over windows of height x width pixels of x [images, height, width, channels], over all
// channels: f64 [images, ..., ..., 1].
array window_sums(const array& x, std::int64_t height, std::int64_t width) {
  const array sums = integral_image(sum(x.astype(dtype::f64), {-1, true}));
  shape to = x.shape();
  to[1] -= height - 1;
  to[2] -= width - 1;
  to[3] = 1;
  const auto corner = [&](std::int64_t row, std::int64_t column) {
    return op::image_neighbours(sums, to, row, column);
  };
  return corner(height, width) - corner(0, width) - corner(height, 0) + corner(0, 0);
}

// Whether Fourier transforms are faster, by the estimate of convolve().
bool transforms_are_faster(const array& x, const array& pattern) {
  const auto extent = [](const array& a, int axis) { return static_cast<double>(a.dim(axis)); };
  const double h = extent(pattern, 0), w = extent(pattern, 1);
  const double products = (extent(x, 1) - h + 1) * (extent(x, 2) - w + 1) * h * w,
               points = (extent(x, 1) + h) * (extent(x, 2) + w);
  return products > 15 * points * std::log2(points);
}

// The sums of products of x [images, height, width, channels] with the pattern.
array correlation(const array& x, const array& pattern) {
  if (!transforms_are_faster(x, pattern))
    return conv2d(x, expand_dims(moveaxis(pattern, -1, 0), 0), {.order = channel_order::last});
  return sum(signal::correlate(x, expand_dims(pattern, 0),
                               {.mode = signal::convolution_mode::valid,
                                .method = signal::convolution_method::fourier,
                                .axes = {1, 2}}),
             {-1, true});
}

array squared_differences(const array& given, const array& pattern) {
  // Without the common mean, whose squares would reduce the precision.
  const array middle = stop_gradient(mean(pattern));
  const array x = given - middle, p = pattern - middle;
  const array squares = window_sums(square(x.astype(dtype::f64)), p.dim(0), p.dim(1)) +
                        sum(square(p.astype(dtype::f64)));
  return maximum(squares - 2 * correlation(x, p).astype(dtype::f64), 0);
}

array coefficients(const array& given, const array& pattern) {
  // The uncertainty of differences of sums over the image, and of the squares of a window.
  constexpr double of_window = 1e-12;
  const double of_image = 8 * std::numeric_limits<double>::epsilon() *
                          std::sqrt(static_cast<double>(given.dim(1) + given.dim(2)));
  const array x = given - stop_gradient(mean(given, {{1, 2, 3}, true}));
  const array centred = pattern - mean(pattern);
  const auto count = static_cast<double>(pattern.size());
  const array wide = x.astype(dtype::f64);
  const array sums = window_sums(wide, pattern.dim(0), pattern.dim(1)),
              squares = window_sums(square(wide), pattern.dim(0), pattern.dim(1));
  const array varied = squares - sums * sums / count;
  const array of_pattern = sum(square(centred.astype(dtype::f64)));
  const array pattern_squares = sum(square(pattern.astype(dtype::f64)));
  const array least = of_window * squares + of_image * sum(square(wide), {{1, 2, 3}, true});
  const array constant =
      stop_gradient((varied <= least) | (of_pattern <= of_window * pattern_squares));
  const array norms = sqrt(where(constant, 1, varied)) * sqrt(where(constant, 1, of_pattern));
  const array found = correlation(x, centred).astype(dtype::f64) / norms;
  return where(constant, 0, clip(found, -1, 1));
}

}  // namespace

array match_template(const array& x, const array& given, matching by) {
  constexpr const char* op = "match_template";
  return base::named(op, [&] {
    op::check_image(x, op);
    base::require_known(op, "matching", by, matching::coefficient);
    const dtype compute = op::image_compute_dtype(x, op);
    op::image_compute_dtype(given, op);
    const shape& pattern = given.shape();
    if (pattern.rank() != 3 || given.size() == 0 || pattern[2] != x.dim(-1) ||
        pattern[0] > x.dim(-3) || pattern[1] > x.dim(-2))
      base::fail<shape_error>("{}: a pattern {} in an image {}", op, pattern, x.shape());
    shape to = x.shape();
    to[to.rank() - 3] -= pattern[0] - 1;
    to[to.rank() - 2] -= pattern[1] - 1;
    to[to.rank() - 1] = 1;
    const dtype result = op::unrounded_dtype(x, compute);
    if (graph::checked_elements(to, result, op) == 0)
      return op::zeros_on(to, result, op::device_of(x), op);
    const array numbers = op::as_batch(op::cast(x, compute, op)),
                wanted = op::cast(given, compute, op);
    const array fit = by == matching::cross_correlation    ? correlation(numbers, wanted)
                      : by == matching::squared_difference ? squared_differences(numbers, wanted)
                                                           : coefficients(numbers, wanted);
    return op::cast(reshape(fit, to), result, op);
  });
}

}  // namespace tutti::image
