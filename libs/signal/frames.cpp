// SPDX-License-Identifier: Apache-2.0
//
// Frames of a signal, their sums, and transforms of frames.

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "signal/windows.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti::signal {

using base::named;

namespace {

// `length` elements along the last axis: truncated or padded with zeros.
array fitted_last(const array& a, std::int64_t length) {
  const std::int64_t there = a.dim(-1);
  if (there >= length) return op::part_along(a, a.ndim() - 1, 0, length);
  std::vector<pad_width> widths(static_cast<std::size_t>(a.ndim()));
  widths.back() = {0, length - there};
  return pad(a, widths);
}

// Adds pieces [rows, frames, pieces, hop] of frames, where piece j of each is j positions later:
// [rows, frames + pieces - 1, hop].
array sum_of_pieces(const array& cut) {
  const std::int64_t rows = cut.dim(0), count = cut.dim(1), pieces = cut.dim(2), hop = cut.dim(3);
  // A few views of one padded copy fuse into one program.
  if (pieces <= 8) {
    const std::int64_t edge = pieces - 1, places = count + edge;
    const array apart = edge > 0 ? pad(cut, {{0, 0}, {edge, edge}}) : cut;
    array sum;
    for (std::int64_t j = 0; j < pieces; ++j) {
      const array part = apart({slice{}, slice{edge - j, edge - j + places, 1}, j});
      sum = sum.valid() ? sum + part : part;
    }
    return sum;
  }
  // The rows of pieces are read from a padded copy, in which each row is one piece shorter.
  const std::int64_t padded = count + pieces;
  const array apart = pad(transpose(cut, {0, 2, 1, 3}), {{0, 0}, {0, 0}, {0, pieces}, {0, 0}});
  const array flat = reshape(apart, {rows, pieces * padded, hop});
  const array shorter = flat({slice{}, slice{0, pieces * (padded - 1), 1}});
  return sum(reshape(shorter, {rows, pieces, padded - 1, hop}), 1);
}

// Adds frames [rows, frames, length].
array sum_of_frames(const array& frames, std::int64_t hop, std::int64_t total) {
  const std::int64_t rows = frames.dim(0), count = frames.dim(1), length = frames.dim(2);
  const std::int64_t pieces = length / hop + (length % hop != 0);
  const std::int64_t wide = graph::extent_product(pieces, hop, "overlap_add");
  const std::int64_t padded =
      graph::extent_sum(count, graph::extent_product(2, pieces, "overlap_add"), "overlap_add");
  graph::checked_elements({rows, pieces, padded, hop}, frames.dtype(), "overlap_add");
  const array sums = sum_of_pieces(fitted_last(frames, wide).reshape({rows, count, pieces, hop}));
  const array whole = op::cast(sums, frames.dtype(), "overlap_add");
  return fitted_last(reshape(whole, {rows, (count + pieces - 1) * hop}), total);
}

// The checks of lengths and hops for frame() and its adjoint.
void check_frames(std::int64_t length, std::int64_t hop, const char* op) {
  if (length < 1 || hop < 1)
    base::fail<value_error>("{}: frames of {} elements, {} apart", op, length, hop);
}

array frames_of(const array& x, std::int64_t length, std::int64_t hop, int axis) {
  shape extents = x.shape(), strides = graph::contiguous_strides(extents);
  extents.push_back(length);
  strides.push_back(strides[axis]);
  extents[axis] = (extents[axis] - length) / hop + 1;
  // With a single frame the hop is irrelevant.
  strides[axis] = extents[axis] > 1 ? strides[axis] * hop : 0;
  return as_strided(x, extents, strides);
}

// Frames such that all samples are covered by them.
array added_frames(const array& frames, std::int64_t hop, int axis, std::int64_t extent) {
  const array sums = swapaxes(overlap_add(frames, hop, axis), axis, -1);
  return swapaxes(fitted_last(sums, extent), axis, -1);
}

}  // namespace

