// SPDX-License-Identifier: Apache-2.0
//
// Resampling: by Fourier transforms, and by polyphase filters.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "signal/windows.hpp"
#include "tutti/contractions.hpp"
#include "tutti/convolution.hpp"
#include "tutti/extension.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::signal {

using base::named;

namespace {

array rows_part(const array& x, std::int64_t from, std::int64_t to) {
  return x({slice{}, slice{from, to, 1}});
}

// For real lines [outer, n, inner]: the frequencies that both lengths have. That of half the
// sampling rate represents two, which an odd or longer signal has separately.
array resampled_real(const array& x, std::int64_t count) {
  const std::int64_t given = x.dim(1), shorter = std::min(given, count);
  array z = rows_part(fft::rfft(x, {}, 1), 0, shorter / 2 + 1);
  if (shorter % 2 == 0 && given != count) {
    const double share = count < given ? 2 : 0.5;
    z = concatenate(
        {rows_part(z, 0, shorter / 2), rows_part(z, shorter / 2, shorter / 2 + 1) * share}, 1);
  }
  return fft::irfft(z, count, 1);
}

array resampled_complex(const array& x, std::int64_t count) {
  const std::int64_t given = x.dim(1), shorter = std::min(given, count);
  const array z = fft::fft(x, {}, 1);
  if (given == count) return fft::ifft(z, {}, 1);
  const std::int64_t kept = (shorter + 1) / 2, negative = shorter / 2 - (shorter % 2 == 0 ? 1 : 0);
  std::vector<array> parts = {rows_part(z, 0, kept)};
  const auto zeros = [&](std::int64_t n) {
    if (n > 0) parts.push_back(op::zeros_on({x.dim(0), n, x.dim(2)}, z.dtype(), op::device_of(z)));
  };
  if (shorter % 2 != 0) {
    zeros(count - shorter);
  } else if (count < given) {  // both of the frequencies that become one
    parts.push_back(rows_part(z, kept, kept + 1) + rows_part(z, given - kept, given - kept + 1));
  } else {
    const array half = rows_part(z, kept, kept + 1) * 0.5;
    parts.push_back(half);
    zeros(count - shorter - 1);
    parts.push_back(half);
  }
  if (negative > 0) parts.push_back(rows_part(z, given - negative, given));
  return fft::ifft(concatenate(parts, 1), {}, 1);
}

}  // namespace

array resample(const array& given, integer count, integer axis) {
  return named("resample", [&] {
    const dtype type = op::floating_type_of(given, "resample");
    if (type == dtype::f16 || type == dtype::bf16)
      base::fail<dtype_error>("resample: {} is not supported; convert to f32", type);
    const array x = op::cast(given, type, "resample");
    const op::along at(x.shape(), axis, "resample");
    if (count < 1 || at.length == 0)
      base::fail<value_error>("resample: {} elements of axis {} of {}", std::int64_t{count},
                              at.axis, x.shape());
    shape to = x.shape();
    to[at.axis] = count;
    if (graph::checked_elements(to, complex_dtype(type), "resample") == 0)
      return op::zeros_on(to, type, op::device_of(x));
    const array lines = op::around_axis(x, at);
    const array y =
        is_complex(type) ? resampled_complex(lines, count) : resampled_real(lines, count);
    return reshape(y * (static_cast<double>(count) / static_cast<double>(at.length)), to);
  });
}

namespace {

// I0(x) for |x| <= 5, by its series, whose terms are all positive: accurate to about 1e-15.
double bessel_i0(double x) {
  constexpr int terms = 24;
  const double q = x * x / 4;
  double sum = 1;
  for (int k = terms; k > 0; --k) sum = 1 + q / (k * k) * sum;
  return sum;
}

// The taps of firwin(20 rate + 1, {1 / rate}, {.shape = {window_shape::kaiser, 5}}), computed
// individually: a filter for factors near 2^20 has 20 million, of which a few results need only a
// few.
class low_pass {
 public:
  explicit low_pass(std::int64_t rate)
      : rate_(static_cast<double>(rate)), middle_(10 * rate), sum_(sum_of_taps(rate)) {}

