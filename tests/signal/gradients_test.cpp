// SPDX-License-Identifier: Apache-2.0
//
// Gradients against central differences, first and second ones.
#include "differences.hpp"
#include "tutti/signal.hpp"

namespace {

namespace signal = tutti::signal;
using arguments = std::vector<array>;

void check_both(const tutti::function& f, const std::vector<tutti::shape>& extents) {
  std::vector<dense> at;
  for (std::size_t i = 0; i < extents.size(); ++i)
    at.push_back(random_dense(extents[i], 0.3, 1.2, 720 + i));
  check_gradients_of_cubes(f, at, 1e-6, 2e-5);
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_frames) {
  for (const std::int64_t hop : {1, 2, 4}) {
    check_both([=](const arguments& v) { return signal::frame(v[0], 3, hop); }, {{2, 8}});
    check_both([=](const arguments& v) { return signal::overlap_add(v[0], hop); }, {{2, 3, 3}});
  }
  check_both([](const arguments& v) { return signal::frame(v[0], 2, 2, 0); }, {{5, 2}});
  const signal::stft_options frames{.hop = 2};
  check_both([=](const arguments& v) { return signal::stft(v[0], 4, frames); }, {{9}});
  check_both([=](const arguments& v) { return signal::spectrogram(v[0], 4, frames); }, {{9}});
  check_both(
      [=](const arguments& v) { return signal::istft(tutti::complex(v[0], v[1]), 4, frames); },
      {{3, 4}, {3, 4}});
}

// Where the spectrum is 0 the gradient is too, of roots and of what they lead to.
BOOST_AUTO_TEST_CASE(of_silence) {
  const signal::stft_options frames{.hop = 4, .center = false};
  std::vector<double> half(12);  // one frame of silence, one of both, one of sound
  for (std::size_t i = 5; i < half.size(); ++i) half[i] = std::sin(static_cast<double>(i * i));
  for (const double power : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const tutti::function loudness = [&](const arguments& v) {
      return tutti::sum(signal::spectrogram(v[0], 4, frames, power));
    };
    const tutti::function slope = [&](const arguments& v) {
      return weighted_sum(tutti::grad(loudness)(v)[0]);
    };
    for (const tutti::dtype type : {tutti::dtype::f32, tutti::dtype::f64}) {
      BOOST_TEST_CONTEXT("power " << power << ", " << tutti::name(type)) {
        const array silence = tutti::zeros({12}, type), x = array::from(half).astype(type);
        BOOST_TEST(loudness({silence}).item() == 0);
        BOOST_TEST(!tutti::any(tutti::grad(loudness)({silence})[0] != 0).item<bool>());
        BOOST_TEST(tutti::all(tutti::isfinite(tutti::grad(slope)({silence})[0])).item<bool>());
        const array g = tutti::grad(loudness)({x})[0];
        BOOST_TEST(!tutti::any(g({{0, 4}}) != 0).item<bool>());
        BOOST_TEST(tutti::all(tutti::isfinite(g)).item<bool>());
        BOOST_TEST(tutti::all(tutti::isfinite(tutti::grad(slope)({x})[0])).item<bool>());
      }
    }
  }
  const array g = tutti::grad([&](const arguments& v) {
    return tutti::sum(signal::mel_spectrogram(v[0], 100, 16, {}, {.bands = 4}, 1));
  })({tutti::zeros({24})})[0];
  BOOST_TEST(!tutti::any(g != 0).item<bool>());
}

BOOST_AUTO_TEST_CASE(of_convolutions) {
  for (const auto mode : {signal::convolution_mode::full, signal::convolution_mode::same,
                          signal::convolution_mode::valid})
    for (const auto method :
         {signal::convolution_method::direct, signal::convolution_method::fourier})
      check_both(
          [=](const arguments& v) {
            return signal::convolve(v[0], v[1], {mode, method});
          },
          {{5}, {3}});
  check_both([](const arguments& v) { return signal::correlate(v[0], v[1]); }, {{2, 3}, {3, 2}});
  check_both([](const arguments& v) { return signal::convolve(v[0], v[1], {.axes = 1}); },
             {{2, 4}, {2, 2}});
  check_both(
      [](const arguments& v) {
        return signal::correlate(tutti::complex(v[0], v[1]), tutti::complex(v[2], v[2]));
      },
      {{4}, {4}, {2}});
}

BOOST_AUTO_TEST_CASE(of_cosine_transforms) {
  for (int type = 1; type <= 4; ++type)
    for (const std::int64_t n : {4, 5})
      check_both(
          [=](const arguments& v) {
            return signal::dct(v[0], type, n, 0, tutti::fft::norm::ortho);
          },
          {{5, 2}});
  check_both([](const arguments& v) { return signal::idct(v[0], 1); }, {{5}});
}

BOOST_AUTO_TEST_CASE(of_other_rates) {
  for (const std::int64_t count : {4, 7, 8})
    check_both([=](const arguments& v) { return signal::resample(v[0], count); }, {{6}});
  check_both([](const arguments& v) { return signal::resample_poly(v[0], 3, 2); }, {{2, 5}});
}

BOOST_AUTO_TEST_CASE(of_filters) {
  const std::vector<double> b = {0.4, 0.3}, a = {1, -0.5, 0.2};
  check_both([=](const arguments& v) { return signal::lfilter(b, a, v[0]); }, {{70}});
  check_both([=](const arguments& v) { return signal::lfilter_from(b, a, v[0], v[1]).values; },
             {{2, 5}, {2, 2}});
  check_both([=](const arguments& v) { return signal::lfilter_from(b, a, v[0], v[1]).state; },
             {{2, 5}, {2, 2}});
  check_both([](const arguments& v) { return signal::sosfilt(signal::butter(3, {0.3}), v[0]); },
             {{6}});
  check_both([=](const arguments& v) { return signal::filtfilt(b, a, v[0]); }, {{12}});
  check_both([](const arguments& v) { return signal::preemphasis(v[0]); }, {{6}});
}

BOOST_AUTO_TEST_CASE(of_mel_features) {
  const signal::stft_options frames{.hop = 8};
  check_both(
      [=](const arguments& v) {
        return signal::mel_spectrogram(v[0], 100, 16, frames, {.bands = 4});
      },
      {{24}});
  check_both(
      [=](const arguments& v) {
        return signal::mfcc(v[0], 100, 16,
                            {.coefficients = 3, .frames = frames, .mel = {.bands = 4}});
      },
      {{24}});
}
