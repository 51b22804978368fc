// SPDX-License-Identifier: Apache-2.0
//
// Lengths of all kinds against sums: products of small primes, powers, primes that become
// convolutions, lines that are split; along each axis, cut and padded, in every layout.
#include <tuple>

#include "sums.hpp"
#include "tutti/ops.hpp"

namespace {

using namespace tutti_test;
namespace fft = tutti::fft;

// Where powers of each radix meet, and beyond.
constexpr std::int64_t lengths[] = {1,  2,  3,  4,  5,   6,   7,   8,   9,   11,  12,  13,  14,
                                    15, 16, 17, 19, 20,  25,  26,  30,  31,  32,  36,  37,  49,
                                    64, 77, 97, 99, 100, 121, 128, 130, 143, 169, 210, 243, 256};

enum class direction { forward, backward };

long double divisor(std::int64_t n, fft::norm by, direction way) {
  if (by == fft::norm::ortho) return std::sqrt(static_cast<long double>(n));
  return (by == fft::norm::backward) == (way == direction::backward) ? static_cast<long double>(n)
                                                                     : 1;
}

// Each line of `got` [outer, ., inner] against what `expected` makes of the line of x.
template <class Expected>
void check_lines(const array& got, const array& x, std::int64_t count, Expected&& expected) {
  const numbers_list all = read_numbers(x), results = read_numbers(got);
  const std::int64_t inner = x.dim(2), length = x.dim(1), there = got.dim(1);
  for (std::int64_t o = 0; o < x.dim(0); ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const numbers_list want = expected(line_of(all, o * length * inner + i, inner, length));
      BOOST_TEST(
          is_close(line_of(results, o * there * inner + i, inner, there), want, x.dtype(), count));
    }
}

numbers_list divided(numbers_list x, long double by) {
  for (number& v : x) v /= by;
  return x;
}

void check_complex(const array& x, std::int64_t n, fft::norm by) {
  check_lines(fft::fft(x, n, 1, by), x, n, [&](const numbers_list& line) {
    return divided(transform_by_sums(fitted(line, n), -1), divisor(n, by, direction::forward));
  });
  check_lines(fft::ifft(x, n, 1, by), x, n, [&](const numbers_list& line) {
    return divided(transform_by_sums(fitted(line, n), 1), divisor(n, by, direction::backward));
  });
}

void check_real(const array& x, std::int64_t n, fft::norm by) {
  const auto half = [&](const numbers_list& line, int sign) {
    return fitted(transform_by_sums(fitted(line, n), sign), n / 2 + 1);
  };
  check_lines(fft::rfft(x, n, 1, by), x, n, [&](const numbers_list& line) {
    return divided(half(line, -1), divisor(n, by, direction::forward));
  });
  check_lines(fft::ihfft(x, n, 1, by), x, n, [&](const numbers_list& line) {
    return divided(half(line, 1), divisor(n, by, direction::backward));
  });
}

void check_hermitian(const array& x, std::int64_t n, fft::norm by) {
  check_lines(fft::irfft(x, n, 1, by), x, n, [&](const numbers_list& line) {
    return divided(transform_by_sums(whole_of(line, n), 1), divisor(n, by, direction::backward));
  });
  check_lines(fft::hfft(x, n, 1, by), x, n, [&](const numbers_list& line) {
    return divided(transform_by_sums(whole_of(line, n), -1), divisor(n, by, direction::forward));
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(lengths_of_complex_numbers) {
  for (const std::int64_t n : lengths) {
    check_complex(random_numbers({1, n, 1}, dtype::c64, 1), n, fft::norm::backward);
    check_complex(random_numbers({2, n, 3}, dtype::c64, 2), n, fft::norm::ortho);
    check_complex(random_numbers({2, n, 9}, dtype::c128, 3), n, fft::norm::forward);
    check_complex(random_numbers({11, n, 1}, dtype::c128, 4), n, fft::norm::backward);
  }
}

BOOST_AUTO_TEST_CASE(lengths_of_real_numbers) {
  for (const std::int64_t n : lengths) {
    check_real(random_numbers({2, n, 3}, dtype::f32, 5), n, fft::norm::backward);
    check_real(random_numbers({9, n, 1}, dtype::f64, 6), n, fft::norm::ortho);
    check_hermitian(random_numbers({2, n / 2 + 1, 3}, dtype::c64, 7), n, fft::norm::backward);
    check_hermitian(random_numbers({9, n / 2 + 1, 1}, dtype::c128, 8), n, fft::norm::forward);
  }
}

BOOST_AUTO_TEST_CASE(cut_and_padded) {
  for (const std::int64_t n : {1, 4, 9, 17, 64})
    for (const std::int64_t there : {1, 3, 8, 20, 80}) {
      check_complex(random_numbers({2, there, 2}, dtype::c64, 9), n, fft::norm::backward);
      check_real(random_numbers({2, there, 2}, dtype::f32, 10), n, fft::norm::backward);
      check_hermitian(random_numbers({2, there, 2}, dtype::c64, 11), n, fft::norm::backward);
    }
}

// Some results of long lines; sums of all would take too long.
BOOST_AUTO_TEST_CASE(long_lines) {
  for (const auto& [n, type] :
       {std::tuple{std::int64_t{1} << 15, dtype::c64}, std::tuple{std::int64_t{20000}, dtype::c128},
        std::tuple{std::int64_t{100003}, dtype::c64}, std::tuple{std::int64_t{10007}, dtype::c128},
        std::tuple{std::int64_t{131072}, dtype::c64}}) {
    const array x = random_numbers({n}, type, 12);
    const numbers_list line = read_numbers(x), got = read_numbers(fft::fft(x));
    const long double allowed =
        8 * bound_of(type, n) * norm_of(line);  // of one result, whose size is near that norm
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2, n - 1}) {
      const number want = fourier_sum(line, n, k, -1);
      BOOST_TEST(std::abs(got[static_cast<std::size_t>(k)] - want) <= allowed);
    }
    BOOST_TEST(is_close(read_numbers(fft::ifft(fft::fft(x))), line, type, n * n));
  }
}

BOOST_AUTO_TEST_CASE(half_and_whole_belong_together) {
  for (const std::int64_t n : {10, 11, 4096, 9999}) {
    const array x = random_numbers({3, n}, dtype::f32, 13);
    BOOST_TEST(
        is_close(read_numbers(fft::irfft(fft::rfft(x), n)), read_numbers(x), dtype::f32, n * n));
    // Parseval
    const array whole = fft::fft(x, {}, -1, fft::norm::ortho);
    const long double before = norm_of(read_numbers(x)), after = norm_of(read_numbers(whole));
    BOOST_TEST(std::abs(before - after) <= bound_of(dtype::f32, n) * before);
  }
}

BOOST_AUTO_TEST_CASE(views) {
  const tutti::slice all, backwards{{}, {}, -1}, odd{1, {}, 2};
  const array x = random_numbers({6, 12, 10}, dtype::c64, 14);
  const array shown[] = {x({odd}), x({all, backwards}), x({all, odd, odd}),
                         tutti::transpose(x, {2, 0, 1}), tutti::broadcast_to(x({2}), {3, 12, 10})};
  for (const array& v : shown)
    for (const int axis : {0, 1, 2}) {
      const array plain = array::from(v.to_vector<std::complex<float>>(), v.shape());
      BOOST_TEST((fft::fft(v, {}, axis).to_vector<std::complex<float>>() ==
                  fft::fft(plain, {}, axis).to_vector<std::complex<float>>()));
    }
}
