// SPDX-License-Identifier: Apache-2.0
//
// Bad input, extents that no array has, and what NaN does.
#include <csignal>

#include "tutti/signal.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace signal = tutti::signal;

constexpr std::int64_t huge = std::int64_t{1} << 62;

}  // namespace

// Where tutti's names are used without their namespace, C's function needs its own.
BOOST_AUTO_TEST_CASE(beside_the_function_of_c) {
  using namespace tutti;
  const auto before = ::signal(SIGUSR2, SIG_IGN);
  BOOST_TEST((std::signal(SIGUSR2, before) == SIG_IGN));
  BOOST_TEST(signal::hann(1).item() == 1);
}

BOOST_AUTO_TEST_CASE(of_windows) {
  BOOST_TEST(signal::hann(0).shape() == shape{0});
  BOOST_TEST(signal::kaiser(5, 0).to_vector<float>()[1] == 1);
  BOOST_TEST((signal::hann(4, signal::symmetry::periodic).to_vector<float>() ==
              std::vector<float>{0, 0.5F, 1, 0.5F}));
  FAILS(value_error, signal::hann(-1), "hann: a window of -1 values");
  FAILS(dtype_error, signal::hamming(3, {}, dtype::f16),
        "hamming: the dtype is f32 or f64, not f16");
  FAILS(value_error, signal::kaiser(3, not_a_number), "kaiser: beta is nan");
  FAILS(value_error, signal::kaiser(3, 1e4), "kaiser: beta is 10000");
  FAILS(value_error, signal::gaussian(3, 0), "gaussian: the deviation is 0");
  FAILS(value_error, signal::tukey(3, not_a_number), "tukey");
  FAILS(value_error, signal::get_window({static_cast<signal::window_shape>(99)}, 3),
        "get_window: unknown window 99");
  FAILS(error, signal::blackman(huge), "blackman");
}

BOOST_AUTO_TEST_CASE(of_frames) {
  const array x = tutti::ones({2, 9});
  FAILS(value_error, signal::frame(x, 0, 1), "frame: frames of 0 elements, 1 apart");
  FAILS(value_error, signal::frame(x, 2, -1), "frame: frames of 2 elements, -1 apart");
  FAILS(shape_error, signal::frame(x, 10, 1), "frame: frames of 10 elements along axis 1 of [2,9]");
  FAILS(index_error, signal::frame(x, 2, 1, 2), "frame");
  FAILS(index_error, signal::frame(array(1.0), 1, 1), "frame");
  FAILS(shape_error, signal::frame(tutti::ones({1, 1, 1, 1, 1, 1, 1, 3}), 2, 1), "frame");
  FAILS(value_error, signal::frame(array(), 2, 1), "frame");
  BOOST_TEST(signal::frame(x, 9, huge).shape() == (shape{2, 1, 9}));
  FAILS(shape_error, signal::overlap_add(tutti::ones({3}), 1), "overlap_add: [3] has no frames");
  FAILS(shape_error, signal::overlap_add(tutti::ones({0, 3}), 1),
        "overlap_add: [0,3] has no frames");
  FAILS(dtype_error, signal::overlap_add(tutti::ones({2, 3}, dtype::boolean), 1), "overlap_add");
  FAILS(shape_error, signal::overlap_add(x, huge), "overlap_add");
  FAILS(value_error, signal::overlap_add(x, 0), "overlap_add");
  FAILS(value_error, signal::stft(x, 0), "stft");
  FAILS(value_error, signal::stft(x, 4, {.hop = 0}), "stft: frames of 4 elements, 0 apart");
  FAILS(shape_error, signal::stft(x, 16, {.center = false}), "stft: frames of 16 elements");
  FAILS(shape_error, signal::stft(x, 4, {.window = tutti::ones({5})}), "stft: a window [5]");
  FAILS(shape_error, signal::stft(x, 4, {.window = tutti::ones({0})}),
        "stft: a window [0] for transforms of 4 points, must have 1 to 4 values");
  FAILS(dtype_error, signal::stft(x, 4, {.window = tutti::ones({4}, dtype::c64)}),
        "stft: the window is c64, must be real");
  FAILS(dtype_error, signal::stft(x.astype(dtype::f16), 4), "stft: f16 is not supported");
  FAILS(index_error, signal::stft(array(1.0), 4), "stft");
  FAILS(error, signal::stft(x, huge), "stft");
}

