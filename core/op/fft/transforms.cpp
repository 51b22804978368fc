// SPDX-License-Identifier: Apache-2.0
//
// Transforms along one axis and several, frequencies and shifts.
#include <cmath>
#include <string>
#include <vector>

#include "op/along.hpp"
#include "op/fft/fourier.hpp"
#include "tutti/error.hpp"
#include "tutti/fft.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace op {

array fourier3(const array& x, const tutti_fft_params& p, const char* label) {
  shape extents = x.shape();
  extents[1] = static_cast<std::int64_t>(p.fft == TUTTI_FFT_REAL ? p.length / 2 + 1 : p.length);
  const dtype type =
      p.fft == TUTTI_FFT_HERMITIAN ? real_dtype(x.dtype()) : complex_dtype(x.dtype());
  return graph::operation({TUTTI_OPERATOR_FFT, p, label}, type, extents, {x}, label);
}

array fitted3(const array& a, std::int64_t length) {
  const std::int64_t there = a.dim(1);
  if (there >= length) return slice_along(a, 1, 0, length);
  const array behind = zeros_on({a.dim(0), length - there, a.dim(2)}, a.dtype(), a.node()->device);
  return concatenate({a, behind}, 1);
}

}  // namespace op

namespace fft {
namespace {

enum class operand_kind { complex, real };

array as_operand(const array& x, operand_kind kind, const char* op) {
  const bool real = kind == operand_kind::real;
  const dtype type = real ? op::real_floating_type_of(x, op) : op::floating_type_of(x, op);
  if (type == dtype::f16 || type == dtype::bf16)
    base::fail<dtype_error>("{}: {} is not supported; convert to f32", op, type);
  return op::cast(x, real ? type : complex_dtype(type), op);
}

struct direction {
  tutti_fft fft;
  bool inverse;   // the sign of the exponent
  bool backward;  // normalised as the inverse transforms
};

double scale_of(std::int64_t points, norm by, bool backward, const char* op) {
  const auto n = static_cast<double>(points);
  switch (by) {
    case norm::backward:
      return backward ? 1 / n : 1;
    case norm::ortho:
      return 1 / std::sqrt(n);
    case norm::forward:
      return backward ? 1 : 1 / n;
  }
  base::fail<value_error>("{}: norm {} is none of backward, ortho, forward", op,
                          static_cast<int>(by));
}

// Of as_operand().
array transform(const array& x, const direction& how, const std::optional<std::int64_t>& n,
                std::int64_t axis, norm by, const char* op) {
  const op::along at(x.shape(), axis, op);
  const bool half = how.fft == TUTTI_FFT_HERMITIAN;
  // Twice the extent of an array with elements fits, since each element has more than a byte.
  const std::int64_t points = n                                             ? *n
                              : half && at.length < (std::int64_t{1} << 61) ? 2 * (at.length - 1)
                                                                            : at.length;
  if (points < 1)
    base::fail<value_error>("{}: a transform of {} points along axis {} of {}", op, points, at.axis,
                            x.shape());
  const tutti_fft_params p{0, how.fft, how.inverse ? 1u : 0u, static_cast<std::uint64_t>(points),
                           scale_of(points, by, how.backward, op)};
  shape extents = x.shape();
  extents[at.axis] = how.fft == TUTTI_FFT_REAL ? points / 2 + 1 : points;
  if (x.size() == 0)
    return op::zeros_on(extents, half ? real_dtype(x.dtype()) : complex_dtype(x.dtype()),
                        x.node()->device, op);
  return reshape(op::fourier3(op::around_axis(x, at), p, op), extents);
}

std::optional<std::int64_t> value_of(const length& n) {
  if (!n) return std::nullopt;
  return std::int64_t{*n};
}

struct axis_length {
  int axis;
  std::optional<std::int64_t> points;
};

std::vector<axis_length> axes_of(const array& x, const lengths& s, const axis_list& axes,
                                 const char* op) {
  const int rank = graph::get(x, op).extents.rank();
  axes.mask(rank, op);  // throws for an axis that is out of range or repeated
  shape chosen = axes.axes();
  if (!axes.given()) {
    const int count = s ? s->rank() : rank;
    if (count > rank)
      base::fail<value_error>("{}: lengths {} for an array of shape {}", op, *s, x.shape());
    for (int i = rank - count; i < rank; ++i) chosen.push_back(i);
  }
  if (s && s->rank() != chosen.rank())
    base::fail<value_error>("{}: lengths {} for axes {}", op, *s, chosen);
  std::vector<axis_length> all;
  for (int i = 0; i < chosen.rank(); ++i) {
    axis_length a{normalize_axis(chosen[i], rank, op), {}};
    if (s) a.points = (*s)[i];
    all.push_back(a);
  }
  return all;
}

constexpr direction forward{TUTTI_FFT_COMPLEX, false, false};
constexpr direction inverse{TUTTI_FFT_COMPLEX, true, true};
constexpr direction to_half{TUTTI_FFT_REAL, false, false};
constexpr direction from_half{TUTTI_FFT_HERMITIAN, true, true};
constexpr direction hermitian{TUTTI_FFT_HERMITIAN, false, false};
constexpr direction to_hermitian{TUTTI_FFT_REAL, true, true};

array complex_axes(const array& x, const lengths& s, const axis_list& axes, const direction& how,
                   norm by, const char* op) {
  array y = as_operand(x, operand_kind::complex, op);
  const std::vector<axis_length> all = axes_of(y, s, axes, op);
  // From the last axis on, where neighbours are adjacent in memory.
  for (std::size_t i = all.size(); i-- > 0;)
    y = transform(y, how, all[i].points, all[i].axis, by, op);
  return y;
}

// The last of the axes of a real transform.
axis_length take_last(std::vector<axis_length>& all, const array& x, const char* op) {
  if (all.empty()) base::fail<value_error>("{}: no axis of an array of shape {}", op, x.shape());
  const axis_length last = all.back();
  all.pop_back();
  return last;
}

array real_axes(const array& x, const lengths& s, const axis_list& axes, norm by, const char* op) {
  array y = as_operand(x, operand_kind::real, op);
  std::vector<axis_length> all = axes_of(y, s, axes, op);
  const axis_length last = take_last(all, y, op);
  y = transform(y, to_half, last.points, last.axis, by, op);
  for (std::size_t i = all.size(); i-- > 0;)
    y = transform(y, forward, all[i].points, all[i].axis, by, op);
  return y;
}

array hermitian_axes(const array& x, const lengths& s, const axis_list& axes, norm by,
                     const char* op) {
  array y = as_operand(x, operand_kind::complex, op);
  std::vector<axis_length> all = axes_of(y, s, axes, op);
  const axis_length last = take_last(all, y, op);
  for (const axis_length& a : all) y = transform(y, inverse, a.points, a.axis, by, op);
  return transform(y, from_half, last.points, last.axis, by, op);
}

// The integers from `first` on, divided.
array frequencies(std::int64_t n, std::int64_t count, double d, dtype type, const device& on,
                  bool wraps, const char* op) {
  if (n < 1) base::fail<value_error>("{}: {} points", op, n);
  if (type != dtype::f32 && type != dtype::f64)
    base::fail<dtype_error>("{}: the dtype is f32 or f64, not {}", op, type);
  graph::checked_elements({count}, dtype::i64, op);
  array k = arange(std::int64_t{0}, count, std::int64_t{1}, dtype::i64, on);
  if (wraps) k = where(k * 2 >= n + n % 2, k - n, k);
  return astype(astype(k, dtype::f64) / (d * static_cast<double>(n)), type);
}

array shifted(const array& x, const axis_list& axes, bool back, const char* op) {
  const shape& extents = graph::get(x, op).extents;
  axes.mask(extents.rank(), op);
  shape along = axes.axes(), distances;
  if (!axes.given())
    for (int i = 0; i < extents.rank(); ++i) along.push_back(i);
  for (const std::int64_t axis : along) {
    const std::int64_t extent = extents[normalize_axis(axis, extents.rank(), op)];
    distances.push_back(back ? -(extent / 2) : extent / 2);
  }
  if (along.empty()) return x;
  return roll(x, distances, axis_list(along));
}

}  // namespace

#define TUTTI_FFT(name, kind, how)                                                                 \
  array name(const array& x, length n, integer axis, norm by) {                                    \
    return transform(as_operand(x, operand_kind::kind, #name), how, value_of(n), axis, by, #name); \
  }
#define TUTTI_FFT_AXES(name, function, ...)                                      \
  array name(const array& x, const lengths& s, const axis_list& axes, norm by) { \
    return function(x, s, axes, __VA_ARGS__ __VA_OPT__(, ) by, #name);           \
  }
TUTTI_FFT(fft, complex, forward)
TUTTI_FFT(ifft, complex, inverse)
TUTTI_FFT(rfft, real, to_half)
TUTTI_FFT(irfft, complex, from_half)
TUTTI_FFT(hfft, complex, hermitian)
TUTTI_FFT(ihfft, real, to_hermitian)
TUTTI_FFT_AXES(fft2, complex_axes, forward)
TUTTI_FFT_AXES(fftn, complex_axes, forward)
TUTTI_FFT_AXES(ifft2, complex_axes, inverse)
TUTTI_FFT_AXES(ifftn, complex_axes, inverse)
TUTTI_FFT_AXES(rfft2, real_axes)
TUTTI_FFT_AXES(rfftn, real_axes)
TUTTI_FFT_AXES(irfft2, hermitian_axes)
TUTTI_FFT_AXES(irfftn, hermitian_axes)
#undef TUTTI_FFT
#undef TUTTI_FFT_AXES

array fftfreq(integer n, double d, dtype type, const device& on) {
  return frequencies(n, n, d, type, on, true, "fftfreq");
}
array rfftfreq(integer n, double d, dtype type, const device& on) {
  return frequencies(n, n / 2 + 1, d, type, on, false, "rfftfreq");
}

array fftshift(const array& x, const axis_list& axes) {
  return shifted(x, axes, false, "fftshift");
}
array ifftshift(const array& x, const axis_list& axes) {
  return shifted(x, axes, true, "ifftshift");
}

}  // namespace fft
}  // namespace tutti
