// SPDX-License-Identifier: Apache-2.0
//
// Distributions: integers against the documented arithmetic on Philox words, the rest by
// Kolmogorov-Smirnov and chi-square tests with fixed keys, so nothing here is a matter of luck.
// Each bound is one that a right generator exceeds for about one key in a thousand.
#include "tutti/analysis/distributions.hpp"

#include <numbers>

#include "sampled_layouts.hpp"
#include "semantics/host_math.hpp"

namespace {

namespace random_ = tutti::random;

constexpr std::uint64_t some_key = 0x243f6a8885a308d3u;

__extension__ using wide = unsigned __int128;

std::uint64_t word(std::int64_t i, std::uint64_t key = some_key) {
  return tutti::host::philox(i, key);
}

constexpr double kolmogorov_bound = 1.95;

// How far chi-square lies above its expectation, in deviations (Wilson and Hilferty, 1931). Values
// whose expected count is below 10 are put together.
template <class F>
double chi_square(const std::vector<double>& v, std::int64_t first, std::int64_t last, F&& p) {
  std::map<std::int64_t, double> counts;
  for (double x : v) ++counts[std::int64_t(x)];
  double total = 0, rest_expected = 0, rest_seen = 0, degrees = -1;
  const auto add = [&](double seen, double expected) {
    total += (seen - expected) * (seen - expected) / expected;
    ++degrees;
  };
  double covered = 0, covered_seen = 0;
  for (std::int64_t k = first; k <= last; ++k) {
    const double expected = p(k) * double(v.size()), seen = counts[k];
    covered += expected;
    covered_seen += seen;
    if (expected >= 10)
      add(seen, expected);
    else
      rest_expected += expected, rest_seen += seen;
  }
  rest_expected += double(v.size()) - covered;
  rest_seen += double(v.size()) - covered_seen;
  if (rest_expected > 1)
    add(rest_seen, rest_expected);
  else
    BOOST_TEST(rest_seen <= 8);
  const double spread = 2 / (9 * degrees);
  return (std::cbrt(total / degrees) - (1 - spread)) / std::sqrt(spread);
}
constexpr double chi_square_bound = 3.1;

double mean_of(const std::vector<double>& v) {
  double total = 0;
  for (double x : v) total += x;
  return total / double(v.size());
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

BOOST_AUTO_TEST_CASE(integers_by_arithmetic) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::pair<std::int64_t, std::int64_t> bounds[] = {
      {0, 10},           {-7, 5},       {0, 1},     {0, 0x7fffffff}, {-0x80000000ll, 0x80000000ll},
      {-5, 0x100000000}, {least, most}, {-1, most}, {most - 3, most}};
  for (const auto& [low, high] : bounds) {
    BOOST_TEST_CONTEXT(low << " to " << high) {
      const auto got =
          random_::integers({some_key}, {257}, low, high, dtype::i64).to_vector<std::int64_t>();
      const std::uint64_t range = std::uint64_t(high) - std::uint64_t(low);
      for (std::int64_t i = 0; i < 257; ++i) {
        std::uint64_t offset = 0;
        if (range <= 0x100000000) {
          const std::uint64_t x = word(2 * i) | word(2 * i + 1) << 32;
          offset = std::uint64_t(wide{x} * range >> 64);
        } else {
          // Both halves of the 128 bits times the range.
          const std::uint64_t lower = word(4 * i) | word(4 * i + 1) << 32;
          const std::uint64_t upper = word(4 * i + 2) | word(4 * i + 3) << 32;
          offset = std::uint64_t((wide{upper} * range + (wide{lower} * range >> 64)) >> 64);
        }
        BOOST_TEST_REQUIRE(got[std::size_t(i)] == std::int64_t(std::uint64_t(low) + offset));
      }
    }
  }
  const auto narrow = read(random_::integers({5}, {100, 100}, -128, 128, dtype::i8)).values;
  BOOST_TEST(chi_square(narrow, -128, 127, [](std::int64_t) { return 1.0 / 256; }) <
             chi_square_bound);
  BOOST_TEST((random_::integers({5}, {3}, 0, 256, dtype::u8).dtype() == dtype::u8));
  BOOST_TEST(random_::integers({5}, {0, 3}, 0, 2).shape() == (shape{0, 3}));
  // Known bounds spare `take` a look at the indices; wrong ones would read anything.
  BOOST_TEST(tutti::take(array::from<float>({1, 2}), random_::integers({1}, {50}, 0, 2)).size() ==
             50);
}

BOOST_AUTO_TEST_CASE(coins) {
  for (double p : {0.0, 0.3, 1.0}) {
    const auto got = read(random_::bernoulli({some_key}, {4000}, p)).values;
    for (std::size_t i = 0; i < got.size(); ++i)
      BOOST_TEST_REQUIRE((got[i] == 1) == (double(word(std::int64_t(i))) < p * 0x1p32));
  }
  BOOST_TEST((random_::bernoulli({1}, {2}).dtype() == dtype::boolean));
  BOOST_TEST(std::abs(mean_of(read(random_::bernoulli({2}, {100000}, 0.25)).values) - 0.25) <
             0.0045);
}

BOOST_AUTO_TEST_CASE(exponential_numbers) {
  for (dtype type : {dtype::f32, dtype::f64}) {
    const auto got = read(random_::exponential({some_key}, {30000}, 2.5, type)).values;
    for (std::int64_t i = 0; i < 500; ++i) {
      const double u =
          type == dtype::f32
              ? (double(word(i) >> 8) + 1) * 0x1p-24
              : (double((word(2 * i) >> 5) << 26 | word(2 * i + 1) >> 6) + 1) * 0x1p-53;
      BOOST_TEST_REQUIRE(std::abs(got[std::size_t(i)] + 2.5 * std::log(u)) <=
                         (type == dtype::f32 ? 1e-6 : 1e-15) * (1 + got[std::size_t(i)]));
    }
    BOOST_TEST(kolmogorov(got, [](double x) { return -std::expm1(-x / 2.5); }) < kolmogorov_bound);
    BOOST_TEST(*std::min_element(got.begin(), got.end()) >= 0);
  }
  BOOST_TEST((random_::exponential({1}, {2}, 1, dtype::f16).dtype() == dtype::f16));
}

BOOST_AUTO_TEST_CASE(truncated_normal_numbers) {
  const std::pair<double, double> bounds[] = {
      {-2, 2}, {0.5, 0.6}, {3, 9}, {-INFINITY, -4}, {-INFINITY, INFINITY}, {-1, INFINITY}, {-6, 1}};
  for (dtype type : {dtype::f32, dtype::f64}) {
    for (const auto& [low, high] : bounds) {
      BOOST_TEST_CONTEXT(low << " to " << high) {
        const auto got =
            read(random_::truncated_normal({9}, {20000}, low, high, 1, 2, type)).values;
        const double slack = type == dtype::f32 ? 1e-6 : 1e-15;
        BOOST_TEST(*std::min_element(got.begin(), got.end()) >= 1 + 2 * low - slack * 20);
        BOOST_TEST(*std::max_element(got.begin(), got.end()) <= 1 + 2 * high + slack * 20);
        // From the side where the probabilities are small.
        const double sign = low + high > 0 ? -1 : 1;
        const double from = normal_below(sign > 0 ? low : -high);
        const double to = normal_below(sign > 0 ? high : -low);
        BOOST_TEST(kolmogorov(got, [&](double x) {
                     const double below = (normal_below(sign * (x - 1) / 2) - from) / (to - from);
                     return sign > 0 ? below : 1 - below;
                   }) < kolmogorov_bound);
      }
    }
  }
  // The inverse itself: the uniform number comes back.
  const auto z =
      random_::truncated_normal({some_key}, {2000}, -8, 8, 0, 1, dtype::f64).to_vector<double>();
  for (std::int64_t i = 0; i < 2000; ++i) {
    const double u = (double((word(2 * i) >> 5) << 26 | word(2 * i + 1) >> 6) + 1) * 0x1p-53;
    BOOST_TEST_REQUIRE(std::abs(normal_below(z[std::size_t(i)]) - u) < 2e-15);
  }
}

BOOST_AUTO_TEST_CASE(categories) {
  const std::vector<double> p = {0.1, 0.2, 0.0, 0.4, 0.3};
  dense logits{{5, 1}, {}};
  for (double x : p) logits.values.push_back(std::log(x) + 3);
  const array many = tutti::broadcast_to(upload_as<float>(logits), {5, 20000});
  const array drawn = random_::categorical({77}, many, 0);
  BOOST_TEST((drawn.dtype() == dtype::i64));
  BOOST_TEST(drawn.shape() == shape{20000});
  const auto got = read(drawn).values;
  BOOST_TEST(chi_square(got, 0, 4, [&](std::int64_t k) { return p[std::size_t(k)]; }) <
             chi_square_bound);
  BOOST_TEST(std::count(got.begin(), got.end(), 2.0) == 0);
  FAILS(value_error, random_::categorical({1}, tutti::zeros({2, 0})), "categorical");
}

BOOST_AUTO_TEST_CASE(gamma_numbers) {
  // P(1/2, x) = erf(sqrt x), P(a + 1, x) = P(a, x) - x^a e^-x / Gamma(a + 1), P(1, x) = 1 - e^-x.
  const auto below = [](double a, double x) {
    double b = a == std::floor(a) ? 1 : 0.5;
    double p = b == 1 ? -std::expm1(-x) : std::erf(std::sqrt(x));
    for (; b < a; ++b) p -= std::exp(b * std::log(x) - x - std::lgamma(b + 1));
    return p;
  };
  for (double a : {0.5, 1.0, 1.5, 4.0, 30.5}) {
    BOOST_TEST_CONTEXT("concentration " << a) {
      const auto single = read(random_::gamma({13}, {30000}, a, 2)).values;
      BOOST_TEST(kolmogorov(single, [&](double x) { return below(a, x / 2); }) < kolmogorov_bound);
      BOOST_TEST(*std::min_element(single.begin(), single.end()) >= 0);
    }
  }
  const auto fine = read(random_::gamma({14}, {20000}, 2.5, 1, dtype::f64)).values;
  BOOST_TEST(kolmogorov(fine, [&](double x) { return below(2.5, x); }) < kolmogorov_bound);
  BOOST_TEST(random_::gamma({1}, {0}, 1).size() == 0);
}

BOOST_AUTO_TEST_CASE(poisson_numbers) {
  for (double mean : {0.1, 1.0, 7.5, 60.0, 12345.5}) {
    BOOST_TEST_CONTEXT("mean " << mean) {
      const auto got = read(random_::poisson({21}, {20000}, mean)).values;
      const auto last = std::int64_t(mean + 12 * std::sqrt(mean) + 20);
      BOOST_TEST(chi_square(got, 0, last, [&](std::int64_t k) {
                   return std::exp(double(k) * std::log(mean) - mean - std::lgamma(double(k) + 1));
                 }) < chi_square_bound);
      BOOST_TEST(std::abs(mean_of(got) - mean) < 3.3 * std::sqrt(mean / 20000));
    }
  }
  const auto none = read(random_::poisson({21}, {50}, 0)).values;
  BOOST_TEST(std::count(none.begin(), none.end(), 0.0) == 50);
  const auto large = read(random_::poisson({22}, {2000}, 1e9, dtype::i64)).values;
  BOOST_TEST(std::abs(mean_of(large) - 1e9) < 3.3 * std::sqrt(1e9 / 2000));
}

BOOST_AUTO_TEST_CASE(choices) {
  const std::vector<double> weights = {3, 0, 1, 4, 2};
  const auto got = read(random_::choice({31}, weights, {20000})).values;
  BOOST_TEST(chi_square(got, 0, 4, [&](std::int64_t k) { return weights[std::size_t(k)] / 10; }) <
             chi_square_bound);
  BOOST_TEST(std::count(got.begin(), got.end(), 1.0) == 0);
  const auto even = read(random_::choice({32}, 6, {100, 60})).values;
  BOOST_TEST(chi_square(even, 0, 5, [](std::int64_t) { return 1.0 / 6; }) < chi_square_bound);
  const auto distinct =
      random_::choice({33}, 50, {4, 5}, random_::replacement::no).to_vector<std::int64_t>();
  BOOST_TEST(std::set(distinct.begin(), distinct.end()).size() == 20u);
  for (const std::int64_t wanted : {0, 1, 20, 60, 100, 1000}) {
    const std::vector<std::int64_t> order = random_::permutation({33}, 1000);
    const auto chosen =
        random_::choice({33}, 1000, {wanted}, random_::replacement::no).to_vector<std::int64_t>();
    BOOST_TEST(chosen == std::vector(order.rbegin(), order.rbegin() + wanted), same);
  }

  // Without replacement: the first draw by weight, each next one among what is left.
  std::vector<double> first, second_after_3;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const auto drawn = random_::choice({1000 + i}, weights, {4}, random_::replacement::no)
                           .to_vector<std::int64_t>();
    BOOST_TEST_REQUIRE(std::set(drawn.begin(), drawn.end()) == (std::set<std::int64_t>{0, 2, 3, 4}),
                       same);
    first.push_back(static_cast<double>(drawn[0]));
    if (drawn[0] == 3) second_after_3.push_back(static_cast<double>(drawn[1]));
  }
  BOOST_TEST(chi_square(first, 0, 4, [&](std::int64_t k) { return weights[std::size_t(k)] / 10; }) <
             chi_square_bound);
  BOOST_TEST(chi_square(second_after_3, 0, 4, [&](std::int64_t k) {
               return k == 3 ? 0 : weights[std::size_t(k)] / 6;
             }) < chi_square_bound);
  const std::vector<double> extreme = {1e-300, 5e-324, 1e300, 0};
  BOOST_TEST(
      random_::choice({35}, extreme, {3}, random_::replacement::no).to_vector<std::int64_t>() ==
          (std::vector<std::int64_t>{2, 0, 1}),
      same);
  BOOST_TEST(random_::choice({35}, weights, {0}, random_::replacement::no).shape() ==
             tutti::shape{0});

