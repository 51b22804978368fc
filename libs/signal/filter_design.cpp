// SPDX-License-Identifier: Apache-2.0
//
// Filter coefficients, in f64 on the host.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/fail.hpp"
#include "signal/windows.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::signal {

namespace {

using point = std::complex<double>;
constexpr double pi = std::numbers::pi;

std::vector<double> tap_list(std::int64_t taps, const char* op) {
  if (taps < 1) base::fail<value_error>("{}: {} taps", op, taps);
  graph::checked_elements({taps}, dtype::f64, op);
  return detail::host_vector<double>(op, static_cast<std::uint64_t>(taps));
}

double checked_half_rate(double rate, const char* op) {
  if (!(rate > 0) || !std::isfinite(rate))
    base::fail<value_error>("{}: the rate is {}, must be positive and finite", op, rate);
  return rate / 2;
}

// Cutoffs as fractions of half the rate.
std::vector<double> checked_cutoffs(const std::vector<double>& cutoffs, double rate,
                                    const char* op) {
  const double half = checked_half_rate(rate, op);
  std::vector<double> parts;
  for (const double f : cutoffs) {
    if (!(f > 0 && f < half))
      base::fail<value_error>("{}: a cutoff of {}, must lie within (0, {})", op, f, half);
    parts.push_back(f / half);
    if (parts.size() > 1 && !(parts.back() > parts[parts.size() - 2]))
      base::fail<value_error>("{}: cutoffs {} and {} do not ascend", op, cutoffs[parts.size() - 2],
                              f);
  }
  return parts;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); }

}  // namespace

std::vector<double> firwin(integer taps, const std::vector<double>& cutoffs,
                           const firwin_options& options) {
  std::vector<double> h = tap_list(taps, "firwin");
  std::vector<double> edges = checked_cutoffs(cutoffs, options.rate, "firwin");
  if (edges.empty()) throw value_error("firwin: no cutoffs");
  const bool pass_half = options.pass_zero == (edges.size() % 2 == 0);
  if (pass_half && taps % 2 == 0)
    base::fail<value_error>("firwin: {} taps have no gain at half the rate, which passes",
                            std::int64_t{taps});
  if (options.pass_zero) edges.insert(edges.begin(), 0);
  if (pass_half) edges.push_back(1);
  const auto w = op::window_values(options.shape, taps, symmetry::symmetric, "firwin");
  // Gain 1 at frequency 0, at half the rate, or at the centre of the first band.
  const double at = edges[0] == 0 ? 0 : edges[1] == 1 ? 1 : (edges[0] + edges[1]) / 2;
  double gain = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double m = static_cast<double>(i) - static_cast<double>(h.size() - 1) / 2;
    for (std::size_t band = 0; band < edges.size(); band += 2)
      h[i] += edges[band + 1] * sinc(edges[band + 1] * m) - edges[band] * sinc(edges[band] * m);
    h[i] *= w[i];
    gain += h[i] * std::cos(pi * m * at);
  }
  if (options.scale)
    for (double& tap : h) tap /= gain;
  return h;
}

std::vector<double> firwin2(integer taps, const std::vector<double>& frequencies,
                            const std::vector<double>& gains, const window& shape, double rate) {
  std::vector<double> h = tap_list(taps, "firwin2");
  const double half = checked_half_rate(rate, "firwin2");
  const std::size_t count = frequencies.size();
  if (count < 2 || gains.size() != count || frequencies.front() != 0 || frequencies.back() != half)
    base::fail<value_error>("firwin2: {} frequencies for {} gains, must go from 0 to {}", count,
                            gains.size(), half);
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(gains[i])) base::fail<value_error>("firwin2: a gain of {}", gains[i]);
    if ((i > 0 && !(frequencies[i] >= frequencies[i - 1])) ||
        (i > 0 && frequencies[i] == frequencies[i - 1] &&
         (i == 1 || i == count - 1 || frequencies[i] == frequencies[i - 2])))
      base::fail<value_error>("firwin2: frequency {} does not ascend", frequencies[i]);
  }
  if (taps % 2 == 0 && gains.back() != 0)
    base::fail<value_error>("firwin2: {} taps have no gain at half the rate, not {}",
                            std::int64_t{taps}, gains.back());
  std::size_t intervals = 1;
  while (intervals < h.size()) intervals *= 2;
  // The gain at each frequency of the grid; at a step that just before it, and also just after it
  // if it is on the grid: there the step is halved.
  auto grid = detail::host_vector<double>("firwin2", intervals + 1);
  for (std::size_t k = 0; k <= intervals; ++k) {
    const double f = half * static_cast<double>(k) / static_cast<double>(intervals);
    const auto above = std::upper_bound(frequencies.begin(), frequencies.end(), f);
    const auto right =
        std::min<std::size_t>(static_cast<std::size_t>(above - frequencies.begin()), count - 1);
    const double from = frequencies[right - 1], to = frequencies[right];
    const double part = to > from ? (f - from) / (to - from) : 1;
    grid[k] = gains[right - 1] + (gains[right] - gains[right - 1]) * part;
    if (right >= 2 && f == frequencies[right - 1] && f == frequencies[right - 2])
      grid[k] = (gains[right - 1] + gains[right - 2]) / 2;
  }
  const auto w = op::window_values(shape, taps, symmetry::symmetric, "firwin2");
  const double step = pi / static_cast<double>(intervals);
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double m = static_cast<double>(i) - static_cast<double>(h.size() - 1) / 2;
    double sum = grid[0] / 2 + grid[intervals] * std::cos(pi * m) / 2;
    for (std::size_t k = 1; k < intervals; ++k)
      sum += grid[k] * std::cos(step * static_cast<double>(k) * m);
    h[i] = w[i] * sum / static_cast<double>(intervals);
  }
  return h;
}

