// SPDX-License-Identifier: Apache-2.0
#include "common/pictures.hpp"

#include <algorithm>
#include <cstdlib>
#include <numbers>
#include <random>
#include <tutti/data.hpp>
#include <tutti/tutti.hpp>

namespace samples {

using tutti::array;
using tutti::dtype;

namespace {

tutti::host_array draw(std::uint64_t seed, std::int64_t index) {
  std::mt19937 random(static_cast<std::uint32_t>(seed * 7919 + static_cast<std::uint64_t>(index)));
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int height = 48 + up_to(32), width = 48 + up_to(32), r = 12 + up_to(10);
  const int middle_y = r + up_to(height - 2 * r), middle_x = r + up_to(width - 2 * r);
  const int ink = 150 + up_to(90), paper = 20 + up_to(90), tint = up_to(3);
  tutti::host_array out(dtype::u8, {height, width, 3});
  auto channel = out.values<std::uint8_t>().begin();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int dy = y - middle_y, dx = x - middle_x;
      const int most = std::max(std::abs(dy), std::abs(dx));
      const int least = std::min(std::abs(dy), std::abs(dx));
      const bool inside[] = {dy * dy + dx * dx < r * r, most < r * 4 / 5,
                             std::abs(dy) < r && 2 * std::abs(dx) < dy + r,
                             most < r && least < r / 4};
      for (int c = 0; c < 3; ++c)
        *channel++ = static_cast<std::uint8_t>((inside[index % 4] ? ink : paper) + up_to(12) -
                                               (c == tint ? 20 : 0));
    }
  return out;
}

}  // namespace

tutti::data::dataset drawn_shapes(std::int64_t count, std::uint64_t seed) {
  return {.size = count, .get = [seed](std::int64_t index, tutti::random::key) {
            return tutti::data::item{draw(seed, index), tutti::host_array::scalar(index % 4)};
          }};
}

array contact_sheet(const array& pictures, std::int64_t rows, std::int64_t columns) {
  const std::int64_t count = std::min(rows * columns, pictures.dim(0));
  columns = std::min(columns, count);
  rows = (count + columns - 1) / columns;
  const std::int64_t height = pictures.dim(1), width = pictures.dim(2), channels = pictures.dim(3);
  const array rest = tutti::zeros({rows * columns - count, height, width, channels},
                                  pictures.dtype(), pictures.device());
  return tutti::concatenate({pictures({{0, count}}), rest}, 0)
      .reshape({rows, columns, height, width, channels})
      .transpose({0, 2, 1, 3, 4})
      .reshape({rows * height, columns * width, channels});
}

array hog_strokes(const array& features) {
  const std::int64_t parts = features.dim(5), side = 8;
  const auto numbers = [&](std::int64_t n, double first, const tutti::shape& extents) {
    const array from_0 = tutti::arange(0.0, double(n), 1.0, dtype::f32, features.device());
    return (from_0 + first).reshape(extents);
  };
  // An edge is perpendicular to its gradients.
  const array angle = numbers(parts, 0.5, {parts, 1, 1}) * (std::numbers::pi / double(parts));
  const array x = numbers(side, -3.5, {1, 1, side}), y = numbers(side, -3.5, {1, side, 1});
  const array stroke = (abs(x * cos(angle) + y * sin(angle)) < 0.6).astype(dtype::f32);
  const array cells = features({{}, {}, {}, 0, 0}).astype(dtype::f32);
  const array drawn = tutti::einsum("nrco,oyx->nrycx", {cells, stroke});
  return tutti::clip(drawn, 0, 255)
      .astype(dtype::u8)
      .reshape({features.dim(0), side * features.dim(1), side * features.dim(2), 1});
}

}  // namespace samples
