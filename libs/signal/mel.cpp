// SPDX-License-Identifier: Apache-2.0
//
// Spectra in mel bands, and their cepstral coefficients.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "signal/windows.hpp"
#include "tutti/contractions.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::signal {

using base::named;

namespace {

// Slaney's scale: 200 / 3 Hz a mel up to 1 kHz, then 27 mel for each factor of 6.4.
constexpr double linear_step = 200.0 / 3, logarithmic_from = 1000;
const double logarithmic_step = std::log(6.4) / 27;

double mel_of(double hertz, mel_scale scale) {
  if (scale == mel_scale::htk) return 2595 * std::log10(1 + hertz / 700);
  if (hertz < logarithmic_from) return hertz / linear_step;
  return logarithmic_from / linear_step + std::log(hertz / logarithmic_from) / logarithmic_step;
}

double hertz_of(double mel, mel_scale scale) {
  if (scale == mel_scale::htk) return 700 * (std::pow(10, mel / 2595) - 1);
  const double from = logarithmic_from / linear_step;
  if (mel < from) return mel * linear_step;
  return logarithmic_from * std::exp((mel - from) * logarithmic_step);
}

std::vector<double> mel_triangles(double rate, std::int64_t n_fft, const mel_options& how,
                                  const char* op) {
  const double high = how.high.value_or(rate / 2);
  if (!(rate > 0) || !std::isfinite(rate) || n_fft < 1 || how.bands < 1)
    base::fail<value_error>("{}: {} bands of {} points at a rate of {}", op, how.bands, n_fft,
                            rate);
  if (!(how.low >= 0 && how.low < high) || !std::isfinite(high))
    base::fail<value_error>("{}: bands from {} to {} Hz", op, how.low, high);
  base::require_known(op, "scale", how.scale, mel_scale::htk);
  const std::int64_t frequencies = n_fft / 2 + 1;
  graph::checked_elements({how.bands, frequencies}, dtype::f64, op);
  auto edges = detail::host_vector<double>(op, static_cast<std::uint64_t>(how.bands) + 2);
  const double first = mel_of(how.low, how.scale), last = mel_of(high, how.scale);
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges[i] = hertz_of(
        first + (last - first) * static_cast<double>(i) / static_cast<double>(edges.size() - 1),
        how.scale);
  auto weights =
      detail::host_vector<double>(op, static_cast<std::uint64_t>(how.bands * frequencies));
  for (std::size_t band = 0; band + 2 < edges.size(); ++band) {
    const double from = edges[band], middle = edges[band + 1], to = edges[band + 2];
    const double height = how.normalize ? 2 / (to - from) : 1;
    for (std::int64_t k = 0; k < frequencies; ++k) {
      const double f = static_cast<double>(k) * rate / static_cast<double>(n_fft);
      const double inside = std::min((f - from) / (middle - from), (to - f) / (to - middle));
      weights[band * static_cast<std::size_t>(frequencies) + static_cast<std::size_t>(k)] =
          height * std::max(inside, 0.0);
    }
  }
  return weights;
}

// Of spectra [..., n_fft / 2 + 1, frames].
array in_bands(const array& spectra, double rate, std::int64_t n_fft, const mel_options& how,
               const char* op) {
  const auto weights = mel_triangles(rate, n_fft, how, op);
  return matmul(
      op::host_numbers(spectra.device(), weights, {how.bands, n_fft / 2 + 1}, spectra.dtype(), op),
      spectra);
}

}  // namespace

array mel_filter_bank(double rate, integer n_fft, const mel_options& options, dtype type,
                      const device& on) {
  const char* op = "mel_filter_bank";
  op::host_numbers(on, {}, {0}, type, op);
  return op::host_numbers(on, mel_triangles(rate, n_fft, options, op),
                          {options.bands, n_fft / 2 + 1}, type, op);
}

array mel_spectrogram(const array& x, double rate, integer n_fft, const stft_options& frames,
                      const mel_options& mel, double power) {
  return named("mel_spectrogram", [&] {
    op::real_floating_type_of(x, "mel_spectrogram");
    const array spectra = spectrogram(x, n_fft, frames, power);
    return in_bands(spectra, rate, n_fft, mel, "mel_spectrogram");
  });
}

array power_to_db(const array& given, double reference, double least, std::optional<double> range) {
  return named("power_to_db", [&]() -> array {
    if (!std::isfinite(reference))
      base::fail<value_error>("power_to_db: the reference is {}, must be finite", reference);
    if (!(least > 0) || !std::isfinite(least))
      base::fail<value_error>("power_to_db: the least power is {}, must be positive and finite",
                              least);
    if (range && !(*range >= 0))
      base::fail<value_error>("power_to_db: a range of {} dB, must not be negative", *range);
    const dtype type = op::real_floating_type_of(given, "power_to_db");
    const array s = op::cast(given, graph::compute_dtype(type), "power_to_db");
    if (s.size() == 0) return op::cast(s, type, "power_to_db");
    const double from = std::max(least, finfo(s.dtype()).smallest_normal);
    const double zero = 10 * std::log10(std::max(std::abs(reference), from));
    const array db = 10 * log10(maximum(s, from)) - zero;
    return op::cast(range ? maximum(db, max(db) - *range) : db, type, "power_to_db");
  });
}

array mfcc(const array& x, double rate, integer n_fft, const mfcc_options& options) {
  return named("mfcc", [&] {
    const std::int64_t count = options.coefficients;
    if (count < 1 || count > options.mel.bands || !(options.lifter >= 0))
      base::fail<value_error>("mfcc: {} coefficients of {} bands, lifter {}", count,
                              options.mel.bands, options.lifter);
    const array s = power_to_db(mel_spectrogram(x, rate, n_fft, options.frames, options.mel));
    const array all = dct(s, 2, {}, -2, fft::norm::ortho);
    const array y = op::part_along(all, all.ndim() - 2, 0, count);
    if (options.lifter == 0) return y;
    auto weights = detail::host_vector<double>("mfcc", static_cast<std::uint64_t>(count));
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 1 + options.lifter / 2 *
                           std::sin(std::numbers::pi * static_cast<double>(i + 1) / options.lifter);
    return y * op::host_numbers(y.device(), weights, {count, 1}, y.dtype(), "mfcc");
  });
}

}  // namespace tutti::signal