namespace {

// A section with these two poles, a pair of conjugates or two real ones, and zeros, of gain 1 at z.
section section_of(point p, point q, double zeros_sum, double zeros_product, point at) {
  section s = {1, -zeros_sum, zeros_product, 1, -(p + q).real(), (p * q).real()};
  const point above = (s[0] * at + s[1]) * at + s[2], below = (s[3] * at + s[4]) * at + s[5];
  const double gain = std::abs(above / below);
  for (int i = 0; i < 3; ++i) s[static_cast<std::size_t>(i)] /= gain;
  return s;
}

// One pole and one zero.
section first_order(double pole, double zero) {
  const double gain = std::abs((-zero - zero) / (-zero - pole));
  return {1 / gain, -zero / gain, 0, 1, -pole, 0};
}

// From the plane of s to that of z, for a sampling rate of 2.
point bilinear(point s) { return (4.0 + s) / (4.0 - s); }

// Both solutions of s^2 - 2 b s + c = 0, without cancellation.
std::pair<point, point> roots_of(point b, double c) {
  const point root = std::sqrt(b * b - c);
  const point far = std::abs(b + root) > std::abs(b - root) ? b + root : b - root;
  return {far, c / far};
}

struct edges_in_s {
  double low, high;  // radians per second that the bilinear transform maps to the cutoffs
};

// The sections for pole p of the low-pass prototype; `real_pole` is a single pole.
void add_sections(sections& out, point p, bool real_pole, band kind, const edges_in_s& e) {
  if (kind == band::lowpass || kind == band::highpass) {
    const bool low = kind == band::lowpass;
    const point z = bilinear(low ? e.low * p : e.low / p);
    const double zero = low ? -1 : 1;
    out.push_back(real_pole ? first_order(z.real(), zero)
                            : section_of(z, std::conj(z), 2 * zero, 1, -zero));
    return;
  }
  const double middle = e.low * e.high, width = e.high - e.low;
  const bool pass = kind == band::bandpass;
  const auto [first, second] = roots_of((pass ? p * width : width / p) / 2.0, middle);
  const point center = bilinear(point(0, std::sqrt(middle)));
  const double zeros_sum = pass ? 0 : 2 * center.real(), zeros_product = pass ? -1 : 1;
  const point at = pass ? center : point(1);
  const point z = bilinear(first), y = bilinear(second);
  if (real_pole) {
    out.push_back(section_of(z, y, zeros_sum, zeros_product, at));
  } else {
    out.push_back(section_of(z, std::conj(z), zeros_sum, zeros_product, at));
    out.push_back(section_of(y, std::conj(y), zeros_sum, zeros_product, at));
  }
}

}  // namespace

sections butter(integer order, const std::vector<double>& cutoffs, band kind, double rate) {
  const std::int64_t n = order;
  // Beyond it, sections with low Q attenuate the edge too much for those with high Q to restore it.
  if (n < 1 || n > 100) base::fail<value_error>("butter: the order is {}, must be 1 to 100", n);
  base::require_known("butter", "band", kind, band::bandstop);
  const std::size_t edges = kind == band::lowpass || kind == band::highpass ? 1 : 2;
  if (cutoffs.size() != edges)
    base::fail<value_error>("butter: {} cutoffs, must be {}", cutoffs.size(), edges);
  const std::vector<double> parts = checked_cutoffs(cutoffs, rate, "butter");
  const auto warped = [&](std::size_t i) { return 4 * std::tan(pi * parts[i] / 2); };
  const edges_in_s e{warped(0), edges == 2 ? warped(1) : 0};
  sections out;
  // Poles of the prototype on a half circle, from the real axis on.
  if (n % 2 != 0) add_sections(out, -1, true, kind, e);
  for (std::int64_t k = n % 2 != 0 ? 2 : 1; k < n; k += 2) {
    const double angle = pi * static_cast<double>(k) / static_cast<double>(2 * n);
    add_sections(out, -std::polar(1.0, angle), false, kind, e);
  }
  // Each section has this gain; their product is positive at the centre of a band.
  if (kind == band::bandpass) {
    const point at = bilinear(point(0, std::sqrt(e.low * e.high)));
    point gain = 1;
    for (const section& s : out)
      gain *= ((s[0] * at + s[1]) * at + s[2]) / ((s[3] * at + s[4]) * at + s[5]);
    if (gain.real() < 0)
      for (std::size_t i = 0; i < 3; ++i) out.front()[i] = -out.front()[i];
  }
  return out;
}

}  // namespace tutti::signal
