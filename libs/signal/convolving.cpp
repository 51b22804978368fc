// SPDX-License-Identifier: Apache-2.0
//
// Convolution along any axes: with the convolution operator, with sums over views of windows, or
// with Fourier transforms.

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/convolution.hpp"
#include "tutti/extension.hpp"
#include "tutti/signal.hpp"

namespace tutti::signal {

using base::named;

namespace {

/// The smallest product of powers of 2, 3 and 5 that is at least `least`.
std::int64_t smooth_length(std::int64_t least) {
  // The maximum number of elements of an array.
  if (least <= 6 || least > std::int64_t{1} << 60) return least;
  std::int64_t best = std::int64_t{1} << 62;
  for (std::int64_t five = 1; five < best; five *= 5)
    for (std::int64_t odd = five; odd < best; odd *= 3) {
      std::int64_t n = odd;
      while (n < least) n *= 2;
      best = std::min(best, n);
      if (odd >= least) break;
    }
  return best;
}

// The part of the full convolution along each of the axes that is required.
struct convolution_extents {
  shape a, v;       // of the operands
  shape out, from;  // number of elements, and the first one
};

struct convolution_call {
  array a, v;
  shape axes;
  convolution_extents along;
  shape result;  // for all axes
};

// Whether the extents of x are at least those of y.
bool covers(const shape& x, const shape& y) {
  return std::equal(x.begin(), x.end(), y.begin(), [](auto m, auto n) { return m >= n; });
}

convolution_extents extents_along(const convolution_call& c, convolution_mode mode,
                                  const char* op) {
  convolution_extents e;
  for (const std::int64_t axis : c.axes) {
    e.a.push_back(c.a.dim(axis));
    e.v.push_back(c.v.dim(axis));
  }
  base::require_known(op, "mode", mode, convolution_mode::valid);
  if (mode == convolution_mode::valid && !covers(e.a, e.v) && !covers(e.v, e.a))
    base::fail<shape_error>("{}: of {} and {} neither lies within the other", op, c.a.shape(),
                            c.v.shape());
  for (int i = 0; i < c.axes.rank(); ++i) {
    const std::int64_t m = e.a[i], n = e.v[i];
    if (m == 0 || n == 0)
      base::fail<shape_error>("{}: no elements along axis {} of {} and {}", op, c.axes[i],
                              c.a.shape(), c.v.shape());
    const std::int64_t full = graph::extent_sum(m, n - 1, op);
    e.out.push_back(mode == convolution_mode::full   ? full
                    : mode == convolution_mode::same ? m
                                                     : std::max(m, n) - std::min(m, n) + 1);
    e.from.push_back(mode == convolution_mode::full   ? 0
                     : mode == convolution_mode::same ? (n - 1) / 2
                                                      : std::min(m, n) - 1);
  }
  return e;
}

convolution_call resolve_convolution(const array& a, const array& v,
                                     const convolve_options& options, const char* op) {
  const array operands[] = {a, v};
  const dtype type = op::numeric_type_of(operands, op);
  convolution_call c{op::cast(a, type, op), op::cast(v, type, op), options.axes.axes(), {}, {}};
  const int rank = c.a.ndim();
  if (c.v.ndim() != rank)
    base::fail<shape_error>("{}: {} and {} have not the same number of axes", op, c.a.shape(),
                            c.v.shape());
  options.axes.mask(rank, op);
  if (!options.axes.given())
    for (int i = 0; i < rank; ++i) c.axes.push_back(i);
  for (std::int64_t& axis : c.axes) axis = normalize_axis(axis, rank, op);
  c.along = extents_along(c, options.mode, op);
  shape one_a = c.a.shape(), one_v = c.v.shape();
  for (const std::int64_t axis : c.axes)
    one_a[static_cast<int>(axis)] = one_v[static_cast<int>(axis)] = 1;
  c.result = broadcast_shapes(one_a, one_v, op);
  for (int i = 0; i < c.axes.rank(); ++i) c.result[static_cast<int>(c.axes[i])] = c.along.out[i];
  graph::checked_elements(c.result, type, op);
  return c;
}

// v with the axes last, reversed.
array reversed_kernel(const convolution_call& c) {
  return moveaxis(flip(c.v, c.axes), c.axes, [&] {
    shape last;
    for (int i = 0; i < c.axes.rank(); ++i) last.push_back(i - c.axes.rank());
    return last;
  }());
}

// Zeros before and after a, so that each element of the result is a window of it.
pad_width padding_along(const convolution_extents& e, int i, const char* op) {
  const std::int64_t before = e.v[i] - 1 - e.from[i];
  const std::int64_t whole = graph::extent_sum(e.out[i], e.v[i] - 1, op);
  return {before, whole - e.a[i] - before};
}

std::int64_t rest_of(const shape& extents, const shape& axes) {
  shape rest = extents;
  for (const std::int64_t axis : axes) rest[static_cast<int>(axis)] = 1;
  return rest.size();
}

bool fits_operator(const convolution_call& c) {
  const int rank = c.axes.rank();
  return is_floating(c.a.dtype()) && rank >= 1 && rank <= 3 && rest_of(c.v.shape(), c.axes) == 1;
}

array by_operator(const convolution_call& c, const char* op) {
  const convolution_extents& e = c.along;
  const int rank = c.axes.rank();
  shape last, places = {rest_of(c.a.shape(), c.axes), 1}, weights = {1, 1};
  std::vector<pad_width> widths;
  for (int i = 0; i < rank; ++i) {
    last.push_back(i - rank);
    places.push_back(e.a[i]);
    weights.push_back(e.v[i]);
    widths.push_back(padding_along(e, i, op));
  }
  const array turned = moveaxis(c.a, c.axes, last);
  const array x = reshape(turned, places), w = reshape(reversed_kernel(c), weights);
  convolution_options how;
  using pairs = std::initializer_list<pad_width>;
  if (rank == 1) how.padding = window_padding(pairs{widths[0]});
  if (rank == 2) how.padding = window_padding(pairs{widths[0], widths[1]});
  if (rank == 3) how.padding = window_padding(pairs{widths[0], widths[1], widths[2]});
  const array y = rank == 1 ? conv1d(x, w, how) : rank == 2 ? conv2d(x, w, how) : conv3d(x, w, how);
  shape to = turned.shape();
  for (int i = 0; i < rank; ++i) to[to.rank() - rank + i] = e.out[i];
  return moveaxis(reshape(y, to), last, c.axes);
}

array by_windows(const convolution_call& c, const char* op) {
  const convolution_extents& e = c.along;
  const dtype type = c.a.dtype();
  std::vector<pad_width> widths(static_cast<std::size_t>(c.a.ndim()));
  for (int i = 0; i < c.axes.rank(); ++i)
    widths[static_cast<std::size_t>(c.axes[i])] = padding_along(e, i, op);
  const array x = op::cast(pad(c.a, widths), graph::compute_dtype(type), op);
  array windows = x;
  for (int i = 0; i < c.axes.rank(); ++i) windows = frame(windows, e.v[i], 1, c.axes[i]);
  // One position along each axis of x, then the windows' own axes.
  array kernel = op::cast(reversed_kernel(c), x.dtype(), op);
  shape apart = c.v.shape(), over;
  for (const std::int64_t axis : c.axes) apart[static_cast<int>(axis)] = 1;
  for (const std::int64_t extent : e.v) {
    over.push_back(apart.rank());
    apart.push_back(extent);
  }
  const reduce_options along(std::vector<std::int64_t>(over.begin(), over.end()));
  return op::cast(sum(windows * reshape(kernel, apart), along), type, op);
}

array by_transforms(const convolution_call& c, bool is_valid, const char* op) {
  const convolution_extents& e = c.along;
  const dtype type = c.a.dtype();
  shape points;
  for (int i = 0; i < c.axes.rank(); ++i)
    // Values that wrap around are in elements that `valid` omits.
    points.push_back(smooth_length(is_valid ? std::max(e.a[i], e.v[i])
                                            : graph::extent_sum(e.a[i], e.v[i] - 1, op)));
  const array a = op::cast(c.a, graph::compute_dtype(type), op);
  const array v = op::cast(c.v, a.dtype(), op);
  const axis_list axes(c.axes);
  const array y =
      is_complex(type)
          ? fft::ifftn(fft::fftn(a, points, axes) * fft::fftn(v, points, axes), {}, axes)
          : fft::irfftn(fft::rfftn(a, points, axes) * fft::rfftn(v, points, axes), points, axes);
  std::vector<slice> part(static_cast<std::size_t>(c.a.ndim()));
  for (int i = 0; i < c.axes.rank(); ++i)
    part[static_cast<std::size_t>(c.axes[i])] = {e.from[i], e.from[i] + e.out[i], 1};
  return op::cast(slice_view(y, part), type, op);
}

// Whether transforms are faster than sums of products, by the number of products that cost as much
// as one point and factor two of their number, measured on a CPU. The operator is fast, along one
// axis more than along several.
bool transforms_are_faster(const convolution_call& c) {
  if (c.axes.empty() || !(is_floating(c.a.dtype()) || is_complex(c.a.dtype()))) return false;
  double products = 1, points = 1;
  for (int i = 0; i < c.axes.rank(); ++i) {
    products *= static_cast<double>(c.along.out[i]) *
                static_cast<double>(std::min(c.along.a[i], c.along.v[i]));
    points *= static_cast<double>(c.along.a[i]) + static_cast<double>(c.along.v[i]);
  }
  const double cost = !fits_operator(c) ? 3 : c.axes.rank() == 1 ? 200 : 30;
  return 2 * products > cost * points * std::log2(points);
}

array convolve_resolved(convolution_call c, const convolve_options& options, const char* op) {
  if (c.result.size() == 0) return op::zeros_on(c.result, c.a.dtype(), op::device_of(c.a), op);
  const bool is_valid = options.mode == convolution_mode::valid;
  base::require_known(op, "method", options.method, convolution_method::fourier);
  if (options.method == convolution_method::fourier) {
    if (is_integral(c.a.dtype()))
      base::fail<dtype_error>("{}: no Fourier transforms of {}", op, c.a.dtype());
    return by_transforms(c, is_valid, op);
  }
  if (options.method == convolution_method::automatic && transforms_are_faster(c))
    return by_transforms(c, is_valid, op);
  // The smaller operand slides over the other; convolution is commutative.
  const bool turn = options.mode != convolution_mode::same && !covers(c.along.a, c.along.v) &&
                    covers(c.along.v, c.along.a);
  if (turn || (is_valid && !covers(c.along.a, c.along.v))) {
    std::swap(c.a, c.v);
    std::swap(c.along.a, c.along.v);
  }
  return fits_operator(c) ? by_operator(c, op) : by_windows(c, op);
}

}  // namespace

array convolve(const array& a, const array& v, const convolve_options& options) {
  return named("convolve", [&] {
    return convolve_resolved(resolve_convolution(a, v, options, "convolve"), options, "convolve");
  });
}

array correlate(const array& a, const array& v, const convolve_options& options) {
  return named("correlate", [&] {
    convolution_call c = resolve_convolution(a, v, options, "correlate");
    if (is_complex(c.v.dtype())) c.v = conj(c.v);
    c.v = flip(c.v, c.axes);
    return convolve_resolved(c, options, "correlate");
  });
}

}  // namespace tutti::signal
