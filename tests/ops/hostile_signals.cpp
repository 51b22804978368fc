// SPDX-License-Identifier: Apache-2.0
//
// Rows for the functions of signal.hpp and analysis.hpp, and of models of components.
#include "hostile_arguments.hpp"

namespace hostile {
namespace {

namespace signal = tutti::signal;
namespace draw = tutti::random;
using tutti::array;

signal::symmetry symmetry(picker& p) { return static_cast<signal::symmetry>(p.flag()); }

signal::window some_window(picker& p) {
  return {static_cast<signal::window_shape>(p.below(10)), p.number()};
}

signal::stft_options frames(picker& p) {
  signal::stft_options o;
  if (p.flag()) o.hop = p.size();
  if (p.flag()) o.window = p.any();
  o.center = p.flag();
  o.padding = static_cast<tutti::pad_mode>(p.below(3));
  return o;
}

signal::convolve_options some_convolution(picker& p) {
  return {static_cast<signal::convolution_mode>(p.below(4)),
          static_cast<signal::convolution_method>(p.below(4)), p.maybe_axis()};
}

signal::mel_options mel(picker& p) {
  signal::mel_options o;
  o.bands = p.size();
  if (p.flag()) o.low = p.number();
  if (p.flag()) o.high = p.number();
  o.scale = static_cast<signal::mel_scale>(p.below(3));
  return o;
}

signal::sections sections(picker& p) {
  signal::sections all(static_cast<std::size_t>(p.below(3)));
  for (signal::section& s : all) {
    for (double& v : s) v = p.flag() ? p.number() : 0.25;
    if (p.flag()) s[3] = 1;
  }
  return all;
}

// What gives no array has only to come back.
results nothing(const auto&) { return std::vector<array>(); }

array first_of(const signal::filtered& f) { return f.values + tutti::sum(f.state); }

}  // namespace

std::vector<entry> signals() {
  return {
      ROW(signal::boxcar(p.size(), symmetry(p), p.type())),
      ROW(signal::hann(p.size(), symmetry(p), p.type())),
      ROW(signal::hamming(p.size(), symmetry(p))),
      ROW(signal::blackman(p.size(), symmetry(p))),
      ROW(signal::bartlett(p.size(), symmetry(p))),
      ROW(signal::flattop(p.size(), symmetry(p))),
      ROW(signal::kaiser(p.size(), p.number(), symmetry(p))),
      ROW(signal::gaussian(p.size(), p.number(), symmetry(p))),
      ROW(signal::tukey(p.size(), p.number(), symmetry(p))),
      ROW(signal::get_window(some_window(p), p.size(), symmetry(p), p.type())),
      ROW(signal::frame(p.any(), p.size(), p.size(), p.axis())),
      ROW(signal::overlap_add(p.any(), p.size(), p.axis())),
      ROW(signal::stft(p.any(), p.size(), frames(p))),
      ROW(signal::istft(p.any(), p.size(), frames(p), p.size())),
      ROW(signal::spectrogram(p.any(), p.size(), frames(p), p.number())),
      ROW(signal::convolve(p.any(), p.any(), some_convolution(p))),
      ROW(signal::correlate(p.any(), p.any(), some_convolution(p))),
      ROW(signal::dct(p.any(), p.below(6), p.size(), p.axis(),
                      static_cast<tutti::fft::norm>(p.below(4)))),
      ROW(signal::idct(p.any(), p.below(6), {}, p.axis())),
      ROW(signal::resample(p.any(), p.size(), p.axis())),
      ROW(signal::resample_poly(p.any(), p.size(), p.size(), p.axis())),
      ROW(nothing(
          signal::firwin(p.size(), p.numbers(),
                         {.shape = some_window(p), .pass_zero = p.flag(), .rate = p.number()}))),
      ROW(nothing(signal::firwin2(p.size(), p.numbers(), p.numbers(), some_window(p), p.number()))),
      ROW(nothing(signal::butter(p.size(), p.numbers(), static_cast<signal::band>(p.below(5)),
                                 p.number()))),
      ROW(signal::lfilter(p.numbers(), p.numbers(), p.any(), p.axis())),
      ROW(first_of(signal::lfilter_from(p.numbers(), p.numbers(), p.any(), p.any(), p.axis()))),
      ROW(nothing(signal::lfilter_zi(p.numbers(), p.numbers()))),
      ROW(signal::sosfilt(sections(p), p.any(), p.axis())),
      ROW(first_of(signal::sosfilt_from(sections(p), p.any(), p.any(), p.axis()))),
      ROW(signal::filtfilt(p.numbers(), p.numbers(), p.any(), p.axis())),
      ROW(signal::sosfiltfilt(sections(p), p.any(), p.axis())),
      ROW(signal::preemphasis(p.any(), p.number(), p.axis())),
      ROW(signal::mel_filter_bank(p.number(), p.size(), mel(p), p.type())),
      ROW(signal::mel_spectrogram(p.any(), p.number(), p.size(), frames(p), mel(p), p.number())),
      ROW(signal::power_to_db(p.any(), p.number(), p.number(), p.number())),
      ROW(signal::mfcc(p.any(), p.number(), p.size(), {p.size(), p.number(), frames(p), mel(p)})),
  };
}

namespace {

tutti::ml::pca components(picker& p) { return tutti::ml::pca({p.size()}); }
tutti::ml::k_means clusters(picker& p) {
  return tutti::ml::k_means(
      draw::key{7},
      {.clusters = p.size(), .starts = 1, .iterations = p.below(3), .tolerance = p.number()});
}

}  // namespace

std::vector<entry> analysis() {
  return {
      ROW(tutti::cov(p.any(), p.number())),
      ROW(tutti::corrcoef(p.any())),
      ROW(tutti::cdist(p.any(), p.any(), static_cast<tutti::distance_metric>(p.below(6)))),
      ROW(tutti::rankdata(p.any(), static_cast<tutti::rank_method>(p.below(6)), p.axis())),
      ROW(tutti::percentile(p.any(), p.number(), p.axes())),
      ROW(tutti::percentile(p.any(), p.numbers(), p.axes())),
      ROW(tutti::histogram_along(p.any(), p.size(), p.number(), p.number(), p.axis()).counts),
      ROW(tutti::histogram2d(p.any(), p.any(), {p.size(), p.size()}, {p.number(), p.number()},
                             {p.number(), p.number()})
              .counts),
      ROW(tutti::interp(p.any(), p.any(), p.any(), p.number(), p.number())),
      ROW(tutti::trapezoid(p.any(), p.number(), p.axis())),
      ROW(tutti::trapezoid(p.any(), p.any(), p.axis())),
      ROW(tutti::gradient(p.any(), p.number(), p.axis(), p.below(4))),
      ROW(tutti::gradient(p.any(), p.any(), p.axis(), p.below(4))),
      ROW(components(p).fit_transform(p.small())),
      ROW(clusters(p).fit(p.small(), p.small()).centers()),
      ROW(clusters(p).fit(p.small()).centers()),
      ROW(draw::sobol(p.size(), p.size(), p.size(), {}, p.type())),
      ROW(draw::halton(p.size(), p.size(), p.size(), p.type())),
  };
}

}  // namespace hostile