  std::int64_t middle() const { return middle_; }
  std::int64_t length() const { return 2 * middle_ + 1; }
  /// Tap i; 0 outside of [0, length).
  double operator()(std::int64_t i) const {
    if (i < 0 || i > 2 * middle_) return 0;
    return tap_at(static_cast<double>(i - middle_) / rate_) / (rate_ * sum_);
  }

 private:
  // Without a constant factor; t in zeros of the sinc from the centre, 10 of them on each side.
  static double tap_at(double t) {
    const double angle = std::numbers::pi * t;
    const double ripple = t == 0 ? 1 : std::sin(angle) / angle;
    return ripple * bessel_i0(5 * std::sqrt(std::max(0.0, 1 - t * t / 100)));
  }

  // The sum of tap_at() over steps of 1 / rate, times that step: a trapezoidal rule. From 1024
  // steps on, the next term of the Euler-Maclaurin formula, with the slopes of tap_at() at both
  // ends, 0.1 and -0.1, gives its error within rounding.
  static double sum_of_taps(std::int64_t rate) {
    const std::int64_t steps = std::min<std::int64_t>(rate, 1024);
    double sum = 0;
    for (std::int64_t i = 1; i <= 10 * steps; ++i)
      sum += tap_at(static_cast<double>(i) / static_cast<double>(steps));
    const auto square_of_step = [](std::int64_t n) {
      return 1 / (static_cast<double>(n) * static_cast<double>(n));
    };
    return (bessel_i0(5) + 2 * sum) / static_cast<double>(steps) +
           0.2 / 12 * (square_of_step(rate) - square_of_step(steps));
  }

  double rate_;
  std::int64_t middle_;
  double sum_;
};

// out[m] = sum over k of x[k] up filter(m down - k up + middle).
struct phases {
  std::int64_t up, down;
  low_pass filter;

  double tap(std::int64_t i) const { return static_cast<double>(up) * filter(i); }
  // The first element for result m, and so for every later one of its phase, and the last one.
  std::int64_t first_element(std::int64_t m) const {
    return floor_div(m * down - filter.middle() + up - 1);
  }
  std::int64_t last_element(std::int64_t m) const { return floor_div(m * down + filter.middle()); }
  std::int64_t floor_div(std::int64_t n) const { return n / up - (n % up < 0 ? 1 : 0); }
  // The maximum number of elements for one result.
  std::int64_t terms() const { return (filter.length() - 1) / up + 1; }
  // The total number of elements for the first `count` results.
  std::int64_t width(std::int64_t count) const {
    return last_element(count - 1) - first_element(0) + 1;
  }
};

std::vector<double> taps_on_host(std::int64_t count) {
  return detail::host_vector<double>("resample_poly", static_cast<std::uint64_t>(count));
}

// Filters the elements [rows, n] with one filter for each phase, `down` apart: phase r of the
// result is an output channel of one convolution.
array filtered_phases(const array& x, const phases& p, std::int64_t count) {
  const std::int64_t channels = std::min(p.up, count), rounds = (count - 1) / channels + 1;
  const std::int64_t first = p.first_element(0), width = p.width(channels);
  auto weights = taps_on_host(channels * width);
  for (std::int64_t r = 0; r < channels; ++r)
    for (std::int64_t k = p.first_element(r); k <= p.last_element(r); ++k)
      weights[static_cast<std::size_t>(r * width + k - first)] =
          p.tap(r * p.down - k * p.up + p.filter.middle());
  const std::int64_t whole = (rounds - 1) * p.down + width, n = x.dim(1);
  const std::int64_t behind = std::max<std::int64_t>(whole + first - n, 0);
  const array padded = rows_part(pad(x, {{0, 0}, {-first, behind}}), 0, whole);
  const array w =
      op::host_numbers(x.device(), weights, {channels, 1, width}, x.dtype(), "resample_poly");
  const array y = conv1d(reshape(padded, {x.dim(0), 1, whole}), w, {.stride = p.down});
  return rows_part(reshape(swapaxes(y, 1, 2), {x.dim(0), rounds * channels}), 0, count);
}

// The same for a few elements and a long filter: as a product with one tap for each pair of them.
array multiplied(const array& x, const phases& p, std::int64_t count) {
  const std::int64_t n = x.dim(1);
  auto weights = taps_on_host(n * count);
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t m = 0; m < count; ++m)
      weights[static_cast<std::size_t>(k * count + m)] =
          p.tap(m * p.down - k * p.up + p.filter.middle());
  return matmul(x, op::host_numbers(x.device(), weights, {n, count}, x.dtype(), "resample_poly"));
}

