// SPDX-License-Identifier: Apache-2.0
//
// The digits: reads the table and creates standardised training and test parts on a device.
#include "digits/data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <tutti/data/io.hpp>
#include <tutti/error.hpp>
#include <tutti/ops.hpp>

namespace digits {

images load(const std::filesystem::path& path) {
  const tutti::io::table table = tutti::io::read_csv(path);
  if (table.columns != pixels + 1) {
    throw tutti::io_error(fmt::format("digits: {}: {} columns, expected {} pixels and a label",
                                      path.string(), table.columns, pixels));
  }
  images out;
  out.pixels.reserve(static_cast<std::size_t>(table.rows * pixels));
  for (std::int64_t row = 0; row < table.rows; ++row) {
    for (std::int64_t column = 0; column < pixels; ++column) {
      const double value = table(row, column);
      if (!(value >= 0 && value <= 16)) {
        throw tutti::io_error(fmt::format("digits: {}: row {}: pixel {} is {}, not in 0 to 16",
                                          path.string(), row + 1, column + 1, value));
      }
      out.pixels.push_back(static_cast<float>(value));
    }
    const double label = table(row, pixels);
    if (!(label >= 0 && label < classes) || label != std::floor(label)) {
      throw tutti::io_error(fmt::format("digits: {}: row {}: label {} is not a digit",
                                        path.string(), row + 1, label));
    }
    out.labels.push_back(static_cast<std::int32_t>(label));
  }
  return out;
}

namespace {

part gather(const images& all, std::span<const std::int64_t> rows, const tutti::device& on) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  x.reserve(rows.size() * pixels);
  for (const std::int64_t row : rows) {
    const auto* image = all.pixels.data() + row * pixels;
    x.insert(x.end(), image, image + pixels);
    y.push_back(all.labels[static_cast<std::size_t>(row)]);
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  return {tutti::array::from(x, {count, pixels}, on), tutti::array::from(y, on)};
}

}  // namespace

parts split(const images& all, double test_share, tutti::random::key key, const tutti::device& on) {
  const auto test_count =
      static_cast<std::int64_t>(std::llround(test_share * static_cast<double>(all.count())));
  if (test_count < 1 || test_count >= all.count()) {
    throw tutti::value_error(fmt::format(
        "digits: a test share of {} leaves a part of {} images empty", test_share, all.count()));
  }
  const std::vector<std::int64_t> order = tutti::random::permutation(key, all.count());
  const auto rows = std::span(order);
  const auto test_rows = rows.first(static_cast<std::size_t>(test_count));
  parts out{gather(all, rows.subspan(test_rows.size()), on),
            gather(all, test_rows, on),
            {test_rows.begin(), test_rows.end()}};

  const tutti::array center = mean(out.training.x, 0);
  const tutti::array deviation = sqrt(var(out.training.x, 0));
  const tutti::array scale = where(deviation > 1e-6, deviation, 1);
  out.training.x = (out.training.x - center) / scale;
  out.test.x = (out.test.x - center) / scale;
  tutti::eval({out.training.x, out.test.x});
  return out;
}

}  // namespace digits