array frame(const array& given, integer length, integer hop, integer along) {
  return named("frame", [&]() -> array {
    check_frames(length, hop, "frame");
    const shape extents = op::extents_of(given, "frame");
    const int axis = normalize_axis(along, extents.rank(), "frame");
    if (length > extents[axis])
      base::fail<shape_error>("frame: frames of {} elements along axis {} of {}",
                              std::int64_t{length}, axis, extents);
    if (extents.rank() == max_rank)
      base::fail<shape_error>("frame: no room for another axis beside {}", extents);
    const array x = op::cast(given, op::type_of(given, "frame"), "frame");
    if (x.size() == 0 || !graph::is_differentiated(x)) return frames_of(x, length, hop, axis);
    using arrays = std::vector<array>;
    return custom_vjp([=](const arrays& v) { return arrays{frames_of(v[0], length, hop, axis)}; },
                      [=](const arrays&, const arrays&, const arrays& g) {
                        return arrays{added_frames(g[0], hop, axis, extents[axis])};
                      })({x})[0];
  });
}

namespace {

// Frames with at least one element, in the dtype of the computation.
array added_along(const array& x, std::int64_t hop, int axis, std::int64_t total) {
  const array last = moveaxis(x, {axis}, {-2});
  shape to = last.shape();
  to.erase(to.rank() - 1);
  to[to.rank() - 1] = total;
  const array rows = reshape(last, {x.size() / (x.dim(axis) * x.dim(-1)), x.dim(axis), x.dim(-1)});
  return moveaxis(reshape(sum_of_frames(rows, hop, total), to), {-1}, {axis});
}

}  // namespace

array overlap_add(const array& given, integer hop, integer along) {
  return named("overlap_add", [&]() -> array {
    const shape extents = op::extents_of(given, "overlap_add");
    if (extents.rank() < 2 || extents.back() == 0)
      base::fail<shape_error>("overlap_add: {} has no frames", extents);
    const std::int64_t length = extents.back(), apart = hop;
    check_frames(length, apart, "overlap_add");
    const int axis = normalize_axis(along, extents.rank() - 1, "overlap_add");
    if (extents[axis] == 0) base::fail<shape_error>("overlap_add: {} has no frames", extents);
    // With a single frame the hop is irrelevant.
    const std::int64_t step = extents[axis] == 1 ? std::min(apart, length) : apart;
    const dtype type =
        op::accumulator_type(given, op::type_of(given, "overlap_add"), "overlap_add");
    const array x = op::cast(given, graph::compute_dtype(type), "overlap_add");
    const std::int64_t total = graph::extent_sum(
        graph::extent_product(extents[axis] - 1, step, "overlap_add"), length, "overlap_add");
    shape to = extents;
    to.erase(to.rank() - 1);
    to[axis] = total;
    if (graph::checked_elements(to, type, "overlap_add") == 0)
      return op::zeros_on(to, type, op::device_of(x));
    if (!graph::is_differentiated(x))
      return op::cast(added_along(x, step, axis, total), type, "overlap_add");
    using arrays = std::vector<array>;
    const array sums =
        custom_vjp([=](const arrays& v) { return arrays{added_along(v[0], step, axis, total)}; },
                   [=](const arrays&, const arrays&, const arrays& g) {
                     return arrays{frame(g[0], length, step, axis)};
                   })({x})[0];
    return op::cast(sums, type, "overlap_add");
  });
}

