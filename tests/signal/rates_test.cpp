// SPDX-License-Identifier: Apache-2.0
//
// Signals at other rates: tones that stay what they are, trigonometric polynomials and filters of
// all lengths against loops over their definition.
#include <numbers>

#include "tutti/signal.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace signal = tutti::signal;

struct rate_case {
  const char* way;
  std::int64_t up, down, elements;
};

/// The filter of resample_poly, with zeros behind it.
auto taps(std::int64_t rate) {
  const std::vector<double> h = signal::firwin(20 * rate + 1, {1.0 / static_cast<double>(rate)},
                                               {.shape = {signal::window_shape::kaiser, 5}});
  return [h](std::int64_t i) {
    return i < static_cast<std::int64_t>(h.size()) ? h[static_cast<std::size_t>(i)] : 0;
  };
}

// Results from taps, element by element; f(i) is tap i.
template <class F>
dense filtered(const dense& x, const rate_case& c, F&& tap) {
  const std::int64_t middle = 10 * std::max(c.up, c.down);
  const std::int64_t count = (c.elements * c.up + c.down - 1) / c.down;
  return tabulate({x.extents[0], count}, [&](const position& i) {
    const std::int64_t at = i[1] * c.down + middle;
    const std::int64_t first = std::max<std::int64_t>(0, (at - 2 * middle) / c.up);
    double sum = 0;
    for (std::int64_t k = first; k < c.elements && k * c.up <= at; ++k)
      sum += x.at({i[0], k}) * tap(at - k * c.up);
    return sum * static_cast<double>(c.up);
  });
}

