// SPDX-License-Identifier: Apache-2.0
//
// Other sampling rates: by Fourier transforms, and by filters in as many phases as there are.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "op/signal/windows.hpp"
#include "tutti/convolution.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::signal {

using detail::named;

namespace {

array rows_part(const array& x, std::int64_t from, std::int64_t to) {
  return x({slice{}, slice{from, to, 1}});
}

// Of real lines [outer, n, inner]: the frequencies that both lengths have. That of half the
// sampling rate stands for two, of which an odd or longer signal has both.
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
    if (n > 0) parts.push_back(op::zeros_on({x.dim(0), n, x.dim(2)}, z.dtype(), z.node()->device));
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
      throw dtype_error(fmt::format("resample: {} is not supported; convert to f32", name(type)));
    const array x = op::cast(given, type, "resample");
    const op::along at(x.shape(), axis, "resample");
    if (count < 1 || at.length == 0)
      throw value_error(fmt::format("resample: {} elements of axis {} of {}", std::int64_t{count},
                                    at.axis, x.shape().str()));
    shape to = x.shape();
    to[at.axis] = count;
    if (graph::checked_elements(to, complex_dtype(type), "resample") == 0)
      return op::zeros_on(to, type, x.node()->device);
    const array lines = op::around_axis(x, at);
    const array y =
        is_complex(type) ? resampled_complex(lines, count) : resampled_real(lines, count);
    return reshape(y * (static_cast<double>(count) / static_cast<double>(at.length)), to);
  });
}

namespace {

// out[m] = sum over k of x[k] taps[m down - k up + middle], where taps outside count as 0.
struct phases {
  std::int64_t up, down, middle;
  std::vector<double> taps;

  // The elements that result m, and so every later one of its phase, begins at, and the window that
  // results 0 to up - 1 share.
  std::int64_t first_element(std::int64_t m) const { return floor_div(m * down - middle + up - 1); }
  std::int64_t last_element(std::int64_t m) const { return floor_div(m * down + middle); }
  std::int64_t floor_div(std::int64_t n) const { return n / up - (n % up < 0 ? 1 : 0); }
};

// The elements [rows, n] through each of `up` filters, `down` apart: phase r of the result is an
// output channel of one convolution.
array filtered_phases(const array& x, const phases& p, std::int64_t count) {
  const std::int64_t first = p.first_element(0), width = p.last_element(p.up - 1) - first + 1;
  const std::int64_t rounds = (count - 1) / p.up + 1;
  auto weights =
      detail::host_vector<double>("resample_poly", static_cast<std::uint64_t>(p.up * width));
  for (std::int64_t r = 0; r < p.up; ++r)
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t tap = r * p.down - (k + first) * p.up + p.middle;
      if (tap >= 0 && tap < static_cast<std::int64_t>(p.taps.size()))
        weights[static_cast<std::size_t>(r * width + k)] = p.taps[static_cast<std::size_t>(tap)];
    }
  const std::int64_t whole = (rounds - 1) * p.down + width, n = x.dim(1);
  const std::int64_t behind = std::max<std::int64_t>(whole + first - n, 0);
  const array padded = rows_part(pad(x, {{0, 0}, {-first, behind}}), 0, whole);
  const array w =
      op::host_numbers(x.device(), weights, {p.up, 1, width}, x.dtype(), "resample_poly");
  const array y = conv1d(reshape(padded, {x.dim(0), 1, whole}), w, {.stride = p.down});
  return rows_part(reshape(swapaxes(y, 1, 2), {x.dim(0), rounds * p.up}), 0, count);
}

// The same where filters for each phase would have too many elements: what each result reads is
// taken, and its taps.
array gathered_phases(const array& x, const phases& p, std::int64_t count) {
  const auto length = static_cast<std::int64_t>(p.taps.size());
  const std::int64_t terms = (length - 1) / p.up + 1, rows = x.dim(0);
  graph::checked_elements({rows, graph::extent_product(count, terms, "resample_poly")}, x.dtype(),
                          "resample_poly");
  std::vector<double> taps = p.taps;
  taps.resize(static_cast<std::size_t>(terms * p.up));
  const array h =
      op::host_numbers(x.device(), taps, {1, terms * p.up, 1}, x.dtype(), "resample_poly");
  const auto device = x.node()->device;
  const array place = reshape(graph::iota({count}, device) * p.down + p.middle, {count, 1});
  const array term = graph::iota({terms}, device);
  const array element = floor_divide(place, p.up) - term + (terms - 1);
  const array tap = remainder(place, p.up) + term * p.up;
  const auto flat = [](const array& index) { return contiguous(reshape(index, {index.size()})); };
  // The first result reads from `terms` - 1 elements before its own on.
  const std::int64_t whole = ((count - 1) * p.down + p.middle) / p.up + terms;
  const std::int64_t behind = std::max<std::int64_t>(whole - (terms - 1) - x.dim(1), 0);
  const array padded = rows_part(pad(x, {{0, 0}, {terms - 1, behind}}), 0, whole);
  const array elements = op::take_rows(reshape(padded, {rows, whole, 1}), flat(element));
  const array weights = op::take_rows(h, flat(tap));
  return sum(reshape(elements * weights, {rows, count, terms}), 2);
}

array resampled_lines(const array& x, std::int64_t up, std::int64_t down, std::int64_t count) {
  const std::int64_t rate = std::max(up, down), middle = 10 * rate;
  phases p{up, down, middle, {}};
  p.taps =
      firwin(2 * middle + 1, {1 / static_cast<double>(rate)}, {.shape = {window_shape::kaiser, 5}});
  for (double& tap : p.taps) tap *= static_cast<double>(up);
  const bool few = up * (p.last_element(up - 1) - p.first_element(0) + 1) <= std::int64_t{1} << 22;
  return few ? filtered_phases(x, p, count) : gathered_phases(x, p, count);
}

}  // namespace

array resample_poly(const array& given, integer up, integer down, integer axis) {
  return named("resample_poly", [&]() -> array {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (up < 1 || down < 1 || up > most || down > most)
      throw value_error(fmt::format("resample_poly: factors {} / {}, must lie in [1, 2^20]",
                                    std::int64_t{up}, std::int64_t{down}));
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
      return op::zeros_on(to, type, x.node()->device);
    const array rows = op::as_rows(x, along);
    const auto lines = [&](const array& part) { return resampled_lines(part, m, d, to[along]); };
    const array y = is_complex(type) ? complex(lines(real(rows)), lines(imag(rows))) : lines(rows);
    return op::cast(op::from_rows(y, to, along), type, "resample_poly");
  });
}

}  // namespace tutti::signal
