// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms, line by line; f32 is computed in double and f64 in long double.
#include "sdk/fourier.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sdk/fourier_roots.hpp"
#include "sdk/host_layer/host_operator.hpp"

namespace tutti::sdk {
namespace {

// Elements of type S, computed as T.
template <typename S, typename T>
class fourier_lines {
  using value = complex_number<T>;

 public:
  explicit fourier_lines(const host_call& call)
      : params_(fft_params(*call.what)),
        transform_(params_.length),
        out_(call.views[0]),
        x_(call.views[1]) {}

  void run(uint64_t line) const {
    std::vector<value> all = load(line);
    if (params_.inverse != 0) exchange(all);
    transform_(all);
    if (params_.inverse != 0) exchange(all);
    store(line, all);
  }

 private:
  static void exchange(std::vector<value>& all) {
    for (value& v : all) std::swap(v.re, v.im);
  }

  // The offset of element `n` of a line in a view, in elements.
  static uint64_t place(const host_view& view, uint64_t line, uint64_t n) {
    const uint64_t inner = view.extent[2];
    return (line / inner * view.extent[1] + n) * inner + line % inner;
  }

  std::vector<value> load(uint64_t line) const {
    const auto* x = reinterpret_cast<const S*>(x_.data);
    const uint64_t length = params_.length;
    std::vector<value> all(length);
    const bool real = params_.fft == TUTTI_FFT_REAL, half = params_.fft == TUTTI_FFT_HERMITIAN;
    const uint64_t wanted = std::min(x_.extent[1], half ? length / 2 + 1 : length);
    for (uint64_t n = 0; n < wanted; ++n) {
      const uint64_t at = place(x_, line, n);
      all[n] = real ? value{T(x[at]), 0} : value{T(x[2 * at]), T(x[2 * at + 1])};
    }
    if (!half) return all;
    all[0].im = 0;
    if (length % 2 == 0) all[length / 2].im = 0;
    for (uint64_t n = length / 2 + 1; n < length; ++n)
      all[n] = {all[length - n].re, -all[length - n].im};
    return all;
  }

  void store(uint64_t line, const std::vector<value>& all) const {
    auto* out = reinterpret_cast<S*>(out_.data);
    const T scale = static_cast<T>(params_.scale);
    for (uint64_t n = 0; n < out_.extent[1]; ++n) {
      const uint64_t at = place(out_, line, n);
      if (params_.fft == TUTTI_FFT_HERMITIAN) {
        out[at] = static_cast<S>(all[n].re * scale);
      } else {
        out[2 * at] = static_cast<S>(all[n].re * scale);
        out[2 * at + 1] = static_cast<S>(all[n].im * scale);
      }
    }
  }

  tutti_fft_params params_;
  host_transform<T> transform_;
  const host_view &out_, &x_;
};

template <typename S, typename T>
void transform_lines(const host_call& call) {
  if (call.what->views[0].extent[0] * call.what->views[0].extent[2] == 0) return;
  const fourier_lines<S, T> lines(call);
  const tutti_view& out = call.what->views[0];
  share_rows(call, out.extent[0] * out.extent[2], 32 * out.extent[1],
             [&](uint64_t begin, uint64_t end) {
               for (uint64_t line = begin; line < end; ++line) lines.run(line);
             });
}

}  // namespace

void fft_on_host(const host_call& call) {
  const int32_t dtype = call.views[1].dtype;
  if (dtype == TUTTI_F32 || dtype == TUTTI_C64)
    transform_lines<float, double>(call);
  else
    transform_lines<double, long double>(call);
}

}  // namespace tutti::sdk
