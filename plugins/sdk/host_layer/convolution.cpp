// SPDX-License-Identifier: Apache-2.0
//
// Convolution as nested loops over outputs, channels and taps, summed in double.
#include "sdk/convolution.hpp"

#include <algorithm>

#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_types.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

int64_t position(uint64_t n) { return static_cast<int64_t>(n); }

// The taps of an axis that meet an element of x for one output position: every `every`-th tap in
// [first, end). Tap k meets element (start + k * dilation) / input_dilation.
struct met_taps {
  int64_t first, end, every, start;
};

template <typename S>
class convolution {
  using T = typename S::value;

 public:
  explicit convolution(const host_call& call)
      : p_(convolution_params(*call.what)),
        out_(call.views[0]),
        x_(call.views[1]),
        w_(call.views[2]),
        bias_(call.views[3]) {}

  uint64_t items() const {
    uint64_t count = 1;
    for (int d = 0; d < 6; ++d) count *= out_.extent[d];
    return count;
  }
  uint64_t steps() const {
    uint64_t count = 1;
    for (int d = 2; d < 6; ++d) count *= w_.extent[d];
    return count;
  }

  void element(uint64_t item) const {
    int64_t at[6];
    for (int d = 6; d-- > 0; item /= out_.extent[d]) at[d] = position(item % out_.extent[d]);
    double total = sum(at);
    if (p_.has_bias != 0)
      total += S::load(bias_.data + (at[1] * bias_.stride[0] + at[2] * bias_.stride[1]) * S::bytes);
    if (p_.activation == TUTTI_ACTIVATION_RELU) total = host::maximum<double>(total, 0);
    int64_t place = 0;
    for (int d = 0; d < 6; ++d) place += at[d] * out_.stride[d];
    S::store(out_.data + place * S::bytes, static_cast<T>(total));
  }

 private:
  met_taps taps_of(int axis, int64_t at) const {
    const int64_t dilation = p_.dilation[axis], spread = p_.input_dilation[axis];
    const int64_t taps = position(w_.extent[3 + axis]), extent = position(x_.extent[3 + axis]);
    met_taps m{0, taps, 1, at * p_.stride[axis] - p_.padding[axis]};
    // Taps may lie before or after x; of the others, only some meet an element.
    if (m.start < 0) m.first = (-m.start + dilation - 1) / dilation;
    const int64_t last = extent == 0 ? -1 : (extent - 1) * spread;
    m.end = last < m.start ? 0 : std::min(taps, (last - m.start) / dilation + 1);
    if (spread == 1) return m;
    while (m.first < m.end && (m.start + m.first * dilation) % spread != 0) ++m.first;
    while (m.first + m.every < m.end && m.every * dilation % spread != 0) ++m.every;
    return m;
  }

  double sum(const int64_t (&at)[6]) const {
    met_taps m[spatial_axes];
    for (int axis = 0; axis < spatial_axes; ++axis) m[axis] = taps_of(axis, at[3 + axis]);
    const std::byte* x = x_.data + (at[0] * x_.stride[0] + at[1] * x_.stride[1]) * S::bytes;
    const std::byte* w = w_.data + (at[1] * w_.stride[0] + at[2] * w_.stride[1]) * S::bytes;
    double total = 0;
    for (int64_t c = 0; c < position(w_.extent[2]); ++c)
      for (int64_t i = m[0].first; i < m[0].end; i += m[0].every)
        for (int64_t j = m[1].first; j < m[1].end; j += m[1].every)
          for (int64_t k = m[2].first; k < m[2].end; k += m[2].every) {
            const int64_t tap[spatial_axes] = {i, j, k};
            int64_t in_x = c * x_.stride[2], in_w = c * w_.stride[2];
            for (int axis = 0; axis < spatial_axes; ++axis) {
              const int64_t u = m[axis].start + tap[axis] * p_.dilation[axis];
              in_x += u / p_.input_dilation[axis] * x_.stride[3 + axis];
              const int64_t last = position(w_.extent[3 + axis]) - 1;
              in_w += (p_.flipped != 0 ? last - tap[axis] : tap[axis]) * w_.stride[3 + axis];
            }
            total += static_cast<double>(S::load(x + in_x * S::bytes)) *
                     static_cast<double>(S::load(w + in_w * S::bytes));
          }
    return total;
  }

  const tutti_convolution_params p_;
  const host_view &out_, &x_, &w_, &bias_;
};

}  // namespace

void convolution_on_host(const host_call& call) {
  with_stored_type(static_cast<uint8_t>(call.views[0].dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<typename S::value>) {
      const convolution<S> all(call);
      share_rows(call, all.items(), all.steps(), [&](uint64_t begin, uint64_t end) {
        for (uint64_t n = begin; n < end; ++n) all.element(n);
      });
    }
  });
}

}  // namespace tutti::sdk