BOOST_AUTO_TEST_CASE(of_spectra) {
  const array x = tutti::ones({2, 9});
  FAILS(shape_error, signal::istft(tutti::ones({5, 3}), 4),
        "istft: [5,3] is not [..., 3 or 4, frames]");
  FAILS(shape_error, signal::istft(tutti::ones({3, 0}), 4), "istft: [3,0] has no frames");
  FAILS(shape_error, signal::istft(tutti::ones({3, 2}), 4, {.window = tutti::ones({0})}),
        "istft: a window [0]");
  FAILS(shape_error, signal::istft(tutti::ones({3}), 4), "istft");
  FAILS(value_error, signal::istft(tutti::ones({3, 2}), 4, {}, -1), "istft: a length of -1");
  BOOST_TEST(signal::istft(tutti::ones({3, 1}), 4).shape() == shape{0});
  BOOST_TEST(signal::istft(tutti::ones({3, 1}), 4, {}, 7).shape() == shape{7});
  FAILS(value_error, signal::spectrogram(x, 4, {}, 0), "spectrogram: the power is 0");
  FAILS(value_error, signal::dct(x, 5), "dct: unknown type 5");
  FAILS(value_error, signal::dct(x, 1, 1), "dct: type 1 of 1 elements along axis 1 of [2,9]");
  FAILS(value_error, signal::idct(tutti::ones({0})), "idct: type 2 of 0 elements");
  FAILS(dtype_error, signal::dct(tutti::ones({3}, dtype::c64)), "dct");
  FAILS(dtype_error, signal::dct(tutti::ones({3}, dtype::bf16)), "dct");
  FAILS(shape_error, signal::dct(x, 2, huge), "dct");
  BOOST_TEST(signal::dct(tutti::zeros({0, 3})).shape() == (shape{0, 3}));
  BOOST_TEST(tutti::sum(signal::dct(tutti::zeros({2, 0}), 2, 4)).item() == 0);
}

BOOST_AUTO_TEST_CASE(of_convolutions) {
  const array x = tutti::ones({2, 9});
  FAILS(shape_error, signal::convolve(x, tutti::ones({3})), "convolve: [2,9] and [3]");
  FAILS(shape_error, signal::convolve(x, tutti::ones({3, 0})),
        "convolve: no elements along axis 1");
  FAILS(shape_error, signal::correlate(x, tutti::ones({3, 2}), {signal::convolution_mode::valid}),
        "correlate: of [2,9] and [3,2] neither lies within the other");
  FAILS(shape_error, signal::convolve(x, tutti::ones({3, 2}), {.axes = 1}), "convolve");
  FAILS(dtype_error, signal::convolve(x != 0, x != 0), "convolve");
  FAILS(dtype_error,
        signal::convolve(array::from({1, 2}), array::from({1}),
                         {.method = signal::convolution_method::fourier}),
        "convolve: no Fourier transforms of i32");
  FAILS(value_error, signal::convolve(x, x, {.axes = {0, 0}}), "convolve");
  FAILS(index_error, signal::convolve(x, x, {.axes = 2}), "convolve");
  FAILS(value_error, signal::convolve(x, x, {static_cast<signal::convolution_mode>(9)}),
        "convolve: unknown mode 9");
  FAILS(shape_error,
        signal::convolve(tutti::broadcast_to(array(1.0F), {huge / 2 - 1}), tutti::ones({3})),
        "convolve");
  FAILS(value_error, signal::resample(x, 0), "resample: 0 elements of axis 1 of [2,9]");
  FAILS(value_error, signal::resample(tutti::ones({2, 0}), 3), "resample");
  FAILS(error, signal::resample(x, huge), "resample");
  FAILS(value_error, signal::resample_poly(x, 0, 1), "resample_poly: factors 0 / 1");
  FAILS(value_error, signal::resample_poly(x, 1, huge),
        "resample_poly: factors 1 / 4611686018427387904");
  FAILS(index_error, signal::resample_poly(x, 2, 1, 3), "resample_poly");
}

BOOST_AUTO_TEST_CASE(of_designs) {
  FAILS(value_error, signal::firwin(0, {0.5}), "firwin: 0 taps");
  FAILS(value_error, signal::firwin(5, {1.0}), "firwin: a cutoff of 1, must lie within (0, 1)");
  FAILS(value_error, signal::firwin(5, {0.4, 0.3}), "firwin: cutoffs 0.4 and 0.3 do not ascend");
  FAILS(value_error, signal::firwin(5, {}), "firwin: no cutoffs");
  FAILS(value_error, signal::firwin(5, {not_a_number}), "firwin");
  FAILS(value_error, signal::firwin(4, {0.3}, {.pass_zero = false}), "firwin: 4 taps");
  FAILS(value_error, signal::firwin(5, {0.3}, {.rate = 0}), "firwin: the rate is 0");
  FAILS(error, signal::firwin(huge, {0.3}), "firwin");
  FAILS(value_error, signal::firwin2(5, {0, 1}, {1}), "firwin2: 2 frequencies for 1 gains");
  FAILS(value_error, signal::firwin2(5, {0, 0.5, 0.4, 1}, {1, 1, 1, 1}), "firwin2: frequency 0.4");
  FAILS(value_error, signal::firwin2(5, {0, 0, 1}, {1, 1, 1}), "firwin2: frequency 0");
  FAILS(value_error, signal::firwin2(4, {0, 1}, {1, 1}), "firwin2: 4 taps");
  FAILS(value_error, signal::butter(0, {0.5}), "butter: the order is 0");
  FAILS(value_error, signal::butter(101, {0.5}), "butter: the order is 101");
  FAILS(value_error, signal::butter(2, {0.5}, signal::band::bandpass),
        "butter: 1 cutoffs, must be 2");
  FAILS(value_error, signal::butter(2, {3}, {}, 4),
        "butter: a cutoff of 3, must lie within (0, 2)");
}

