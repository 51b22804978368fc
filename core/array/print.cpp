// SPDX-License-Identifier: Apache-2.0
//
// Arrays as text, as NumPy shows them: nested brackets, long axes shortened.
#include <complex>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "graph/build.hpp"
#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

constexpr std::int64_t edge = 3;          // shown at each end of a shortened axis
constexpr std::int64_t threshold = 1000;  // arrays up to this size are shown whole

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

void write(std::ostream& out, const std::vector<value>& values, const array& a, int axis,
           std::size_t& next, std::size_t stride) {
  if (axis == a.ndim()) {
    out << number(values[next++], a.dtype());
    return;
  }
  const std::int64_t n = a.shape()[axis];
  const std::size_t inner = n > 0 ? stride / static_cast<std::size_t>(n) : 0;
  const bool shorten = a.size() > threshold && n > 2 * edge;
  out << '[';
  for (std::int64_t i = 0; i < n; ++i) {
    if (shorten && i == edge) {
      out << ", ...";
      next += inner * static_cast<std::size_t>(n - 2 * edge);
      i = n - edge;
    }
    if (i > 0)
      out << (axis + 1 < a.ndim() ? ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ')
                                  : ", ");
    write(out, values, a, axis + 1, next, inner);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const array& a) {
  const std::vector<value> values = values_of(a);
  std::size_t next = 0;
  write(out, values, a, 0, next, values.size());
  return out << ' ' << name(a.dtype()) << a.shape().str();
}

}  // namespace tutti
