// SPDX-License-Identifier: Apache-2.0
//
// Lengths of all kinds: products of small primes, powers, primes that become convolutions, lines
// that are split; in every layout. Lines that are cut or padded, inverses and halves: `tutti
// verify`; every function, norm and axis: the vectors of NumPy.
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

// The transform of each line of x [outer, n, inner], or its first half, against sums.
void check_lines(const array& got, const array& x) {
  const numbers_list all = read_numbers(x), results = read_numbers(got);
  const std::int64_t n = x.dim(1), there = got.dim(1), inner = x.dim(2);
  for (std::int64_t o = 0; o < x.dim(0); ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      numbers_list want = transform_by_sums(line_of(all, o * n * inner + i, inner, n));
      want.resize(static_cast<std::size_t>(there));
      BOOST_TEST(
          is_close(line_of(results, o * there * inner + i, inner, there), want, x.dtype(), n));
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(lengths_of_complex_numbers) {
  for (const std::int64_t n : lengths)
    for (const auto& [type, extents] :
         {std::pair{dtype::c64, shape{1, n, 1}}, std::pair{dtype::c64, shape{2, n, 3}},
          std::pair{dtype::c128, shape{2, n, 9}}, std::pair{dtype::c128, shape{11, n, 1}}}) {
      const array x = random_numbers(extents, type, 1), y = fft::fft(x, n, 1);
      check_lines(y, x);
      BOOST_TEST(is_close(read_numbers(fft::ifft(y, n, 1)), read_numbers(x), type, n * n));
    }
}

BOOST_AUTO_TEST_CASE(lengths_of_real_numbers) {
  for (const std::int64_t n : lengths)
    for (const auto& [type, extents] :
         {std::pair{dtype::f32, shape{2, n, 3}}, std::pair{dtype::f64, shape{9, n, 1}}}) {
      const array x = random_numbers(extents, type, 5), y = fft::rfft(x, n, 1);
      check_lines(y, x);
      BOOST_TEST(is_close(read_numbers(fft::irfft(y, n, 1)), read_numbers(x), type, n * n));
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
      const number want = fourier_sum(line, n, k);
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
