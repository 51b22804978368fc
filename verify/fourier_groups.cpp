// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms, with offsets and guards, compared with their definition: sums in long double.
// The lengths include factors that kernels split, primes that they do not, and lines that are
// truncated or padded.
#include <cmath>
#include <numbers>

#include "matrices.hpp"

namespace tutti::conformance {
namespace {

struct fourier_case {
  tutti_fft fft;
  bool inverse;
  uint64_t outer, inner, length, given;  // `given`: extent of the operand along the axis
};

uint64_t written(const fourier_case& c) {
  return c.fft == TUTTI_FFT_REAL ? c.length / 2 + 1 : c.length;
}

// Element i of a view of real or complex numbers whose parts are T.
template <typename T>
wide_complex number_at(view_spec& v, uint64_t i) {
  if (sdk::is_complex(v.data.data.dtype)) return wide_complex(*element_of<std::complex<T>>(v, i));
  return *element_of<T>(v, i);
}

// The sequence that a line represents.
template <typename T>
std::vector<wide_complex> sequence(view_spec& x, const fourier_case& c, uint64_t o, uint64_t i) {
  std::vector<wide_complex> all(c.length);
  const bool half = c.fft == TUTTI_FFT_HERMITIAN;
  for (uint64_t n = 0; n < c.length; ++n) {
    const bool mirrored = half && 2 * n > c.length;
    const uint64_t k = mirrored ? c.length - n : n;
    if (k >= c.given) continue;
    wide_complex value = number_at<T>(x, (o * c.given + k) * c.inner + i);
    if (half && (k == 0 || 2 * k == c.length)) value.imag(0);
    all[n] = mirrored ? std::conj(value) : value;
  }
  return all;
}

std::vector<wide_complex> roots_of_unity(uint64_t count, bool inverse) {
  std::vector<wide_complex> all;
  for (uint64_t n = 0; n < count; ++n) {
    const long double turn =
        static_cast<long double>(n) / static_cast<long double>(count) * (inverse ? 1 : -1);
    all.push_back(std::polar(1.0L, 2 * std::numbers::pi_v<long double> * turn));
  }
  return all;
}

wide_complex sum_at(const std::vector<wide_complex>& x, uint64_t k,
                    const std::vector<wide_complex>& roots) {
  wide_complex sum = 0;
  for (uint64_t n = 0; n < x.size(); ++n) sum += x[n] * roots[n * k % x.size()];
  return sum;
}

std::string text_of(const fourier_case& c) {
  return std::to_string(c.length) + " points, " + std::to_string(c.given) + " given, " +
         std::to_string(c.outer) + " x " + std::to_string(c.inner) + " lines" +
         (c.inverse ? ", inverse" : "");
}

template <typename T>
void check_case(session& s, const fourier_case& c) {
  constexpr uint8_t real = dtype_of<T>(), complex = dtype_of<std::complex<T>>();
  const double scale = 0.75;
  generator random(s.seed + c.length);
  const uint8_t from = c.fft == TUTTI_FFT_REAL ? real : complex;
  const uint8_t to = c.fft == TUTTI_FFT_HERMITIAN ? real : complex;
  std::vector<view_spec> v = {packed_view(to, {c.outer, written(c), c.inner}),
                              packed_view(from, {c.outer, c.given, c.inner})};
  if (from == real)
    fill_randomly<T>(v[1], random);
  else
    fill_randomly<std::complex<T>>(v[1], random);
  const image before = v[0].data.data;
  const tutti_fft_params p{sizeof p, c.fft, c.inverse ? 1u : 0u, c.length, scale};
  launch_operator(s, TUTTI_OPERATOR_FFT, v, &p);
  check_guards(v[0], before);
  const long double unit = unit_roundoff<T>();
  const long double allowed =
      unit * (3 + 2 * std::sqrt(std::log2(static_cast<long double>(c.length) + 1)));
  const std::vector<wide_complex> roots = roots_of_unity(c.length, c.inverse);
  for (uint64_t o = 0; o < c.outer; ++o)
    for (uint64_t i = 0; i < c.inner; ++i) {
      const std::vector<wide_complex> x = sequence<T>(v[1], c, o, i);
      long double error = 0, norm = 0;
      for (uint64_t k = 0; k < written(c); ++k) {
        const wide_complex want = sum_at(x, k, roots) * static_cast<long double>(scale);
        error += std::norm(number_at<T>(v[0], (o * written(c) + k) * c.inner + i) - want);
        norm += std::norm(want);
      }
      if (!(std::sqrt(error) <= allowed * std::sqrt(norm)))
        fail("{}: line {} is off by {} roundings of its norm, {} are allowed", text_of(c),
             o * c.inner + i, static_cast<double>(std::sqrt(error / norm) / unit),
             static_cast<double>(allowed / unit));
    }
}

template <typename T>
void check_fourier(session& s, tutti_fft fft) {
  for (const uint64_t length : {1u, 2u, 3u, 8u, 12u, 17u, 30u, 64u, 91u, 130u, 256u, 509u}) {
    const uint64_t usual = fft == TUTTI_FFT_HERMITIAN ? length / 2 + 1 : length;
    for (const fourier_case& c : {fourier_case{fft, false, 1, 1, length, usual},
                                  fourier_case{fft, true, 2, 3, length, usual},
                                  fourier_case{fft, false, 11, 1, length, usual},
                                  fourier_case{fft, false, 1, 17, length, usual},
                                  fourier_case{fft, true, 2, 2, length, usual / 2 + 1},
                                  fourier_case{fft, false, 3, 1, length, usual + 3}}) {
      s.note(text_of(c));
      check_case<T>(s, c);
    }
  }
}

template <typename T>
void add_transforms(groups& all, const session& s) {
  const uint8_t real = dtype_of<T>();
  if (!s.stores(real) || !s.stores(dtype_of<std::complex<T>>())) return;
  const std::string name = std::string("/") + sdk::dtype_name(real);
  for (const auto& [fft, text] :
       {std::pair{TUTTI_FFT_COMPLEX, "fft/complex"}, std::pair{TUTTI_FFT_REAL, "fft/real"},
        std::pair{TUTTI_FFT_HERMITIAN, "fft/hermitian"}})
    all.push_back({text + name, [fft = fft](session& t) { check_fourier<T>(t, fft); }});
}

}  // namespace

void add_fourier_groups(groups& all, const session& s) {
  add_transforms<float>(all, s);
  add_transforms<double>(all, s);
}

}  // namespace tutti::conformance