  const dense rows = random_dense({6, 4}, -1, 1, 701);
  for (const auto& [layout, x] : sampled_layouts(rows)) {
    for (int axis : {0, 1}) {
      const auto order = random_::permutation({34}, rows.extents[axis]);
      BOOST_TEST(matches(random_::shuffle({34}, x, axis), tabulate({6, 4},
                                                                   [&](position i) {
                                                                     auto& k = i[std::size_t(axis)];
                                                                     k = order[std::size_t(k)];
                                                                     return rows.at(i);
                                                                   })),
                 layout);
    }
  }
}

BOOST_AUTO_TEST_CASE(distributions_refuse_bad_arguments) {
  using tutti::value_error;
  FAILS(value_error, random_::integers({1}, {2}, 5, 5), "integers: needs low");
  FAILS(value_error, random_::integers({1}, {2}, 0, 300, dtype::u8), "300");
  FAILS(value_error, random_::integers({1}, {2}, -1, 3, dtype::u8), "u8");
  FAILS(dtype_error, random_::integers({1}, {2}, 0, 3, dtype::f32), "integers");
  FAILS(value_error, random_::bernoulli({1}, {2}, 1.5), "bernoulli");
  FAILS(value_error, random_::bernoulli({1}, {2}, NAN), "nan");
  FAILS(value_error, random_::exponential({1}, {2}, 0), "exponential");
  FAILS(dtype_error, random_::exponential({1}, {2}, 1, dtype::i8), "i8");
  FAILS(value_error, random_::truncated_normal({1}, {2}, 2, 1), "low < high");
  FAILS(value_error, random_::truncated_normal({1}, {2}, 30, 31), "measurable");
  FAILS(value_error, random_::truncated_normal({1}, {2}, 0, 1, 0, -1), "deviation");
  FAILS(value_error, random_::gamma({1}, {2}, 0), "gamma: the concentration");
  FAILS(value_error, random_::gamma({1}, {2}, 1, INFINITY), "scale");
  FAILS(value_error, random_::poisson({1}, {2}, -1), "poisson");
  FAILS(value_error, random_::poisson({1}, {2}, 100, dtype::i8), "do not fit");
  FAILS(value_error, random_::choice({1}, 0, {2}), "choice");
  FAILS(value_error, random_::choice({1}, 3, {4}, random_::replacement::no), "4 of 3 things");
  const std::vector<double> negative = {1, -1}, zero = {0, 0};
  FAILS(value_error, random_::choice({1}, negative, {2}), "weight");
  FAILS(value_error, random_::choice({1}, zero, {2}), "sum");
  const std::vector<double> two = {1, 0, 2};
  FAILS(value_error, random_::choice({1}, two, {3}, random_::replacement::no),
        "choice: 3 of 2 things with a positive weight");
  FAILS(index_error, random_::shuffle({1}, array(1)), "shuffle");
}
