// SPDX-License-Identifier: Apache-2.0
//
// Signals: short-time transforms, mel spectra, resampling and recursive filters, compared with
// SciPy or PyTorch in the Python of TUTTI_BENCH_PYTHON (python3), and with a copy of the input and
// output bytes.
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/signal.hpp"

namespace tutti::bench {
namespace {

constexpr std::int64_t samples = std::int64_t{4} << 20;
constexpr std::int64_t rows = 16, columns = samples / rows;
constexpr std::int64_t points = 1024, hop = 256, frequencies = points / 2 + 1, bands = 128;
constexpr std::int64_t frames = samples / hop + 1;
constexpr double sampling_rate = 44100;

struct data {
  std::vector<float> a;
  array x, y;
};

std::shared_ptr<data> make_data(const shape& extents) {
  auto d = std::make_shared<data>();
  d->a = operand<float>(samples, 4);
  d->x = array::from(d->a, extents).wait();
  return d;
}

// Checked frames: the first and the last, which are padded with zeros, and one in between.
constexpr std::int64_t looked_at[] = {0, frames / 2 + 1, frames - 1};

// One frame, windowed and transformed by definition.
std::vector<std::complex<double>> spectrum(const std::vector<float>& a, std::int64_t frame) {
  std::vector<std::complex<double>> z(static_cast<std::size_t>(frequencies));
  for (std::int64_t i = 0; i < points; ++i) {
    const std::int64_t at = frame * hop - points / 2 + i;
    if (at < 0 || at >= samples) continue;
    const double turn = 2 * std::numbers::pi / static_cast<double>(points);
    const double value = (0.5 - 0.5 * std::cos(turn * static_cast<double>(i))) *
                         static_cast<double>(a[static_cast<std::size_t>(at)]);
    for (std::int64_t k = 0; k < frequencies; ++k)
      z[static_cast<std::size_t>(k)] +=
          std::polar(value, -turn * static_cast<double>(i * k % points));
  }
  return z;
}

workload transforms() {
  auto d = make_data({samples});
  return {.ours = [d] { d->y = signal::stft(d->x, points, {.hop = hop}).wait(); },
          .check = [d]() -> std::string {
            for (const std::int64_t frame : looked_at) {
              std::vector<double> expected, got;
              for (const auto& z : spectrum(d->a, frame)) {
                expected.push_back(z.real());
                expected.push_back(z.imag());
              }
              const array part = contiguous(d->y({slice{}, frame}));
              for (const auto& z : part.to_vector<std::complex<float>>()) {
                got.push_back(static_cast<double>(z.real()));
                got.push_back(static_cast<double>(z.imag()));
              }
              std::string wrong = compare(got, expected, 1e-4);
              if (!wrong.empty()) return wrong;
            }
            return {};
          }};
}

workload mel_spectra() {
  auto d = make_data({samples});
  return {.ours =
              [d] {
                d->y = signal::mel_spectrogram(d->x, sampling_rate, points, {.hop = hop},
                                               {.bands = bands})
                           .wait();
              },
          .check = [d]() -> std::string {
            const array bank =
                signal::mel_filter_bank(sampling_rate, points, {.bands = bands}, dtype::f64);
            const std::vector<double> weights = bank.to_vector<double>();
            for (const std::int64_t frame : looked_at) {
              const auto z = spectrum(d->a, frame);
              std::vector<float> expected(static_cast<std::size_t>(bands));
              for (std::size_t i = 0; i < expected.size(); ++i) {
                double sum = 0;
                for (std::size_t k = 0; k < z.size(); ++k)
                  sum += weights[i * z.size() + k] * std::norm(z[k]);
                expected[i] = static_cast<float>(sum);
              }
              const array part = contiguous(d->y({slice{}, frame}));
              std::string wrong = compare(part.to_vector<float>(), expected, 1e-4);
              if (!wrong.empty()) return wrong;
            }
            return {};
          }};
}

workload other_rates(std::int64_t up, std::int64_t down) {
  auto d = make_data({samples});
  return {.ours = [=] { d->y = signal::resample_poly(d->x, up, down).wait(); },
          .check =
              [=] {
                const std::int64_t middle = 10 * std::max(up, down);
                const std::vector<double> taps =
                    signal::firwin(2 * middle + 1, {1 / static_cast<double>(std::max(up, down))},
                                   {.shape = {signal::window_shape::kaiser, 5}});
                const std::vector<float> got = d->y.to_vector<float>();
                std::vector<float> some, expected;
                for (std::size_t m = 0; m < got.size(); m += 9973) {
                  const std::int64_t at = static_cast<std::int64_t>(m) * down + middle;
                  double sum = 0;
                  for (std::int64_t k = std::max<std::int64_t>((at - 2 * middle + up - 1) / up, 0);
                       k <= at / up && k < samples; ++k)
                    sum += static_cast<double>(d->a[static_cast<std::size_t>(k)]) *
                           taps[static_cast<std::size_t>(at - k * up)];
                  some.push_back(got[m]);
                  expected.push_back(static_cast<float>(sum * static_cast<double>(up)));
                }
                return compare(some, expected, 1e-5);
              }};
}

// Filters a row, sample by sample.
std::vector<float> recurred(const signal::sections& sos, const float* x) {
  std::vector<float> out(static_cast<std::size_t>(columns));
  std::vector<std::array<double, 2>> state(sos.size());
  for (std::size_t n = 0; n < out.size(); ++n) {
    double v = static_cast<double>(x[n]);
    for (std::size_t i = 0; i < sos.size(); ++i) {
      const signal::section& s = sos[i];
      const double y = s[0] * v + state[i][0];
      state[i] = {s[1] * v - s[4] * y + state[i][1], s[2] * v - s[5] * y};
      v = y;
    }
    out[n] = static_cast<float>(v);
  }
  return out;
}

workload filters(const signal::sections& sos) {
  auto d = make_data({rows, columns});
  const auto filtered = [=] {
    if (sos.size() > 1) return signal::sosfilt(sos, d->x);
    const signal::section& s = sos[0];
    return signal::lfilter({s[0], s[1], s[2]}, {s[3], s[4], s[5]}, d->x);
  };
  return {.ours = [=] { d->y = filtered().wait(); },
          .check =
              [=] {
                const std::vector<float> last = contiguous(d->y[rows - 1]).to_vector<float>();
                return compare(last, recurred(sos, d->a.data() + (rows - 1) * columns), 1e-5);
              }};
}

}  // namespace

void add_signal_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, const char* peer, std::int64_t result_bytes,
                       std::function<workload()> make) {
    cases.push_back({.name = name,
                     .unit = "GB/s",
                     .amount = static_cast<double>(4 * samples + result_bytes),
                     .bound = floor_kind::copy,
                     .bound_elements = samples,
                     .peer = "fastest of SciPy, PyTorch",
                     .make = std::move(make),
                     .python = peer,
                     .at_least_of_peer = 1});
  };
  add("stft of 4M f32, 1024 points, hop 256", "stft", 8 * frequencies * frames, transforms);
  add("mel spectrogram of 4M f32, 128 bands", "mel spectrogram", 4 * bands * frames, mel_spectra);
  constexpr std::int64_t up = 160, down = 147;
  add("resample_poly of 4M f32, 160/147", "resample_poly", 4 * samples * up / down,
      [=] { return other_rates(up, down); });
  add("lfilter of 16 x 256k f32, order 2", "lfilter", 4 * samples,
      [] { return filters(signal::butter(2, {0.2})); });
  add("sosfilt of 16 x 256k f32, order 8", "sosfilt", 4 * samples,
      [] { return filters(signal::butter(8, {0.2})); });
}

}  // namespace tutti::bench