/// Of each column: the trigonometric polynomial of the elements without the frequencies that
/// `count` values do not hold. The highest of an even number has both signs in one.
std::vector<std::complex<double>> interpolated(const std::vector<std::complex<double>>& x,
                                               std::int64_t columns, std::int64_t count) {
  const std::int64_t n = static_cast<std::int64_t>(x.size()) / columns, m = std::min(n, count);
  const auto turned = [](std::int64_t k, std::int64_t i, std::int64_t of) {
    return std::polar(1.0,
                      2 * std::numbers::pi * static_cast<double>(k * i) / static_cast<double>(of));
  };
  std::vector<std::complex<double>> out;
  for (std::int64_t j = 0; j < count; ++j)
    for (std::int64_t c = 0; c < columns; ++c) {
      std::complex<double> sum = 0;
      for (std::int64_t k = -(m / 2); k <= m / 2; ++k)
        for (std::int64_t i = 0; i < n; ++i) {
          const bool is_shared = 2 * std::abs(k) == m && m == n;
          sum += (is_shared ? 0.5 : 1.0) * x[static_cast<std::size_t>(i * columns + c)] *
                 turned(-k, i, n) * turned(k, j, count);
        }
      out.push_back(sum / static_cast<double>(n));
    }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(polynomials_at_other_places) {
  const tolerance near{.relative = 1e-12, .absolute = 1e-12};
  for (const std::int64_t n : {1, 2, 5, 8})
    for (const std::int64_t count : {1, 2, 4, 5, 7, 8, 16}) {
      BOOST_TEST_CONTEXT(n << " elements to " << count) {
        const array real = upload(random_dense({n, 2}, -2, 2, 701), dtype::f64);
        const array x = tutti::complex(real, upload(random_dense({n, 2}, -2, 2, 702), dtype::f64));
        const array expected =
            array::from(interpolated(x.to_vector<std::complex<double>>(), 2, count), {count, 2});
        const array got = signal::resample(x, count, 0);
        BOOST_TEST((got.dtype() == dtype::c128));
        BOOST_TEST(matches(tutti::real(got), read(tutti::real(expected)), near));
        BOOST_TEST(matches(tutti::imag(got), read(tutti::imag(expected)), near));
        // Parts do not mix.
        const array part = signal::resample(real, count, 0);
        BOOST_TEST((part.dtype() == dtype::f64));
        BOOST_TEST(matches(part, read(tutti::real(expected)), near));
      }
    }
}

// A tone below half of both rates is the same tone at the other.
BOOST_AUTO_TEST_CASE(tones_survive_other_rates) {
  const auto tone = [](std::int64_t n, double phase_step) {
    return tabulate({n}, [&](const position& i) {
      return std::cos(phase_step * static_cast<double>(i[0]) + 0.3);
    });
  };
  const double turn = 2 * std::numbers::pi;
  BOOST_TEST(matches(signal::resample(upload_as<double>(tone(60, turn / 12)), 90),
                     tone(90, turn / 18), {.absolute = 1e-12}));
  BOOST_TEST(matches(signal::resample(upload_as<double>(tone(60, turn / 12)), 40),
                     tone(40, turn / 8), {.absolute = 1e-12}));
  // The filter of resample_poly is 60 dB down; its ends see zeros.
  const array poly = signal::resample_poly(upload_as<double>(tone(400, turn / 40)), 3, 2);
  BOOST_TEST(matches(poly({{100, 500}}),
                     [&] {
                       const dense all = tone(600, turn / 60);
                       return dense{{400}, {all.values.begin() + 100, all.values.begin() + 500}};
                     }(),
                     {.absolute = 2e-3}));
}

// Each way to the same results: a convolution by phase, also where there are fewer results than
// phases; taps gathered by result and by phase; a product of taps and elements.
BOOST_AUTO_TEST_CASE(filters_of_all_lengths) {
  for (const rate_case& c : {rate_case{"phases", 3, 2, 40},
                             {"phases", 160, 147, 300},
                             {"few results", 2503, 2711, 40},
                             {"gathered by result", 2503, 2711, 2150},
                             {"gathered by phase", 2503, 2711, 2800},
                             {"product", 1, 3000, 50},
                             {"one phase", 1, 3000, 7000}}) {
    BOOST_TEST_CONTEXT(c.way << ", " << c.up << " / " << c.down << " of " << c.elements) {
      const dense x = random_dense({2, c.elements}, -1, 1, 708);
      const dense expected = filtered(x, c, taps(std::max(c.up, c.down)));
      BOOST_TEST(matches(signal::resample_poly(upload_as<double>(x), c.up, c.down), expected,
                         {.relative = 1e-12, .absolute = 1e-12}));
    }
  }
}

BOOST_AUTO_TEST_CASE(filters_of_short_signals) {
  const tolerance near{.relative = 1e-12, .absolute = 1e-12};
  const std::pair<std::int64_t, std::int64_t> rates[] = {{3, 2}, {2, 3}, {4, 1},
                                                         {1, 5}, {7, 5}, {6, 4}};
  for (const auto& [up, down] : rates)
    for (const std::int64_t elements : {1, 11, 13}) {
      BOOST_TEST_CONTEXT(up << " / " << down << " of " << elements) {
        const std::int64_t both = std::gcd(up, down);
        const rate_case c{"", up / both, down / both, elements};
        const auto tap = taps(std::max(c.up, c.down));
        const dense x = random_dense({2, elements}, -2, 2, 703),
                    y = random_dense({2, elements}, -2, 2, 704);
        const array real = upload(x, dtype::f64), z = tutti::complex(real, upload(y, dtype::f64));
        BOOST_TEST(matches(signal::resample_poly(real, up, down, 1), filtered(x, c, tap), near));
        const array got = signal::resample_poly(z, up, down, 1);
        BOOST_TEST((got.dtype() == dtype::c128));
        BOOST_TEST(matches(tutti::real(got), filtered(x, c, tap), near));
        BOOST_TEST(matches(tutti::imag(got), filtered(y, c, tap), near));
      }
    }
}

// Filters of 20 million taps, of which a few results need few: nobody waits for the others.
BOOST_AUTO_TEST_CASE(filters_too_long_to_be_computed) {
  // The integral of sinc(t) I0(5 sqrt(1 - t^2 / 100)) / I0(5) over [-10, 10], by quadrature.
  constexpr double whole = 0.9993253166083717;
  for (const rate_case& c : {rate_case{"", 1048573, 1048571, 60},
                             {"", 1048571, 1048573, 3000},
                             {"", 1, 1 << 20, 40},
                             {"", 1 << 20, 1, 1}}) {
    BOOST_TEST_CONTEXT(c.up << " / " << c.down << " of " << c.elements) {
      const auto rate = static_cast<double>(std::max(c.up, c.down));
      const auto tap = [&](std::int64_t i) {
        const double t = static_cast<double>(i) / rate - 10;
        if (t > 10) return 0.0;
        const double angle = std::numbers::pi * t;
        return (t == 0 ? 1 : std::sin(angle) / angle) *
               std::cyl_bessel_i(0.0, 5 * std::sqrt(std::max(0.0, 1 - t * t / 100))) /
               std::cyl_bessel_i(0.0, 5.0) / (rate * whole);
      };
      const dense x = random_dense({1, c.elements}, -1, 1, 709);
      BOOST_TEST(matches(signal::resample_poly(upload_as<double>(x), c.up, c.down),
                         filtered(x, c, tap), {.relative = 1e-12, .absolute = 1e-12}));
    }
  }
}
