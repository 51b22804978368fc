// SPDX-License-Identifier: Apache-2.0
//
// Windows, cosine transforms and convolutions against their definitions, in f64: SciPy's formulas,
// in loops.
#include <numbers>

#include "tutti/signal.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace signal = tutti::signal;
namespace fft = tutti::fft;
using signal::convolution_method;
using signal::convolution_mode;
using number = std::complex<double>;
using real = long double;

constexpr real pi = std::numbers::pi_v<real>;

/// The sum of (-1)^j a[j] cos(2 pi j t).
real cosines(const std::vector<double>& a, real t) {
  real sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    sum += (j % 2 == 0 ? 1 : -1) * real{a[j]} * std::cos(2 * pi * real(j) * t);
  return sum;
}

struct window_case {
  const char* name;
  signal::window which;
  std::function<real(real t, real last)> f;  ///< at t = k / last of the elements k = 0 to last
};

std::vector<window_case> windows() {
  using enum signal::window_shape;
  const auto series = [](const std::vector<double>& a) {
    return [a](real t, real) { return cosines(a, t); };
  };
  const auto slope = [](real t, real) {
    const real from_end = std::min(t, 1 - t);
    return from_end < 0.15L ? (1 - std::cos(pi * from_end / 0.15L)) / 2 : 1;
  };
  return {{"boxcar", {boxcar}, series({1})},
          {"hann", {hann}, series({0.5, 0.5})},
          {"hamming", {hamming}, series({0.54, 0.46})},
          {"blackman", {blackman}, series({0.42, 0.5, 0.08})},
          {"flattop",
           {flattop},
           series({0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368})},
          {"bartlett", {bartlett}, [](real t, real) { return 1 - std::abs(2 * t - 1); }},
          {"kaiser",
           {kaiser, 8.6},
           [](real t, real) {
             const auto bessel = [](real x) { return std::cyl_bessel_il(0, x); };
             return bessel(8.6 * std::sqrt(4 * t * (1 - t))) / bessel(8.6);
           }},
          {"gaussian",
           {gaussian, 2.5},
           [](real t, real last) { return std::exp(-std::pow((t - 0.5L) * last / 2.5L, 2) / 2); }},
          {"tukey", {tukey, 0.3}, slope}};
}

/// Along the first axis of x [n, columns].
dense cosine_transform(const dense& x, int type, fft::norm by) {
  const std::int64_t n = x.extents[0];
  const double length = 2.0 * double(type == 1 ? n - 1 : n);
  const bool ortho = by == fft::norm::ortho;
  // Where the matrix of the transform without a factor is not orthogonal.
  const auto is_end = [&](std::int64_t i) { return i == 0 || (type == 1 && i == n - 1); };
  const double scale = ortho ? 1 / std::sqrt(length) : by == fft::norm::forward ? 1 / length : 1;
  return tabulate(x.extents, [&](const position& k) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double row = double(k[0]) + (type > 2 ? 0.5 : 0);
      const double column = double(i) + (type % 2 == 0 ? 0.5 : 0);
      double weight = 2;
      if (type % 2 == 1 && is_end(i)) weight = ortho ? std::sqrt(2) : 1;
      sum += weight * x.at({i, k[1]}) * std::cos(2 * std::numbers::pi * row * column / length);
    }
    if (ortho && type < 3 && is_end(k[0])) sum /= std::sqrt(2);
    return sum * scale;
  });
}

dense inverse_cosine_transform(const dense& x, int type, fft::norm by) {
  const fft::norm other = by == fft::norm::forward    ? fft::norm::backward
                          : by == fft::norm::backward ? fft::norm::forward
                                                      : by;
  return cosine_transform(x, type == 2 ? 3 : type == 3 ? 2 : type, other);
}

struct operand {
  dtype type;
  dense real, imaginary;

