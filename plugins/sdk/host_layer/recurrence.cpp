// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences, line by line; f32 is computed in double, f64 in long double.
#include <complex>

#include "sdk/host_layer/host_operator.hpp"
#include "sdk/ordering.hpp"
#include "semantics/host_complex.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

// Elements of type S, computed as T.
template <typename S, typename T>
void run_lines(const host_call& call) {
  const auto* a = reinterpret_cast<const S*>(call.views[1].data);
  const auto* x = reinterpret_cast<const S*>(call.views[2].data);
  auto* out = reinterpret_cast<S*>(call.views[0].data);
  const uint64_t* extent = call.views[0].extent;
  const uint64_t length = extent[1], inner = extent[2];
  const bool reverse = scan_params(*call.what).reverse != 0;
  share_rows(call, extent[0] * inner, length, [&](uint64_t begin, uint64_t end) {
    for (uint64_t line = begin; line < end; ++line) {
      const uint64_t start = line / inner * length * inner + line % inner;
      T value{};
      for (uint64_t n = 0; n < length; ++n) {
        const uint64_t at = start + (reverse ? length - 1 - n : n) * inner;
        value = n == 0 ? T(x[at]) : host::multiply(T(a[at]), value) + T(x[at]);
        out[at] = S(value);
      }
    }
  });
}

}  // namespace

void recurrence_on_host(const host_call& call) {
  with_wider(call.views[0].dtype,
             [&](auto s, auto t) { run_lines<decltype(s), decltype(t)>(call); });
}

}  // namespace tutti::sdk
