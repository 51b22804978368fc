// SPDX-License-Identifier: Apache-2.0
//
// The data path of the digits sample: reading, splitting, standardising.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tutti/error.hpp>
#include <tutti/ops.hpp>

#include "digits/data.hpp"
#include "tutti_test/data.hpp"
#include "tutti_test/fails.hpp"
#include "tutti_test/paths.hpp"

using tutti_test::fails;

namespace {

digits::images real() {
  return digits::load(tutti_test::data(tutti_test::paths::sample_data) / "digits.csv.gz");
}

std::string row(const std::string& pixel, const std::string& label) {
  std::string out;
  for (int i = 0; i < 64; ++i) out += (i == 5 ? pixel : "1") + ",";
  return out + label + "\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_the_1797_digits) {
  const digits::images all = real();
  BOOST_TEST(all.count() == 1797);
  BOOST_TEST(all.pixels.size() == 1797u * 64);
  // Numbers of each digit, as the description of the data set gives them.
  const std::vector<std::int64_t> expected{178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (int digit = 0; digit < 10; ++digit) {
    BOOST_TEST(std::count(all.labels.begin(), all.labels.end(), digit) ==
               expected[static_cast<std::size_t>(digit)]);
  }
}

BOOST_AUTO_TEST_CASE(refuses_other_tables) {
  const tutti_test::temporary_folder folder;
  const auto loading = [&](const std::string& text) {
    return [path = folder.write("d.csv", text)] { digits::load(path); };
  };
  BOOST_CHECK_NO_THROW(loading(row("16", "9"))());
  BOOST_TEST(fails<tutti::io_error>(loading("1,2\n"), "2 columns"));
  BOOST_TEST(fails<tutti::io_error>(loading(row("17", "1")), "row 1: pixel 6 is 17"));
  BOOST_TEST(fails<tutti::io_error>(loading(row("nan", "1")), "pixel 6 is nan"));
  BOOST_TEST(fails<tutti::io_error>(loading(row("1", "1") + row("1", "10")), "row 2: label 10"));
  BOOST_TEST(fails<tutti::io_error>(loading(row("1", "2.5")), "label 2.5"));
  BOOST_TEST(fails<tutti::io_error>(loading(row("1", "-1")), "label -1"));
}

BOOST_AUTO_TEST_CASE(every_image_lands_in_one_part) {
  const digits::images all = real();
  const digits::parts data = digits::split(all, 0.2, {3}, tutti::default_device());
  BOOST_TEST(data.test.y.size() == 359);
  BOOST_TEST(data.training.y.size() == 1797 - 359);
  auto labels = data.training.y.to_vector<std::int32_t>();
  const auto test_labels = data.test.y.to_vector<std::int32_t>();
  BOOST_TEST_REQUIRE(data.test_rows.size() == test_labels.size());
  for (std::size_t i = 0; i < test_labels.size(); ++i)
    BOOST_TEST(all.labels[static_cast<std::size_t>(data.test_rows[i])] == test_labels[i]);
  labels.insert(labels.end(), test_labels.begin(), test_labels.end());
  auto expected = all.labels;
  BOOST_CHECK(labels != expected);
  std::sort(labels.begin(), labels.end());
  std::sort(expected.begin(), expected.end());
  BOOST_CHECK(labels == expected);
  const digits::parts same = digits::split(all, 0.2, {3}, tutti::default_device());
  BOOST_CHECK(same.test.y.to_vector<std::int32_t>() == test_labels);
  const digits::parts other = digits::split(all, 0.2, {4}, tutti::default_device());
  BOOST_CHECK(other.test.y.to_vector<std::int32_t>() != test_labels);
}

// Zero mean and unit deviation in the training part, and only there.
BOOST_AUTO_TEST_CASE(standardises_with_the_training_part_alone) {
  const digits::images all = real();
  const digits::parts data = digits::split(all, 0.2, {3}, tutti::default_device());
  const tutti::array& x = data.training.x;
  BOOST_TEST(tutti::max(tutti::abs(tutti::mean(x, 0))).item() < 1e-4);
  for (const float variance : tutti::var(x, 0).to_vector<float>())
    BOOST_TEST((variance == 0 || std::abs(std::sqrt(variance) - 1) < 1e-4));
  const auto test = data.test.x.to_vector<float>();
  BOOST_CHECK(std::all_of(test.begin(), test.end(), [](float v) { return std::isfinite(v); }));
  BOOST_TEST(tutti::mean(data.test.x).item() != 0);
}

BOOST_AUTO_TEST_CASE(refuses_empty_parts) {
  const digits::images all = real();
  for (const double share : {0.0, 1.0, 0.0001}) {
    FAILS(value_error, digits::split(all, share, {1}, tutti::default_device()), "empty");
  }
}
