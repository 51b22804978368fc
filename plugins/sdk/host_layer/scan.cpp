// SPDX-License-Identifier: Apache-2.0
//
// Cumulative operations, element by element. Floats are computed in double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_types.hpp"
#include "sdk/ordering.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

// The elements of x as T: integers wrap, floats are exact.
template <typename T>
std::vector<T> load_as(const host_view& x, uint64_t count) {
  std::vector<T> out(count);
  const std::byte* from = x.data;
  with_real_stored_type(static_cast<uint8_t>(x.dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    for (uint64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(S::load(from + static_cast<int64_t>(i) * S::bytes));
  });
  return out;
}

template <typename T>
T neutral(int32_t scan) {
  using limits = std::numeric_limits<T>;
  const T top = limits::has_infinity ? limits::infinity() : limits::max();
  const T bottom = limits::has_infinity ? -limits::infinity() : limits::lowest();
  switch (scan) {
    case TUTTI_SCAN_SUM:
      return T(0);
    case TUTTI_SCAN_PROD:
      return T(1);
    case TUTTI_SCAN_MIN:
      return top;
    default:
      return bottom;
  }
}

template <typename T>
T combine(int32_t scan, T a, T b) {
  switch (scan) {
    case TUTTI_SCAN_SUM:
      return host::add<T>(a, b);
    case TUTTI_SCAN_PROD:
      return host::multiply<T>(a, b);
    case TUTTI_SCAN_MIN:
      return host::minimum<T>(a, b);
    case TUTTI_SCAN_MAX:
      return host::maximum<T>(a, b);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    const T larger = a > b ? a : b;
    return larger + std::log1p(std::exp(a == b ? T(0) : -std::fabs(a - b)));
  }
  return a;
}

// One row of `length` elements, `step` apart, from element `start` on.
template <typename S, typename T>
void scan_row(const tutti_scan_params& p, std::byte* out, const std::vector<T>& x, uint64_t start,
              uint64_t length, uint64_t step) {
  T value = neutral<T>(p.scan);
  for (uint64_t n = 0; n < length; ++n) {
    const uint64_t at = start + (p.reverse != 0 ? length - 1 - n : n) * step;
    const T before = value;
    value = combine<T>(p.scan, value, x[at]);
    S::store(out + static_cast<int64_t>(at) * S::bytes,
             static_cast<typename S::value>(p.exclusive != 0 ? before : value));
  }
}

template <typename S>
void scan_into(const host_call& l) {
  using stored = typename S::value;
  using T = std::conditional_t<std::is_floating_point_v<stored>, double,
                               std::conditional_t<std::is_same_v<stored, bool>, uint8_t, stored>>;
  const host_view& out = l.views[0];
  const uint64_t outer = out.extent[0], length = out.extent[1], inner = out.extent[2];
  const std::vector<T> x = load_as<T>(l.views[1], outer * length * inner);
  const tutti_scan_params params = scan_params(*l.what);
  share_rows(l, outer * inner, length, [&](uint64_t begin, uint64_t end) {
    for (uint64_t line = begin; line < end; ++line) {
      const uint64_t start = line / inner * length * inner + line % inner;
      scan_row<S, T>(params, out.data, x, start, length, inner);
    }
  });
}

}  // namespace

void scan_on_host(const host_call& l) {
  with_real_stored_type(static_cast<uint8_t>(l.views[0].dtype),
                        [&](auto tag) { scan_into<typename decltype(tag)::type>(l); });
}

}  // namespace tutti::sdk
