// SPDX-License-Identifier: Apache-2.0
//
// Images of handwritten digits with their labels.
#include "common/mnist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <tutti/data.hpp>
#include <tutti/tutti.hpp>
#include <vector>

#include "common/data_files.hpp"

namespace samples {

using tutti::host_array;
namespace fs = std::filesystem;

namespace {

std::optional<fs::path> one_of(const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::error_code none;
    if (fs::is_regular_file(folder / name, none)) return folder / name;
  }
  return std::nullopt;
}

labelled_pictures checked(host_array pictures, const host_array& labels, const fs::path& from) {
  const tutti::shape& s = pictures.shape();
  if (s.rank() != 3 || pictures.dtype() != tutti::dtype::u8 ||
      labels.shape() != tutti::shape{s[0]} || labels.dtype() != tutti::dtype::u8 || s[0] == 0)
    throw tutti::io_error(fmt::format("{}: pictures of {} with labels of {} are not MNIST's",
                                      from.string(), s.str(), labels.shape().str()));
  const auto values = labels.values<std::uint8_t>();
  const auto beyond = std::find_if(values.begin(), values.end(), [](int v) { return v > 9; });
  if (beyond != values.end())
    throw tutti::io_error(fmt::format("{}: label {} of picture {} is no digit", from.string(),
                                      *beyond, beyond - values.begin()));
  const std::vector<std::int64_t> wide(values.begin(), values.end());
  return {std::move(pictures), host_array::from(wide, {s[0]})};
}

std::optional<labelled_pictures> read_idx_pair(const fs::path& folder, const std::string& part) {
  const std::string pictures = part + "-images-idx3-ubyte", labels = part + "-labels-idx1-ubyte";
  const auto x = one_of(folder, {pictures, pictures + ".gz"});
  const auto y = one_of(folder, {labels, labels + ".gz"});
  if (!x || !y) return std::nullopt;
  return checked(tutti::data::read_idx(*x), tutti::data::read_idx(*y), *x);
}

/// Rows of numbers: one column is the label, the others are the pixels of a square.
labelled_pictures from_rows(const tutti::io::table& rows, std::int64_t label, double scale,
                            const fs::path& from) {
  const std::int64_t pixels = rows.columns - 1;
  std::int64_t side = 1;
  while (side * side < pixels) ++side;
  if (side * side != pixels)
    throw tutti::io_error(fmt::format("{}: {} columns are no label and the pixels of a square",
                                      from.string(), rows.columns));
  std::vector<std::uint8_t> x, y;
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (std::int64_t c = 0; c < rows.columns; ++c) {
      const double v =
          rows.values[static_cast<std::size_t>(r * rows.columns + c)] * (c == label ? 1 : scale);
      if (!(v >= 0 && v <= 255))
        throw tutti::io_error(fmt::format("{}: row {}, column {}: {} is no pixel and no digit",
                                          from.string(), r + 1, c + 1, v));
      (c == label ? y : x).push_back(static_cast<std::uint8_t>(v));
    }
  return checked(host_array::from(x, {rows.rows, side, side}), host_array::from(y, {rows.rows}),
                 from);
}

std::optional<labelled_pictures> read_csv_part(const fs::path& folder, const std::string& name) {
  const auto file = one_of(folder, {name, name + ".gz"});
  if (!file) return std::nullopt;
  try {
    return from_rows(tutti::io::read_csv(*file), 0, 1, *file);
  } catch (const tutti::io_error&) {  // possibly a header
    return from_rows(tutti::io::read_csv(*file, {.skip_header = true}), 0, 1, *file);
  }
}

labelled_pictures rows_of(const labelled_pictures& all, const std::vector<std::int64_t>& indices) {
  const auto rows = tutti::data::rows_of({all.pictures, all.labels}).get_batch(indices);
  return {rows[0], rows[1]};
}

digit_pictures own_digits() {
  const fs::path file = find_data("digits.csv.gz", {});
  const tutti::io::table rows = tutti::io::read_csv(file);
  const labelled_pictures all = from_rows(rows, rows.columns - 1, 255.0 / 16, file);
  const auto split = tutti::data::train_test_split(rows.rows, 0.2, {1});
  return {rows_of(all, split.train), rows_of(all, split.test),
          "the 8 x 8 digits of the samples (scripts/get-data mnist fetches MNIST)"};
}

}  // namespace

std::optional<digit_pictures> find_mnist(const fs::path& folder) {
  for (const fs::path& place : data_places(folder, "mnist")) {
    auto training = read_idx_pair(place, "train"), test = read_idx_pair(place, "t10k");
    if (!training) training = read_csv_part(place, "mnist_train.csv");
    if (!test) test = read_csv_part(place, "mnist_test.csv");
    if (training && test) return digit_pictures{*training, *test, "MNIST in " + place.string()};
  }
  return std::nullopt;
}

digit_pictures load_digit_pictures(const fs::path& folder) {
  if (auto found = find_mnist(folder)) return *std::move(found);
  if (!folder.empty())
    throw tutti::io_error(fmt::format("{}: no {}", folder.string(), mnist_files));
  return own_digits();
}

}  // namespace samples