namespace {

struct short_time {
  std::int64_t n_fft, hop;
  array window;  // n_fft values
};

short_time resolve_frames(const array& x, std::int64_t n_fft, const stft_options& options,
                          const char* op) {
  const std::int64_t hop = options.hop.value_or(std::max<std::int64_t>(n_fft / 4, 1));
  check_frames(n_fft, hop, op);
  const dtype type = real_dtype(x.dtype());
  if (!options.window.valid()) {
    const auto values = op::window_values({window_shape::hann}, n_fft, symmetry::periodic, op);
    return {n_fft, hop, op::host_numbers(x.device(), values, {n_fft}, type, op)};
  }
  const dtype given = op::floating_type_of(options.window, op);
  if (is_complex(given)) base::fail<dtype_error>("{}: the window is {}, must be real", op, given);
  const array w = op::cast(options.window, given, op);
  if (w.ndim() != 1 || w.size() == 0 || w.size() > n_fft)
    base::fail<shape_error>("{}: a window {} for transforms of {} points, must have 1 to {} values",
                            op, w.shape(), n_fft, n_fft);
  const std::int64_t before = (n_fft - w.size()) / 2;
  const array whole = pad(w, {{before, n_fft - w.size() - before}});
  return {n_fft, hop, op::cast(whole, type, op)};
}

// x as f32, f64, c64 or c128, with at least one axis.
array as_signal(const array& x, const char* op) {
  const dtype type = op::floating_type_of(x, op);
  if (type == dtype::f16 || type == dtype::bf16)
    base::fail<dtype_error>("{}: {} is not supported; convert to f32", op, type);
  const array y = op::cast(x, type, op);
  normalize_axis(-1, y.ndim(), op);
  return y;
}

}  // namespace

array stft(const array& given, integer n_fft, const stft_options& options) {
  return named("stft", [&] {
    array x = as_signal(given, "stft");
    const short_time how = resolve_frames(x, n_fft, options, "stft");
    if (options.center) {
      std::vector<pad_width> widths(static_cast<std::size_t>(x.ndim()));
      widths.back() = {how.n_fft / 2, how.n_fft / 2};
      x = pad(x, widths, options.padding);
    }
    const array frames = frame(x, how.n_fft, how.hop) * how.window;
    const bool is_real = !is_complex(x.dtype());
    return swapaxes(is_real ? fft::rfft(frames) : fft::fft(frames), -1, -2);
  });
}

array istft(const array& given, integer n_fft, const stft_options& options, fft::length length) {
  return named("istft", [&] {
    array z = as_signal(given, "istft");
    if (!is_complex(z.dtype()))
      z = op::cast(z, z.dtype() == dtype::f64 ? dtype::c128 : dtype::c64, "istft");
    const short_time how = resolve_frames(z, n_fft, options, "istft");
    const bool half = z.ndim() >= 2 && z.dim(-2) == how.n_fft / 2 + 1;
    if (z.ndim() < 2 || (!half && z.dim(-2) != how.n_fft))
      base::fail<shape_error>("istft: {} is not [..., {} or {}, frames]", z.shape(),
                              how.n_fft / 2 + 1, how.n_fft);
    if (z.dim(-1) == 0) base::fail<shape_error>("istft: {} has no frames", z.shape());
    const array turned = swapaxes(z, -1, -2);
    const array frames = half ? fft::irfft(turned, how.n_fft) : fft::ifft(turned);
    array y = overlap_add(frames * how.window, how.hop);
    const array squares = broadcast_to(square(how.window), {z.dim(-1), how.n_fft});
    const array envelope = overlap_add(squares, how.hop);
    const array is_zero = envelope <= finfo(envelope.dtype()).smallest_normal;
    y = y / where(is_zero, 1, envelope);
    const std::int64_t edge = options.center ? how.n_fft / 2 : 0, covered = y.dim(-1);
    if (edge > 0) y = op::part_along(y, y.ndim() - 1, std::min(edge, covered), {});
    if (length && *length < 0)
      base::fail<value_error>("istft: a length of {}", std::int64_t{*length});
    return fitted_last(
        y, length ? std::int64_t{*length} : std::max<std::int64_t>(covered - 2 * edge, 0));
  });
}

array spectrogram(const array& x, integer n_fft, const stft_options& options, double power) {
  if (!(power > 0) || !std::isfinite(power))
    base::fail<value_error>("spectrogram: the power is {}", power);
  return named("spectrogram", [&] {
    const array z = stft(x, n_fft, options);
    if (power == 2) return square(real(z)) + square(imag(z));
    // For silence, a constant without derivative replaces the root.
    const array is_silent = z == 0, size = abs(where(is_silent, 1, z));
    return where(is_silent, 0, power == 1 ? size : tutti::power(size, power));
  });
}

}  // namespace tutti::signal
