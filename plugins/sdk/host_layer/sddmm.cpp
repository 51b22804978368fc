// SPDX-License-Identifier: Apache-2.0
//
// Elements of products at sparse positions; f32 is computed in double, f64 in long double.
#include <algorithm>
#include <complex>

#include "sdk/host_layer/host_operator.hpp"

namespace tutti::sdk {
namespace {

// The C++ product would change results with infinities and NaN.
template <typename R>
std::complex<R> plain_product(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename R>
R plain_product(R a, R b) {
  return a * b;
}

// Elements of type S, computed as T, with indices of type I.
template <typename S, typename T, typename I>
void sample(const host_call& call) {
  const host_view* v = call.views;
  const uint64_t count = v[0].extent[0], width = v[3].extent[1];
  auto* const out = reinterpret_cast<S*>(v[0].data);
  const auto* const rows = reinterpret_cast<const I*>(v[1].data);
  const auto* const columns = reinterpret_cast<const I*>(v[2].data);
  const auto row_of = [&](const host_view& from, I number) {
    const auto last = static_cast<int64_t>(from.extent[0]) - 1;
    const auto row = static_cast<uint64_t>(std::clamp<int64_t>(number, 0, last));
    return reinterpret_cast<const S*>(from.data) + row * width;
  };
  share_rows(call, count, width + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t k = begin; k < end; ++k) {
      T sum(0);
      if (width > 0) {
        const S *a = row_of(v[3], rows[k]), *b = row_of(v[4], columns[k]);
        for (uint64_t n = 0; n < width; ++n) sum += plain_product(T(a[n]), T(b[n]));
      }
      out[k] = S(sum);
    }
  });
}

template <typename S, typename T>
void sample_indexed(const host_call& call) {
  if (call.views[1].dtype == TUTTI_I32)
    sample<S, T, int32_t>(call);
  else
    sample<S, T, int64_t>(call);
}

}  // namespace

void sddmm_on_host(const host_call& call) {
  switch (call.views[0].dtype) {
    case TUTTI_F32:
      return sample_indexed<float, double>(call);
    case TUTTI_F64:
      return sample_indexed<double, long double>(call);
    case TUTTI_C64:
      return sample_indexed<std::complex<float>, std::complex<double>>(call);
    default:
      return sample_indexed<std::complex<double>, std::complex<long double>>(call);
  }
}

}  // namespace tutti::sdk
