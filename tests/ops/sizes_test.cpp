// SPDX-License-Identifier: Apache-2.0
//
// Sums of 10^8 numbers, to a relative error of 1e-6; what a device says to an array that it cannot
// hold; spaces of more than 2^31 points over little memory.
#include "tutti_test/arrays.hpp"

namespace {

constexpr std::int64_t rows = 10000, columns = 10000;

// Numbers in [low, low + 1) from 24 random bits (Weyl's sequence, mixed as in splitmix64), which
// f32 holds exactly where low is 0 and rounds otherwise.
struct numbers {
  std::vector<float> values;
  long double sum = 0, absolute = 0;
  std::vector<double> by_column;

  explicit numbers(float low) : values(rows * columns), by_column(columns) {
    std::uint64_t state = tutti_test::seed();
    for (std::int64_t r = 0; r < rows; ++r) {
      double row = 0, sizes = 0;  // exact to 1e-12, and far faster than long double
      for (std::int64_t c = 0; c < columns; ++c) {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        const float v = low + static_cast<float>(z >> 40) * 0x1p-24f;
        values[static_cast<std::size_t>(r * columns + c)] = v;
        row += static_cast<double>(v);
        sizes += std::fabs(static_cast<double>(v));
        by_column[static_cast<std::size_t>(c)] += static_cast<double>(v);
      }
      sum += row;
      absolute += sizes;
    }
  }
};

double relative_error(double got, long double expected) {
  return static_cast<double>(std::fabs((got - expected) / expected));
}

void check_sums(const numbers& n) {
  const array x = array::from(n.values, {rows, columns});
  BOOST_TEST(relative_error(tutti::sum(x).item(), n.sum) <= 1e-6);
  BOOST_TEST(relative_error(tutti::mean(x).item(), n.sum / (rows * columns)) <= 1e-6);
  const auto got = tutti::sum(x, 0).to_vector<float>();
  for (std::size_t c = 0; c < got.size(); ++c)
    BOOST_TEST_REQUIRE(relative_error(static_cast<double>(got[c]), n.by_column[c]) <= 1e-6,
                       "column " << c);
}

}  // namespace

BOOST_AUTO_TEST_CASE(sums_of_1e8_positive_numbers) { check_sums(numbers(0)); }

// Sizes add up to five times the sum, in each column too, so that errors weigh five times.
BOOST_AUTO_TEST_CASE(sums_of_1e8_numbers_of_both_signs) {
  const numbers n(-0.45f);
  BOOST_TEST(static_cast<double>(n.absolute / n.sum) > 4);
  BOOST_TEST(static_cast<double>(n.absolute / n.sum) < 6);
  check_sums(n);
}

BOOST_AUTO_TEST_CASE(more_points_than_32_bits_count) {
  const array row = tutti::arange(1 << 12, dtype::i32).wait();
  const array many = tutti::broadcast_to(row, {(1 << 19) + 1, 1 << 12});
  BOOST_TEST(many.size() > std::int64_t{1} << 31);
  const std::int64_t total = (std::int64_t{1} << 11) * 4095 * ((1 << 19) + 1);
  BOOST_TEST(tutti::sum(many).item<std::int64_t>() == total);
}

BOOST_AUTO_TEST_CASE(an_array_that_is_too_large_is_refused_by_name) {
  const auto most = tutti::default_device().properties().max_allocation_bytes;
  if (most > std::uint64_t{1} << 40 || tutti::default_device().backend() == "reference") return;
  const auto n = static_cast<std::int64_t>(most) + 1;
  const array x = (tutti::arange(n, dtype::i64) & 127).astype(dtype::u8);
  FAILS(device_error, x.wait(), std::to_string(most));
  FAILS(device_error, x.wait(), tutti::default_device().name());
}