BOOST_AUTO_TEST_CASE(of_filters) {
  const array x = tutti::ones({2, 9});
  FAILS(value_error, signal::lfilter({}, {1}, x), "lfilter: coefficients [] / [1]");
  FAILS(value_error, signal::lfilter({1}, {0, 1}, x), "lfilter: coefficients [1] / [0, 1]");
  FAILS(value_error, signal::lfilter({not_a_number}, {1}, x), "lfilter");
  FAILS(index_error, signal::lfilter({1}, {1, 2}, x, 2), "lfilter");
  FAILS(shape_error, signal::lfilter_from({1}, {1, 2}, x, tutti::ones({2})),
        "lfilter_from: a state [2], must be [2,1]");
  FAILS(value_error, signal::lfilter({1}, {1, -1e200}, x),
        "lfilter: the response of an unstable filter");
  FAILS(value_error, signal::sosfilt({}, x), "sosfilt: no sections");
  FAILS(shape_error, signal::sosfilt_from(signal::butter(4, {0.5}), x, tutti::ones({2, 2})),
        "sosfilt_from: a state [2,2], must be [2,2,2]");
  FAILS(value_error, signal::lfilter_zi({1}, {1, -1}), "lfilter_zi: a filter with a pole at 1");
  FAILS(value_error, signal::filtfilt({1}, {1, 0.5}, tutti::ones({6})),
        "filtfilt: 6 elements along axis 0 of [6], must be more than 6");
  FAILS(value_error, signal::sosfiltfilt(signal::butter(1, {0.5}), x), "sosfiltfilt: 9 elements");
  // Lines beside the one with a NaN are as they were.
  const array nans = tutti::concatenate({x * not_a_number, x});
  const array y = signal::lfilter({1}, {1, -0.5}, nans);
  BOOST_TEST(std::isnan(y({0, 8}).item()));
  BOOST_TEST(y({3, 1}).item() == 1.5);
  BOOST_TEST(std::isnan(signal::preemphasis(nans)({1, 3}).item()));
}

BOOST_AUTO_TEST_CASE(of_mel_features) {
  const array x = tutti::ones({512});
  FAILS(value_error, signal::mel_filter_bank(8000, 0), "mel_filter_bank: 128 bands of 0 points");
  FAILS(value_error, signal::mel_filter_bank(not_a_number, 64), "mel_filter_bank");
  FAILS(value_error, signal::mel_filter_bank(8000, 64, {.low = 5000}),
        "bands from 5000 to 4000 Hz");
  FAILS(dtype_error, signal::mel_filter_bank(8000, 64, {}, dtype::i32), "mel_filter_bank");
  FAILS(error, signal::mel_filter_bank(8000, huge, {.bands = huge}), "mel_filter_bank");
  FAILS(value_error, signal::power_to_db(x, not_a_number),
        "power_to_db: the reference is nan, must be finite");
  FAILS(value_error, signal::power_to_db(x, 1, 0),
        "power_to_db: the least power is 0, must be positive and finite");
  FAILS(value_error, signal::power_to_db(x, 1, HUGE_VAL), "power_to_db: the least power is inf");
  FAILS(value_error, signal::power_to_db(x, 1, 1, -1),
        "power_to_db: a range of -1 dB, must not be negative");
  FAILS(value_error, signal::mfcc(x, 8000, 64, {.coefficients = 129}),
        "mfcc: 129 coefficients of 128 bands");
  FAILS(dtype_error, signal::mel_spectrogram(tutti::complex(x, x), 8000, 64), "mel_spectrogram");
  BOOST_TEST(signal::power_to_db(tutti::zeros({0, 2})).shape() == (shape{0, 2}));
  BOOST_TEST((signal::power_to_db(x.astype(dtype::f16)).dtype() == dtype::f16));
  // Silence is at the floor, not at minus infinity.
  BOOST_TEST(signal::power_to_db(tutti::zeros({3}))[0].item() == -100);
  // A floor that the dtype does not have is the least that it has, also under the reference.
  for (const dtype type : {dtype::f16, dtype::f32, dtype::f64}) {
    const double least = tutti::finfo(type == dtype::f16 ? dtype::f32 : type).smallest_normal;
    const array silence = tutti::zeros({2}, type);
    const double expected = 10 * std::log10(least);
    BOOST_TEST(signal::power_to_db(silence, 1, 5e-324, {})[0].item() == expected,
               boost::test_tools::tolerance(1e-3));
    BOOST_TEST(std::abs(signal::power_to_db(silence, 0, 5e-324)[0].item()) < 1e-3);
  }
  BOOST_TEST(signal::mfcc(x, 8000, 64).shape() == (shape{20, 33}));
}