  operand(dtype t, const shape& extents, std::uint64_t salt)
      : type(t),
        real(t == dtype::i32 ? random_integers(extents, -9, 9, salt)
                             : random_dense(extents, -2, 2, salt)),
        imaginary(random_dense(extents, -1, 1, salt + 1)) {
    if (type != dtype::c128) imaginary.values.assign(imaginary.values.size(), 0);
  }

  number at(const position& i) const { return {real.at(i), imaginary.at(i)}; }

  array on_device() const {
    if (type != dtype::c128) return upload(real, type);
    return tutti::complex(upload(real, dtype::f64), upload(imaginary, dtype::f64));
  }

  /// What correlation convolves with.
  operand reversed() const {
    operand out = *this;
    std::reverse(out.real.values.begin(), out.real.values.end());
    std::reverse(out.imaginary.values.begin(), out.imaginary.values.end());
    for (double& v : out.imaginary.values) v = -v;
    return out;
  }
};

struct convolution {
  const operand& a;
  const operand& v;
  convolution_mode mode;
  int axis = -1;  ///< the only one that is not taken element by element, or -1 for all

  bool along(int d) const { return axis < 0 || axis == d; }

  number at(const position& k) const {
    number total = 0;
    tabulate(v.real.extents, [&](const position& j) {
      position i = k;
      for (int d = 0; d < int(k.size()); ++d) {
        const std::size_t s = std::size_t(d);
        const std::int64_t of_a = a.real.extents[d], of_v = v.real.extents[d];
        if (along(d)) {
          i[s] = k[s] - j[s];
          if (i[s] < 0 || i[s] >= of_a) return 0;
        } else {
          if (of_v > 1 && j[s] != k[s]) return 0;
          if (of_a == 1) i[s] = 0;
        }
      }
      total += a.at(i) * v.at(j);
      return 0;
    });
    return total;
  }

  void check(const array& got, double near) const {
    shape extents;
    position offset;
    for (int d = 0; d < a.real.extents.rank(); ++d) {
      const std::int64_t m = a.real.extents[d], n = v.real.extents[d];
      const bool full = mode == convolution_mode::full, same = mode == convolution_mode::same;
      extents.push_back(!along(d) ? std::max(m, n)
                        : full    ? m + n - 1
                        : same    ? m
                                  : std::abs(m - n) + 1);
      offset.push_back(!along(d) || full ? 0 : same ? (n - 1) / 2 : std::min(m, n) - 1);
    }
    const auto part = [&](auto&& of) {
      return tabulate(extents, [&](position k) {
        for (std::size_t d = 0; d < k.size(); ++d) k[d] += offset[d];
        return of(at(k));
      });
    };
    const bool is_complex = a.type == dtype::c128 || v.type == dtype::c128;
    BOOST_TEST((got.dtype() == (is_complex ? dtype::c128 : a.type)));
    const tolerance allowed{.relative = near, .absolute = near};
    BOOST_TEST(matches(is_complex ? tutti::real(got) : got, part([](number z) { return z.real(); }),
                       allowed));
    if (is_complex)
      BOOST_TEST(matches(tutti::imag(got), part([](number z) { return z.imag(); }), allowed));
  }
};

const std::pair<const char*, convolution_mode> modes[] = {{"full", convolution_mode::full},
                                                          {"same", convolution_mode::same},
                                                          {"valid", convolution_mode::valid}};

}  // namespace

BOOST_AUTO_TEST_CASE(windows_by_their_formulas) {
  for (const window_case& w : windows())
    for (const std::int64_t n : {1, 2, 9, 12}) {
      BOOST_TEST_CONTEXT(w.name << " of " << n) {
        const auto values = [&](std::int64_t last) {
          return tabulate({n}, [&](const position& k) {
            return last == 0 ? 1 : w.f(real(k[0]) / real(last), real(last));
          });
        };
        const tolerance near{.relative = 1e-15, .absolute = 1e-15};
        using enum signal::symmetry;
        BOOST_TEST(
            matches(signal::get_window(w.which, n, symmetric, dtype::f64), values(n - 1), near));
        if (n > 1)
          BOOST_TEST(
              matches(signal::get_window(w.which, n, periodic, dtype::f64), values(n), near));
      }
    }
}

