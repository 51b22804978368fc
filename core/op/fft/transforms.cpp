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
  const array inputs[] = {x};
  return graph::operation({TUTTI_OPERATOR_FFT, p, label}, type, extents, inputs, label);
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
    throw dtype_error(std::string(op) + ": " + std::string(name(type)) +
                      " is not supported; convert to f32");
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
  throw value_error(std::string(op) + ": norm " + std::to_string(static_cast<int>(by)) +
                    " is none of backward, ortho, forward");
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
    throw value_error(std::string(op) + ": a transform of " + std::to_string(points) +
                      " points along axis " + std::to_string(at.axis) + " of " + x.shape().str());
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
      throw value_error(std::string(op) + ": lengths " + s->str() + " for an array of shape " +
                        x.shape().str());
    for (int i = rank - count; i < rank; ++i) chosen.push_back(i);
  }
  if (s && s->rank() != chosen.rank())
    throw value_error(std::string(op) + ": lengths " + s->str() + " for axes " + chosen.str());
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
  if (all.empty())
    throw value_error(std::string(op) + ": no axis of an array of shape " + x.shape().str());
  const axis_length last = all.back();
  all.pop_back();
  return last;
}

array real_axes(const array& x, const lengths& s, const axis_list& axes, norm by, const char* op) {
  array y = as_operand(x, operand_kind::real, op);
  std::vector<axis_length> all = axes_of(y, s, axes, op);
  const axis_length last = take_last(all, y, op);
  y = transform(y, {TUTTI_FFT_REAL, false, false}, last.points, last.axis, by, op);
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
  return transform(y, {TUTTI_FFT_HERMITIAN, true, true}, last.points, last.axis, by, op);
}

// The integers from `first` on, divided.
array frequencies(std::int64_t n, std::int64_t count, double d, dtype type, const device& on,
                  bool wraps, const char* op) {
  if (n < 1) throw value_error(std::string(op) + ": " + std::to_string(n) + " points");
  if (type != dtype::f32 && type != dtype::f64)
    throw dtype_error(std::string(op) + ": the dtype is f32 or f64, not " +
                      std::string(name(type)));
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

array fft(const array& x, length n, integer axis, norm by) {
  return transform(as_operand(x, operand_kind::complex, "fft"), forward, value_of(n), axis, by,
                   "fft");
}
array ifft(const array& x, length n, integer axis, norm by) {
  return transform(as_operand(x, operand_kind::complex, "ifft"), inverse, value_of(n), axis, by,
                   "ifft");
}
array rfft(const array& x, length n, integer axis, norm by) {
  return transform(as_operand(x, operand_kind::real, "rfft"), {TUTTI_FFT_REAL, false, false},
                   value_of(n), axis, by, "rfft");
}
array irfft(const array& x, length n, integer axis, norm by) {
  return transform(as_operand(x, operand_kind::complex, "irfft"), {TUTTI_FFT_HERMITIAN, true, true},
                   value_of(n), axis, by, "irfft");
}
array hfft(const array& x, length n, integer axis, norm by) {
  return transform(as_operand(x, operand_kind::complex, "hfft"),
                   {TUTTI_FFT_HERMITIAN, false, false}, value_of(n), axis, by, "hfft");
}
array ihfft(const array& x, length n, integer axis, norm by) {
  return transform(as_operand(x, operand_kind::real, "ihfft"), {TUTTI_FFT_REAL, true, true},
                   value_of(n), axis, by, "ihfft");
}

array fftn(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return complex_axes(x, s, axes, forward, by, "fftn");
}
array ifftn(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return complex_axes(x, s, axes, inverse, by, "ifftn");
}
array rfftn(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return real_axes(x, s, axes, by, "rfftn");
}
array irfftn(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return hermitian_axes(x, s, axes, by, "irfftn");
}
array fft2(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return complex_axes(x, s, axes, forward, by, "fft2");
}
array ifft2(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return complex_axes(x, s, axes, inverse, by, "ifft2");
}
array rfft2(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return real_axes(x, s, axes, by, "rfft2");
}
array irfft2(const array& x, const lengths& s, const axis_list& axes, norm by) {
  return hermitian_axes(x, s, axes, by, "irfft2");
}

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
