// SPDX-License-Identifier: Apache-2.0
//
// Philox against its published vectors, the documented mapping from words to numbers, and the
// distributions (fixed keys, so nothing here is a matter of luck).
#include <numbers>

#include "semantics/host_math.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace random_ = tutti::random;

constexpr std::uint64_t some_key = 0x9e3779b97f4a7c15u;

// Written anew from the paper, word by word.
std::uint32_t word(std::uint64_t i, std::uint64_t key) {
  std::uint32_t c[4] = {static_cast<std::uint32_t>(i / 4), static_cast<std::uint32_t>(i / 4 >> 32),
                        0, 0};
  std::uint32_t k[2] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  for (int r = 0; r < 10; ++r) {
    const std::uint64_t p = 0xD2511F53ull * c[0], q = 0xCD9E8D57ull * c[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(q),
        static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p)};
    std::copy(next, next + 4, c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c[i % 4];
}

double mean_of(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double moment(const std::vector<double>& v, int order) {
  double sum = 0;
  for (double x : v) sum += std::pow(x, order);
  return sum / static_cast<double>(v.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(published_vectors) {
  using block = std::array<std::uint32_t, 4>;
  const auto check = [](block counter, std::array<std::uint32_t, 2> key, block expected) {
    BOOST_TEST((tutti::host::philox_block(counter, key) == expected));
  };
  // Random123, kat_vectors, philox4x32 with 10 rounds.
  check({0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  const auto first = random_::bits({0}, {4}).to_vector<std::uint32_t>();
  BOOST_TEST((first == std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

BOOST_AUTO_TEST_CASE(bits_by_element_index) {
  const auto got = random_::bits({some_key}, {7, 43}).to_vector<std::uint32_t>();
  for (std::size_t i = 0; i < got.size(); ++i) BOOST_TEST_REQUIRE(got[i] == word(i, some_key));
  BOOST_TEST(random_::bits({1}, {0, 3}).size() == 0);
  BOOST_TEST(random_::bits({1}, {}).item<std::uint32_t>() == word(0, 1));
}

BOOST_AUTO_TEST_CASE(uniform_bits) {
  const auto single = random_::uniform({some_key}, {1001}).to_vector<float>();
  const auto wide = random_::uniform({some_key}, {1001}, 0, 1, dtype::f64).to_vector<double>();
  const auto half = read(random_::uniform({some_key}, {1001}, 0, 1, dtype::f16)).values;
  for (std::size_t i = 0; i < 1001; ++i) {
    BOOST_TEST_REQUIRE(single[i] == std::ldexp(float(word(i, some_key) >> 8), -24));
    const std::uint64_t bits =
        std::uint64_t{word(2 * i, some_key) >> 5} << 26 | word(2 * i + 1, some_key) >> 6;
    BOOST_TEST_REQUIRE(wide[i] == std::ldexp(double(bits), -53));
    BOOST_TEST_REQUIRE(half[i] == std::ldexp(double(word(i, some_key) >> 21), -11));
  }
}

BOOST_AUTO_TEST_CASE(uniform_stays_below_its_bound) {
  for (dtype type : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    for (const auto& [low, high] : {std::pair{1.0, 2.0}, {-0.1, 0.1}, {-3.0, -1.0}, {0.0, 0.1}}) {
      const auto v = read(random_::uniform({3}, {20000}, low, high, type)).values;
      const double step = type == dtype::bf16 ? 0x1p-8 : type == dtype::f16 ? 0x1p-11 : 1e-7;
      BOOST_TEST(*std::max_element(v.begin(), v.end()) < high);
      BOOST_TEST(*std::min_element(v.begin(), v.end()) >= low * (1 + (low < 0 ? step : -step)));
      BOOST_TEST(std::abs(mean_of(v) - (low + high) / 2) < 0.01 * (high - low));
    }
  }
}

BOOST_AUTO_TEST_CASE(uniform_distribution) {
  const auto v = read(random_::uniform({42}, {100000})).values;
  BOOST_TEST(kolmogorov(v, [](double x) { return x; }) < 1.95);
  // Chi-square over 256 bins: 255 degrees of freedom, 341 has probability 0.0003.
  std::vector<double> bins(256, 0);
  for (double x : v) ++bins[static_cast<std::size_t>(x * 256)];
  double chi = 0;
  for (double b : bins) chi += (b - 100000.0 / 256) * (b - 100000.0 / 256) / (100000.0 / 256);
  BOOST_TEST(chi < 341);
  BOOST_TEST(chi > 180);
  // No dependence on the element before.
  double product = 0;
  for (std::size_t i = 1; i < v.size(); ++i) product += (v[i] - 0.5) * (v[i - 1] - 0.5);
  BOOST_TEST(std::abs(product / 100000 * 12) < 0.013);
}

BOOST_AUTO_TEST_CASE(normal_numbers_and_distribution) {
  const auto single = read(random_::normal({some_key}, {100000})).values;
  const auto wide = read(random_::normal({some_key}, {1000}, 2, 0.5, dtype::f64)).values;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double u = (double(word(2 * i, some_key) >> 8) + 1) / 0x1p24;
    const double v = double(word(2 * i + 1, some_key) >> 8) / 0x1p24;
    const double z = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
    BOOST_TEST_REQUIRE(std::abs(single[i] - z) < 4e-6);
    const auto bits = [&](std::uint64_t j) {
      return double(std::uint64_t{word(j, some_key) >> 5} << 26 | word(j + 1, some_key) >> 6);
    };
    const double r = std::sqrt(-2 * std::log((bits(4 * i) + 1) / 0x1p53));
    const double w = r * std::cos(2 * std::numbers::pi * bits(4 * i + 2) / 0x1p53);
    BOOST_TEST_REQUIRE(std::abs(wide[i] - (2 + 0.5 * w)) < 1e-14);
  }
  BOOST_TEST(std::abs(mean_of(single)) < 0.01);
  BOOST_TEST(std::abs(moment(single, 2) - 1) < 0.015);
  BOOST_TEST(std::abs(moment(single, 3)) < 0.04);
  BOOST_TEST(std::abs(moment(single, 4) - 3) < 0.12);
  BOOST_TEST(kolmogorov(single, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); }) <
             1.95);
  const auto half = read(random_::normal({7}, {5000}, 0, 1, dtype::bf16)).values;
  BOOST_TEST(std::abs(moment(half, 2) - 1) < 0.1);
}

BOOST_AUTO_TEST_CASE(splitting_keys) {
  const auto keys = random_::split({5}, 1000);
  std::set<std::uint64_t> different;
  for (const auto& k : keys) different.insert(k.value);
  BOOST_TEST(different.size() == 1000u);
  BOOST_TEST(random_::split({5})[1].value == keys[1].value);
  BOOST_TEST(random_::split({6})[0].value != keys[0].value);
  BOOST_TEST(random_::split({6}, 0).empty());
  // Streams of sibling keys do not resemble each other.
  const auto a = read(random_::uniform(keys[0], {20000})).values;
  const auto b = read(random_::uniform(keys[1], {20000})).values;
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += (a[i] - 0.5) * (b[i] - 0.5);
  BOOST_TEST(std::abs(product / 20000 * 12) < 0.03);
}

BOOST_AUTO_TEST_CASE(permutations) {
  const auto order = random_::permutation({11}, 1797);
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < 1797; ++i) BOOST_TEST_REQUIRE(sorted[std::size_t(i)] == i);
  BOOST_TEST((order != sorted));
  BOOST_TEST((order == random_::permutation({11}, 1797)));
  BOOST_TEST((order != random_::permutation({12}, 1797)));
  // All 24 orders of four equally often: 23 degrees of freedom, 52 has probability 0.0005.
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::uint64_t k = 0; k < 24000; ++k) ++counts[random_::permutation({k}, 4)];
  BOOST_TEST_REQUIRE(counts.size() == 24u);
  double chi = 0;
  for (const auto& [key, count] : counts) chi += (count - 1000.0) * (count - 1000.0) / 1000;
  BOOST_TEST(chi < 52);
  BOOST_TEST(random_::permutation({1}, 0).empty());
}

BOOST_AUTO_TEST_CASE(bad_arguments) {
  FAILS(value_error, random_::uniform({1}, {2}, 1, 1), "uniform");
  FAILS(value_error, random_::uniform({1}, {2}, 0, INFINITY), "uniform");
  FAILS(dtype_error, random_::uniform({1}, {2}, 0, 1, dtype::i32), "i32");
  FAILS(value_error, random_::normal({1}, {2}, 0, -1), "normal");
  FAILS(dtype_error, random_::normal({1}, {2}, 0, 1, dtype::u8), "u8");
  FAILS(value_error, random_::permutation({1}, -1), "permutation");
  FAILS(value_error, random_::split({1}, -1), "split");
}
