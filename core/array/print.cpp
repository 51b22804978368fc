// SPDX-License-Identifier: Apache-2.0
//
// Arrays as text, as NumPy shows them: nested brackets, long axes shortened.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

constexpr std::int64_t edge = 3;          // shown at each end of a shortened axis
constexpr std::int64_t threshold = 1000;  // arrays up to this size are shown whole, brackets too

using value = std::complex<double>;

std::string number(value v, dtype type) {
  if (is_bool(type)) return v.real() != 0 ? "true" : "false";
  char text[64];
  if (is_complex(type))
    std::snprintf(text, sizeof text, "%.6g%+.6gi", v.real(), v.imag());
  else
    std::snprintf(text, sizeof text, is_floating(type) ? "%.6g" : "%.0f", v.real());
  return text;
}

std::vector<value> values_of(const array& a) {
  if (a.dtype() == dtype::c128) return a.to_vector<value>();
  if (a.dtype() == dtype::c64) {
    const auto v = a.to_vector<std::complex<float>>();
    return {v.begin(), v.end()};
  }
  // f64 may be missing on the device: widen on the host.
  if (a.dtype() == dtype::f64) {
    const auto v = a.to_vector<double>();
    return {v.begin(), v.end()};
  }
  if (is_floating(a.dtype())) {
    const auto v = astype(a, dtype::f32).to_vector<float>();
    return {v.begin(), v.end()};
  }
  const auto v = astype(a, dtype::i64).to_vector<std::int64_t>();
  return {v.begin(), v.end()};
}

bool is_long(const shape& extents) {
  std::int64_t places = 1;
  for (std::int64_t n : extents) places *= std::max<std::int64_t>(n, 1);
  return places > threshold;
}

// What is shown of a: the ends of each axis that is shortened, side by side.
array shown_of(const array& a) {
  array out = a;
  for (int axis = 0; axis < a.ndim() && is_long(a.shape()); ++axis) {
    if (a.shape()[axis] <= 2 * edge) continue;
    std::vector<slice> head(static_cast<std::size_t>(axis) + 1), tail = head;
    head.back().stop = edge;
    tail.back().start = -edge;
    out = concatenate({slice_view(out, head), slice_view(out, tail)}, axis);
  }
  return out;
}

// `extents` are those of the whole array.
void write(std::ostream& out, const std::vector<value>& values, const array& shown,
           const shape& extents, int axis, std::size_t& next) {
  if (axis == shown.ndim()) {
    out << number(values[next++], shown.dtype());
    return;
  }
  const bool innermost = axis + 1 == shown.ndim();
  const std::string separator(innermost ? 1 : static_cast<std::size_t>(axis) + 1, ' ');
  const bool shortened = extents[axis] != shown.shape()[axis];
  out << '[';
  for (std::int64_t i = 0; i < shown.shape()[axis]; ++i) {
    if (shortened && i == edge) out << ", ...";
    if (i > 0) out << (innermost ? "," : ",\n") << separator;
    write(out, values, shown, extents, axis + 1, next);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const array& a) {
  const array shown = shown_of(a);
  const std::vector<value> values = values_of(shown);
  std::size_t next = 0;
  write(out, values, shown, a.shape(), 0, next);
  return out << ' ' << name(a.dtype()) << a.shape().str();
}

}  // namespace tutti
