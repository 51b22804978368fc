// SPDX-License-Identifier: Apache-2.0
//
// Convolution and windows by their definition, in double over host arrays.
#pragma once

#include "tutti_test/arrays.hpp"

namespace tutti_test {

struct direct_options {
  position stride, padding, dilation;
  std::int64_t groups = 1;
};

/// [N, C, spatial...] with [O, C / groups, window...].
inline dense direct_convolution(const dense& x, const dense& w, const direct_options& o) {
  const int spatial = x.extents.rank() - 2;
  shape to = {x.extents[0], w.extents[0]};
  shape window;
  for (int i = 0; i < spatial; ++i) {
    const auto k = static_cast<std::size_t>(i);
    window.push_back(w.extents[i + 2]);
    to.push_back((x.extents[i + 2] + 2 * o.padding[k] - o.dilation[k] * (window[i] - 1) - 1) /
                     o.stride[k] +
                 1);
  }
  return tabulate(to, [&](const position& out) {
    const std::int64_t per_group = w.extents[1], group = out[1] / (w.extents[0] / o.groups);
    double sum = 0;
    for (std::int64_t c = 0; c < per_group; ++c) {
      tabulate(window, [&](const position& tap) {
        position in = {out[0], group * per_group + c}, of = {out[1], c};
        for (std::size_t i = 0; i < tap.size(); ++i) {
          in.push_back(out[i + 2] * o.stride[i] + tap[i] * o.dilation[i] - o.padding[i]);
          of.push_back(tap[i]);
          if (in.back() < 0 || in.back() >= x.extents[static_cast<int>(i) + 2]) return 0.0;
        }
        sum += x.at(in) * w.at(of);
        return 0.0;
      });
    }
    return sum;
  });
}

inline tutti::convolution_options options_of(const direct_options& o) {
  const auto numbers = [](const position& p) { return tutti::per_axis(shape(p)); };
  tutti::convolution_options out{
      .stride = numbers(o.stride), .dilation = numbers(o.dilation), .groups = o.groups};
  const position& p = o.padding;
  if (p.size() == 1) out.padding = {p[0]};
  if (p.size() == 2) out.padding = {p[0], p[1]};
  if (p.size() == 3) out.padding = {p[0], p[1], p[2]};
  return out;
}

inline array convolved(const array& x, const array& w, const tutti::convolution_options& options) {
  if (x.ndim() == 3) return tutti::conv1d(x, w, options);
  return x.ndim() == 4 ? tutti::conv2d(x, w, options) : tutti::conv3d(x, w, options);
}

}  // namespace tutti_test
