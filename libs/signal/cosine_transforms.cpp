// SPDX-License-Identifier: Apache-2.0
//
// Cosine transforms by Fourier transforms of the same elements in another order (J. Makhoul, "A
// fast cosine transform in one and two dimensions", IEEE ASSP 28, 1980).

#include <cmath>
#include <complex>
#include <numbers>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "signal/windows.hpp"
#include "tutti/extension.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::signal {

using base::named;

namespace {

// All of [outer, n, inner], along the second axis.

array middle_part(const array& x, std::optional<std::int64_t> from, std::optional<std::int64_t> to,
                  std::int64_t step = 1) {
  return x({slice{}, slice{from, to, step}});
}

// exp(-i pi (first + step k) / n) for k < count, as a column, in the complex dtype of `real`.
array rotations(const array& like, std::int64_t count, double first, double step, double n) {
  auto values = detail::host_vector<std::complex<double>>("dct", static_cast<std::uint64_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = std::polar(1.0, -std::numbers::pi * (first + step * static_cast<double>(k)) / n);
  if (real_dtype(like.dtype()) == dtype::f64) return array::from(values, {count, 1}, like.device());
  const std::vector<std::complex<float>> narrow(values.begin(), values.end());
  return array::from(narrow, {count, 1}, like.device());
}

array type_1(const array& x) {
  const array mirrored = x.dim(1) > 2 ? concatenate({x, flip(middle_part(x, 1, -1), 1)}, 1) : x;
  return real(fft::rfft(mirrored, {}, 1));
}

// Elements 0, 2, 4, ..., then ..., 5, 3, 1; and the inverse.
array evens_then_odds(const array& x) {
  if (x.dim(1) == 1) return x;
  return concatenate({middle_part(x, {}, {}, 2), flip(middle_part(x, 1, {}, 2), 1)}, 1);
}

array interleaved(const array& even, const array& odd) {
  const std::int64_t n = even.dim(1) + odd.dim(1), pairs = even.dim(1);
  const array filled = odd.dim(1) == pairs ? odd : pad(odd, {{0, 0}, {0, 1}});
  const array pair[] = {even, filled};
  return middle_part(reshape(stack(pair, 2), {even.dim(0), 2 * pairs, even.dim(2)}), 0, n);
}

array type_2(const array& x) {
  const std::int64_t n = x.dim(1), half = n / 2 + 1;
  const array u =
      fft::rfft(evens_then_odds(x), {}, 1) * rotations(x, half, 0, 1, 2 * static_cast<double>(n));
  if (n == 1) return 2 * real(u);
  // Result n - k is minus twice the imaginary part of u[k].
  const array upper = flip(middle_part(imag(u), 1, (n + 1) / 2), 1);
  return 2 * (upper.dim(1) > 0 ? concatenate({real(u), -upper}, 1) : real(u));
}

array type_3(const array& x) {
  const std::int64_t n = x.dim(1), half = n / 2 + 1;
  const array lower = middle_part(x, 0, half);
  const array zero = op::zeros_on({x.dim(0), 1, x.dim(2)}, x.dtype(), op::device_of(x));
  // x[n], which is taken as 0, x[n - 1], ...
  const array upper =
      half > 1 ? concatenate({zero, flip(middle_part(x, n - half + 1, n), 1)}, 1) : zero;
  const array u =
      complex(lower, -upper) * conj(rotations(x, half, 0, 1, 2 * static_cast<double>(n)));
  const array v = fft::irfft(u, n, 1, fft::norm::forward);
  const std::int64_t evens = (n + 1) / 2;
  if (n == 1) return v;
  return interleaved(middle_part(v, 0, evens), flip(middle_part(v, evens, n), 1));
}

array type_4(const array& x) {
  const std::int64_t n = x.dim(1);
  const auto points = static_cast<double>(n);
  if (n % 2 != 0) {
    const array turned = x * rotations(x, n, 0, 1, 2 * points);
    const array t = middle_part(fft::fft(turned, 2 * n, 1), 0, n);
    return 2 * real(t * rotations(x, n, 0.5, 1, 2 * points));
  }
  // Pairs x[2 m], x[n - 1 - 2 m] as complex numbers, between two rotations.
  const array w = rotations(x, n / 2, 0.25, 1, points);
  const array pairs = complex(middle_part(x, {}, {}, 2), flip(middle_part(x, 1, {}, 2), 1));
  const array t = fft::fft(pairs * w, {}, 1) * rotations(x, n / 2, 0, 1, points);
  return 2 * interleaved(real(t), flip(-imag(t), 1));
}

// Weights of the elements along the axis, 1 except at the ends.
array end_weights(const array& x, double all, double first, double last) {
  auto values = detail::host_vector<double>("dct", static_cast<std::uint64_t>(x.dim(1)));
  std::fill(values.begin(), values.end(), all);
  values.front() *= first;
  values.back() *= last;
  return op::host_numbers(x.device(), values, {x.dim(1), 1}, x.dtype(), "dct");
}

array unscaled(const array& x, int type) {
  constexpr array (*types[])(const array&) = {type_1, type_2, type_3, type_4};
  return types[type - 1](x);
}

array orthogonal(array x, int type, double points) {
  const double root = std::numbers::sqrt2, all = std::sqrt(1 / points);
  if (type == 1) x = x * end_weights(x, 1, root, root);
  if (type == 3) x = x * end_weights(x, 1, root, 1);
  const array y = unscaled(x, type);
  if (type == 1) return y * end_weights(y, all, 1 / root, 1 / root);
  if (type == 2) return y * end_weights(y, all, 1 / root, 1);
  return y * all;
}

array transformed(const array& given, int type, const fft::length& n, integer axis, fft::norm by,
                  bool inverse, const char* op) {
  const dtype real = op::real_floating_type_of(given, op);
  if (real == dtype::f16 || real == dtype::bf16)
    base::fail<dtype_error>("{}: {} is not supported; convert to f32", op, real);
  if (type < 1 || type > 4) base::fail<value_error>("{}: unknown type {}", op, type);
  if (by > fft::norm::forward)
    base::fail<value_error>("{}: norm {} is none of backward, ortho, forward", op,
                            static_cast<int>(by));
  const array x = op::cast(given, real, op);
  const op::along at(x.shape(), axis, op);
  const std::int64_t count = n ? std::int64_t{*n} : at.length;
  if (count < (type == 1 ? 2 : 1))
    base::fail<value_error>("{}: type {} of {} elements along axis {} of {}", op, type, count,
                            at.axis, x.shape());
  shape to = x.shape();
  to[at.axis] = count;
  // The longest of the transforms used.
  graph::checked_elements({graph::extent_product(count, 4, op)}, dtype::c128, op);
  if (graph::checked_elements(to, real, op) == 0) return op::zeros_on(to, real, op::device_of(x));
  const array lines = x.size() == 0
                          ? op::zeros_on({at.outer, count, at.inner}, real, op::device_of(x))
                          : op::fitted3(op::around_axis(x, at), count);
  // The inverse is the transform itself, or that of type 3 for type 2 and vice versa, divided by
  // this.
  const int own = inverse && (type == 2 || type == 3) ? 5 - type : type;
  const double points = 2 * static_cast<double>(type == 1 ? count - 1 : count);
  if (by == fft::norm::ortho) return reshape(orthogonal(lines, own, points), to);
  const bool divided = inverse == (by == fft::norm::backward);
  const array y = unscaled(lines, own);
  return reshape(divided ? y * (1 / points) : y, to);
}

}  // namespace

array dct(const array& x, int type, fft::length n, integer axis, fft::norm by) {
  return named("dct", [&] { return transformed(x, type, n, axis, by, false, "dct"); });
}
array idct(const array& x, int type, fft::length n, integer axis, fft::norm by) {
  return named("idct", [&] { return transformed(x, type, n, axis, by, true, "idct"); });
}

}  // namespace tutti::signal
