// SPDX-License-Identifier: Apache-2.0
//
// Images of 12 million pixels: resize, blur, derivatives and rotation, compared with OpenCV on all
// cores in the Python of TUTTI_BENCH_PYTHON (python3), and with a copy of the input and output
// bytes.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numbers>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/image/filters.hpp"

namespace tutti::bench {
namespace {

constexpr std::int64_t height = 3000, width = 4000, channels = 3;
constexpr std::int64_t elements = height * width * channels;
constexpr double deviation = 1.5, angle = 10;
constexpr std::int64_t radius = 6;  // four deviations

struct picture {
  std::vector<float> a;
  array x, y;

  // Mirrors at the edges.
  double at(std::int64_t row, std::int64_t column, std::int64_t channel) const {
    const auto inside = [](std::int64_t place, std::int64_t extent) {
      place = std::abs(place);
      return place < extent ? place : 2 * (extent - 1) - place;
    };
    const std::int64_t place =
        (inside(row, height) * width + inside(column, width)) * channels + channel;
    return static_cast<double>(a[static_cast<std::size_t>(place)]);
  }
};

using expected_pixel = std::function<double(const picture&, std::int64_t row, std::int64_t column,
                                            std::int64_t channel)>;

// Checks pixels spread over the result, including the corners.
std::string check(const picture& p, const expected_pixel& expected, double tolerance) {
  const std::vector<float> y = p.y.to_vector<float>();
  const std::int64_t rows = p.y.dim(0), columns = p.y.dim(1);
  std::vector<float> got, wanted;
  for (std::int64_t i = 0; i <= 40; ++i)
    for (std::int64_t j = 0; j <= 40; ++j) {
      const std::int64_t row = i * (rows - 1) / 40, column = j * (columns - 1) / 40,
                         channel = (i + j) % channels;
      got.push_back(y[static_cast<std::size_t>((row * columns + column) * channels + channel)]);
      wanted.push_back(static_cast<float>(expected(p, row, column, channel)));
    }
  return compare(got, wanted, tolerance);
}

workload of_picture(std::function<array(const array&)> work, expected_pixel expected,
                    double tolerance) {
  auto p = std::make_shared<picture>();
  p->a = operand<float>(static_cast<std::size_t>(elements), 9);
  p->x = array::from(p->a, {height, width, channels}).wait();
  return {.ours = [=] { p->y = work(p->x).wait(); },
          .check = [=] { return check(*p, expected, tolerance); }};
}

double half(const picture& p, std::int64_t row, std::int64_t column, std::int64_t channel) {
  double sum = 0;
  for (const std::int64_t i : {0, 1})
    for (const std::int64_t j : {0, 1}) sum += p.at(2 * row + i, 2 * column + j, channel);
  return sum / 4;
}

double blurred(const picture& p, std::int64_t row, std::int64_t column, std::int64_t channel) {
  double sum = 0, all = 0;
  for (std::int64_t i = -radius; i <= radius; ++i)
    for (std::int64_t j = -radius; j <= radius; ++j) {
      const double weight =
          std::exp(-static_cast<double>(i * i + j * j) / (2 * deviation * deviation));
      sum += weight * p.at(row + i, column + j, channel);
      all += weight;
    }
  return sum / all;
}

double derived(const picture& p, std::int64_t row, std::int64_t column, std::int64_t channel) {
  double sum = 0;
  for (const std::int64_t i : {-1, 0, 1})
    sum += static_cast<double>(2 - i * i) *
           (p.at(row + i, column + 1, channel) - p.at(row + i, column - 1, channel));
  return sum;
}

}  // namespace

void add_image_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, const char* peer, std::int64_t results,
                       std::function<array(const array&)> work, expected_pixel expected,
                       double tolerance) {
    cases.push_back({.name = name,
                     .unit = "GB/s",
                     .amount = static_cast<double>(4 * (elements + results)),
                     .bound = floor_kind::copy,
                     .bound_elements = elements,
                     .peer = "OpenCV",
                     .make = [=] { return of_picture(work, expected, tolerance); },
                     .python = peer,
                     .at_least_of_peer = 1});
  };
  add(
      "resize of 4000x3000x3 f32 to half, area", "resize", elements / 4,
      [](const array& x) { return image::resize(x, height / 2, width / 2, image::filter::area); },
      half, 1e-6);
  add(
      "gaussian_blur of 4000x3000x3 f32, deviation 1.5", "gaussian_blur", elements,
      [](const array& x) { return image::gaussian_blur(x, deviation); }, blurred, 1e-5);
  add(
      "sobel of 4000x3000x3 f32", "sobel", elements,
      [](const array& x) { return image::sobel(x, image::direction::horizontal); }, derived, 1e-5);
  add(
      "rotate of 4000x3000x3 f32, bilinear", "rotate", elements,
      [](const array& x) { return image::rotate(x, angle); },
      [](const picture& p, std::int64_t row, std::int64_t column, std::int64_t channel) {
        const double turn = angle * std::numbers::pi / 180;
        const double right = static_cast<double>(column) - (width - 1) / 2.0,
                     down = static_cast<double>(row) - (height - 1) / 2.0;
        const double u = std::cos(turn) * right - std::sin(turn) * down + (width - 1) / 2.0,
                     v = std::sin(turn) * right + std::cos(turn) * down + (height - 1) / 2.0;
        double sum = 0;
        const auto left = static_cast<std::int64_t>(std::floor(u)),
                   top = static_cast<std::int64_t>(std::floor(v));
        for (const std::int64_t i : {top, top + 1})
          for (const std::int64_t j : {left, left + 1})
            if (i >= 0 && i < height && j >= 0 && j < width)
              sum += (1 - std::abs(v - static_cast<double>(i))) *
                     (1 - std::abs(u - static_cast<double>(j))) * p.at(i, j, channel);
        return sum;
      },
      // Coordinates up to 4000 have four decimal places in f32.
      5e-3);
}

}  // namespace tutti::bench
