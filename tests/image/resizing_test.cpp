// SPDX-License-Identifier: Apache-2.0
//
// resize() by ratios at which its weights repeat themselves, and near them, against sums that are
// made place by place from what the header says.
#include <numbers>

#include "tutti/image.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace image = tutti::image;
using image::filter;

double weight(filter by, double t) {
  t = std::abs(t);
  const auto sinc = [](double a) {
    return a == 0 ? 1 : std::sin(std::numbers::pi * a) / (std::numbers::pi * a);
  };
  if (by == filter::bilinear) return t < 1 ? 1 - t : 0;
  if (by == filter::lanczos) return t < 3 ? sinc(t) * sinc(t / 3) : 0;
  if (t >= 2) return 0;
  return t < 1 ? 1.5 * t * t * t - 2.5 * t * t + 1 : -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2;
}

// A matrix [size, extent] of all weights.
dense weights(filter by, std::int64_t size, std::int64_t extent) {
  const double scale = static_cast<double>(extent) / static_cast<double>(size);
  dense m = tabulate({size, extent}, [&](const position& p) {
    const double from = static_cast<double>(p[0]) * scale, pixel = static_cast<double>(p[1]);
    if (by == filter::area)
      return std::max(std::min(from + scale, pixel + 1) - std::max(from, pixel), 0.0);
    return weight(by, (pixel + 0.5 - from - scale / 2) / std::max(scale, 1.0));
  });
  for (std::size_t row = 0; row < m.values.size(); row += static_cast<std::size_t>(extent)) {
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(extent); ++i) sum += m.values[row + i];
    for (std::size_t i = 0; i < static_cast<std::size_t>(extent); ++i) m.values[row + i] /= sum;
  }
  return m;
}

}  // namespace

BOOST_AUTO_TEST_CASE(simple_ratios) {
  const std::int64_t height = 48, width = 36;
  const array x = upload_as<double>(random_dense({height, width, 3}, -1, 1, 81));
  for (const auto by : {filter::bilinear, filter::bicubic, filter::lanczos, filter::area})
    for (const auto& [rows, columns] :
         {std::pair{24, 12}, {16, 72}, {96, 54}, {36, 27}, {64, 108}, {47, 35}, {144, 1}}) {
      BOOST_TEST_CONTEXT("filter " << static_cast<int>(by) << " to " << rows << " x " << columns) {
        const array down = upload_as<double>(weights(by, rows, height)),
                    right = upload_as<double>(weights(by, columns, width));
        const array flat = tutti::reshape(x, {height, width * 3});
        const array tall = tutti::reshape(tutti::matmul(down, flat), {rows, width, 3});
        const array expected = tutti::matmul(right, tall);
        const array y = image::resize(x, rows, columns, by);
        BOOST_TEST(largest_difference(y, expected) < 1e-13);
        // Views, batches and bytes go the same way.
        const array view = tutti::flip(x, {0, 1});
        const array turned = tutti::flip(image::resize(view, rows, columns, by), {0, 1});
        BOOST_TEST(largest_difference(turned, y) < 1e-13);
      }
    }
  const array pair = tutti::stack({x, -x});
  BOOST_TEST(
      tutti::max(tutti::abs(image::resize(pair, 24, 54)({1}) + image::resize(x, 24, 54))).item() <
      1e-13);
  const array bytes = tutti::round(tutti::abs(x) * 200);
  const array exact = image::resize(bytes, 24, 18);
  BOOST_TEST(tutti::max(tutti::abs(image::resize(bytes.astype(dtype::u8), 24, 18) - exact)).item() <
             0.5001);
}
