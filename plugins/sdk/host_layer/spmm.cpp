// SPDX-License-Identifier: Apache-2.0
//
// Sparse products, row by row; f32 is computed in double, f64 in long double.
#include <algorithm>
#include <complex>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"

namespace tutti::sdk {
namespace {

template <typename T>
T* elements(const host_view& view) {
  return reinterpret_cast<T*>(view.data);
}

// Elements of type S, computed as T, with indices of type I.
template <typename S, typename T, typename I>
class sparse_rows {
 public:
  explicit sparse_rows(const host_call& call)
      : out_(elements<S>(call.views[0])),
        starts_(elements<const I>(call.views[1])),
        columns_(elements<const I>(call.views[2])),
        values_(elements<const S>(call.views[3])),
        b_(elements<const S>(call.views[4])),
        count_(static_cast<int64_t>(call.views[2].extent[0])),
        last_row_(static_cast<int64_t>(call.views[4].extent[0]) - 1),
        width_(call.views[0].extent[1]) {}

  void row(uint64_t m, std::vector<T>& sums) const {
    sums.assign(width_, T(0));
    for (int64_t k = start(m), end = start(m + 1); k < end; ++k) {
      const T value(values_[k]);
      const auto r = std::clamp<int64_t>(columns_[k], 0, last_row_);
      const S* b = b_ + static_cast<uint64_t>(r) * width_;
      for (uint64_t n = 0; n < width_; ++n) add_product(sums[n], value, T(b[n]));
    }
    std::transform(sums.begin(), sums.end(), out_ + m * width_, [](const T& s) { return S(s); });
  }

 private:
  int64_t start(uint64_t m) const { return std::clamp<int64_t>(starts_[m], 0, count_); }

  // The C++ product would change results with infinities and NaN.
  template <typename R>
  static void add_product(std::complex<R>& sum, std::complex<R> a, std::complex<R> b) {
    sum += std::complex<R>(a.real() * b.real() - a.imag() * b.imag(),
                           a.real() * b.imag() + a.imag() * b.real());
  }
  template <typename R>
  static void add_product(R& sum, R a, R b) {
    sum += a * b;
  }

  S* out_;
  const I *starts_, *columns_;
  const S *values_, *b_;
  int64_t count_, last_row_;
  uint64_t width_;
};

template <typename S, typename T, typename I>
void multiply_rows(const host_call& call) {
  const uint64_t rows = call.views[0].extent[0], width = call.views[0].extent[1];
  if (rows == 0 || width == 0) return;
  const sparse_rows<S, T, I> all(call);
  const uint64_t steps = (call.views[2].extent[0] / rows + 1) * width;
  share_rows(call, rows, steps, [&](uint64_t begin, uint64_t end) {
    std::vector<T> sums;
    for (uint64_t m = begin; m < end; ++m) all.row(m, sums);
  });
}

template <typename S, typename T>
void run_indexed(const host_call& call) {
  if (call.views[1].dtype == TUTTI_I32)
    multiply_rows<S, T, int32_t>(call);
  else
    multiply_rows<S, T, int64_t>(call);
}

}  // namespace

void spmm_on_host(const host_call& call) {
  switch (call.views[0].dtype) {
    case TUTTI_F32:
      return run_indexed<float, double>(call);
    case TUTTI_F64:
      return run_indexed<double, long double>(call);
    case TUTTI_C64:
      return run_indexed<std::complex<float>, std::complex<double>>(call);
    default:
      return run_indexed<std::complex<double>, std::complex<long double>>(call);
  }
}

}  // namespace tutti::sdk