// The same if filters for each phase would have too many elements: gathers the elements and taps of
// each result.
array gathered_phases(const array& x, const phases& p, std::int64_t count) {
  const std::int64_t terms = p.terms(), rows = x.dim(0), middle = p.filter.middle();
  graph::checked_elements({rows, graph::extent_product(count, terms, "resample_poly")}, x.dtype(),
                          "resample_poly");
  const auto device = op::device_of(x);
  const auto flat = [](const array& index) { return contiguous(reshape(index, {index.size()})); };
  const array place = reshape(graph::iota({count}, device) * p.down + middle, {count, 1});
  const array term = graph::iota({terms}, device);
  const array element = floor_divide(place, p.up) - term + (terms - 1);
  // The taps of each result while there are fewer results than phases, otherwise those of each
  // phase.
  const std::int64_t lists = std::min(count, p.up);
  const bool each = lists == count;
  auto taps = taps_on_host(lists * terms);
  for (std::int64_t i = 0; i < lists; ++i)
    for (std::int64_t k = 0; k < terms; ++k)
      taps[static_cast<std::size_t>(i * terms + k)] =
          p.tap((each ? (i * p.down + middle) % p.up : i) + k * p.up);
  const array lines =
      op::host_numbers(x.device(), taps, {1, lists * terms, 1}, x.dtype(), "resample_poly");
  const array weights =
      each ? lines : op::take_rows(lines, flat(remainder(place, p.up) * terms + term));
  // The first result begins `terms` - 1 elements before its own.
  const std::int64_t whole = ((count - 1) * p.down + middle) / p.up + terms;
  const std::int64_t behind = std::max<std::int64_t>(whole - (terms - 1) - x.dim(1), 0);
  const array padded = rows_part(pad(x, {{0, 0}, {terms - 1, behind}}), 0, whole);
  const array elements = op::take_rows(reshape(padded, {rows, whole, 1}), flat(element));
  return sum(reshape(elements * weights, {rows, count, terms}), 2);
}

// Uses the method with the fewest taps, or nearly: none computes more than the results need.
array resampled_lines(const array& x, std::int64_t up, std::int64_t down, std::int64_t count) {
  const phases p{up, down, low_pass(std::max(up, down))};
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  const std::int64_t channels = std::min(up, count);
  const double filters = product(channels, p.width(channels));
  if (8 * product(count, x.dim(1)) <= std::min(filters, product(count, p.terms())))
    return multiplied(x, p, count);
  const double few = std::max(0x1p22, 2 * product(channels, p.terms()));
  return filters <= few ? filtered_phases(x, p, count) : gathered_phases(x, p, count);
}

}  // namespace

array resample_poly(const array& given, integer up, integer down, integer axis) {
  return named("resample_poly", [&]() -> array {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (up < 1 || down < 1 || up > most || down > most)
      base::fail<value_error>("resample_poly: factors {} / {}, must lie in [1, 2^20]",
                              std::int64_t{up}, std::int64_t{down});
    const dtype type = op::floating_type_of(given, "resample_poly");
    const array x = op::cast(given, graph::compute_dtype(type), "resample_poly");
    const int along = normalize_axis(axis, x.ndim(), "resample_poly");
    const std::int64_t common = std::gcd(std::int64_t{up}, std::int64_t{down});
    const std::int64_t m = up / common, d = down / common;
    if (m == 1 && d == 1) return op::cast(x, type, "resample_poly");
    shape to = x.shape();
    const std::int64_t whole = graph::extent_product(to[along], m, "resample_poly");
    to[along] = whole / d + (whole % d != 0);
    if (graph::checked_elements(to, complex_dtype(type), "resample_poly") == 0)
      return op::zeros_on(to, type, op::device_of(x));
    const array rows = op::as_rows(x, along);
    const auto lines = [&](const array& part) { return resampled_lines(part, m, d, to[along]); };
    const array y = is_complex(type) ? complex(lines(real(rows)), lines(imag(rows))) : lines(rows);
    return op::cast(op::from_rows(y, to, along), type, "resample_poly");
  });
}

}  // namespace tutti::signal
