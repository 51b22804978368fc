// SPDX-License-Identifier: Apache-2.0
//
// Products with sparse matrices, row by row, and elements of products at sparse positions; f32 is
// computed in double, f64 in long double.
#include <algorithm>
#include <complex>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"
#include "semantics/host_complex.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

template <typename T>
T* elements(const host_view& view) {
  return reinterpret_cast<T*>(view.data);
}

// The row of a matrix, `number` clamped to its rows.
template <typename S>
const S* row_at(const host_view& matrix, int64_t number) {
  const auto last = static_cast<int64_t>(matrix.extent[0]) - 1;
  return elements<const S>(matrix) +
         static_cast<uint64_t>(std::clamp<int64_t>(number, 0, last)) * matrix.extent[1];
}

// Elements of type S, computed as T, with indices of type I.
template <typename S, typename T, typename I>
void multiply_rows(const host_call& call) {
  const host_view* v = call.views;
  const uint64_t rows = v[0].extent[0], width = v[0].extent[1];
  if (rows == 0 || width == 0) return;
  const auto count = static_cast<int64_t>(v[2].extent[0]);
  const auto start = [&](uint64_t m) {
    return std::clamp<int64_t>(elements<const I>(v[1])[m], 0, count);
  };
  const I* const columns = elements<const I>(v[2]);
  const S* const values = elements<const S>(v[3]);
  share_rows(call, rows, (v[2].extent[0] / rows + 1) * width, [&](uint64_t begin, uint64_t end) {
    std::vector<T> sums;
    for (uint64_t m = begin; m < end; ++m) {
      sums.assign(width, T(0));
      for (int64_t k = start(m), last = start(m + 1); k < last; ++k) {
        const T value(values[k]);
        const S* const b = row_at<S>(v[4], columns[k]);
        for (uint64_t n = 0; n < width; ++n) sums[n] += host::multiply(value, T(b[n]));
      }
      std::transform(sums.begin(), sums.end(), elements<S>(v[0]) + m * width,
                     [](const T& s) { return S(s); });
    }
  });
}

template <typename S, typename T, typename I>
void sample(const host_call& call) {
  const host_view* v = call.views;
  const uint64_t width = v[3].extent[1];
  const I *const rows = elements<const I>(v[1]), *const columns = elements<const I>(v[2]);
  share_rows(call, v[0].extent[0], width + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t k = begin; k < end; ++k) {
      T sum(0);
      if (width > 0) {
        const S *a = row_at<S>(v[3], rows[k]), *b = row_at<S>(v[4], columns[k]);
        for (uint64_t n = 0; n < width; ++n) sum += host::multiply(T(a[n]), T(b[n]));
      }
      elements<S>(v[0])[k] = S(sum);
    }
  });
}

template <typename S, typename T>
void run_indexed(const host_call& call) {
  const bool samples = call.what->kind == TUTTI_OPERATOR_SDDMM;
  if (call.views[1].dtype == TUTTI_I32)
    samples ? sample<S, T, int32_t>(call) : multiply_rows<S, T, int32_t>(call);
  else
    samples ? sample<S, T, int64_t>(call) : multiply_rows<S, T, int64_t>(call);
}

}  // namespace

void spmm_on_host(const host_call& call) {
  with_wider(call.views[0].dtype,
             [&](auto s, auto t) { run_indexed<decltype(s), decltype(t)>(call); });
}
void sddmm_on_host(const host_call& call) { spmm_on_host(call); }

}  // namespace tutti::sdk