BOOST_AUTO_TEST_CASE(cosine_transforms_by_their_sums) {
  const tolerance near{.relative = 1e-13, .absolute = 1e-13};
  for (const std::int64_t n : {1, 2, 3, 5, 8})
    for (const int type : {1, 2, 3, 4})
      for (const fft::norm by : {fft::norm::backward, fft::norm::ortho, fft::norm::forward}) {
        if (type == 1 && n == 1) continue;
        BOOST_TEST_CONTEXT("type " << type << " of " << n << ", norm " << static_cast<int>(by)) {
          const dense x = random_dense({n, 2}, -2, 2, 730);
          const array on_device = upload(x, dtype::f64);
          BOOST_TEST(matches(signal::dct(on_device, type, {}, 0, by), cosine_transform(x, type, by),
                             near));
          BOOST_TEST(matches(signal::idct(on_device, type, {}, 0, by),
                             inverse_cosine_transform(x, type, by), near));
        }
      }
  // Extended by zeros, and cut.
  const dense x = random_dense({3, 5}, -2, 2, 731);
  for (const int type : {1, 2, 3, 4})
    for (const std::int64_t n : {8, 4}) {
      BOOST_TEST_CONTEXT("type " << type << " of 5 as " << n) {
        const dense columns = tabulate({n, 3}, [&](const position& i) {
          return i[0] < 5 ? x.at({i[1], i[0]}) : 0;
        });
        BOOST_TEST(matches(signal::dct(upload(x, dtype::f64), type, n).T(),
                           cosine_transform(columns, type, fft::norm::backward), near));
      }
    }
}

BOOST_AUTO_TEST_CASE(convolutions_by_their_sums) {
  using enum dtype;
  const std::pair<operand, operand> pairs[] = {{{f64, {9}, 740}, {f64, {4}, 741}},
                                               {{f64, {4}, 742}, {f64, {9}, 743}},
                                               {{c128, {7}, 744}, {c128, {4}, 745}},
                                               {{c128, {6}, 746}, {f64, {3}, 747}},
                                               {{i32, {8}, 748}, {i32, {3}, 749}},
                                               {{f64, {5, 6}, 750}, {f64, {2, 3}, 751}},
                                               {{f64, {4, 3, 5}, 752}, {f64, {2, 3, 2}, 753}},
                                               {{c128, {4, 5}, 754}, {c128, {3, 2}, 755}},
                                               {{f64, {1}, 756}, {f64, {5}, 757}}};
  for (const auto& [a, v] : pairs)
    for (const auto& [name, mode] : modes) {
      BOOST_TEST_CONTEXT(name << " of " << tutti::name(a.type) << a.real.extents.str() << " and "
                              << tutti::name(v.type) << v.real.extents.str()) {
        const array x = a.on_device(), w = v.on_device();
        const convolution expected{a, v, mode};
        expected.check(signal::convolve(x, w, {mode, convolution_method::direct}), 1e-13);
        convolution{a, v.reversed(), mode}.check(signal::correlate(x, w, {mode}), 1e-13);
        if (a.type != dtype::i32)
          expected.check(signal::convolve(x, w, {mode, convolution_method::fourier}), 1e-12);
      }
    }
  const operand a{f64, {3, 8, 2}, 758}, v{f64, {1, 3, 2}, 759};
  for (const auto& [name, mode] : modes) {
    BOOST_TEST_CONTEXT(name << " along one axis") {
      const array x = a.on_device(), w = v.on_device();
      const convolution expected{a, v, mode, 1};
      expected.check(signal::convolve(x, w, {mode, convolution_method::direct, 1}), 1e-13);
      expected.check(signal::convolve(x, w, {mode, convolution_method::fourier, -2}), 1e-12);
    }
  }
}
