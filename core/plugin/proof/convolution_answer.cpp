// SPDX-License-Identifier: Apache-2.0
//
// The question about convolutions, by their definition: sums of small integers, which every dtype
// holds exactly.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "plugin/proof/known_answer.hpp"

namespace tutti::detail {
namespace {

struct convolution_sizes {
  std::uint64_t batch = 2, groups = 2, outputs = 5, channels = 3;
  std::array<std::uint64_t, 3> to{1, 7, 9}, from{1, 12, 13}, window{1, 3, 2};
  tutti_convolution_params params{
      sizeof(tutti_convolution_params), {1, 2, 1}, {1, 1, 2}, {1, 1, 1}, {0, 1, 2}, 0, 0, 0, 0};

  std::uint64_t taps() const { return channels * window[0] * window[1] * window[2]; }
  std::uint64_t inputs() const { return batch * groups * channels * from[0] * from[1] * from[2]; }
  std::uint64_t results() const { return batch * groups * outputs * to[0] * to[1] * to[2]; }
};

void halve_largest(std::initializer_list<std::uint64_t*> sizes) {
  std::uint64_t& largest =
      **std::max_element(sizes.begin(), sizes.end(), [](auto* a, auto* b) { return *a < *b; });
  largest = (largest + 1) / 2;
}

/// Those of a use, but for what would take the host long.
convolution_sizes convolution_sizes_of(const tutti_operator_desc& use) {
  constexpr std::uint64_t most_products = 1 << 22, most_inputs = 1 << 18;  // some 20 ms
  const tutti_view_desc &out = use.views[0], &x = use.views[1], &w = use.views[2];
  const auto cut = [](std::uint64_t n, std::uint64_t most) {
    return std::clamp<std::uint64_t>(n, 1, most);
  };
  convolution_sizes s;
  s.batch = cut(out.extent[0], 2);
  s.groups = cut(out.extent[1], 4);
  s.outputs = cut(out.extent[2], 48);
  s.channels = cut(x.extent[2], 48);
  for (std::size_t i = 0; i < 3; ++i) {
    s.to[i] = cut(out.extent[3 + i], 40);
    s.from[i] = cut(x.extent[3 + i], 80);
    s.window[i] = cut(w.extent[3 + i], 16);
  }
  if (use.params != nullptr) s.params = *static_cast<const tutti_convolution_params*>(use.params);
  while (s.results() * s.taps() > most_products)
    halve_largest({&s.batch, &s.groups, &s.outputs, &s.channels, &s.to[0], &s.to[1], &s.to[2],
                   &s.window[0], &s.window[1], &s.window[2]});
  while (s.inputs() > most_inputs) halve_largest({&s.from[0], &s.from[1], &s.from[2]});
  return s;
}

/// Along one axis: which element of x each tap meets at each place, or -1.
std::vector<std::int64_t> met_along(const convolution_sizes& s, std::size_t axis) {
  const tutti_convolution_params& p = s.params;
  std::vector<std::int64_t> met;
  for (std::uint64_t place = 0; place < s.to[axis]; ++place)
    for (std::uint64_t tap = 0; tap < s.window[axis]; ++tap) {
      const std::int64_t at = static_cast<std::int64_t>(place) * p.stride[axis] +
                              static_cast<std::int64_t>(tap) * p.dilation[axis] - p.padding[axis];
      const bool is_element = at >= 0 && at % p.input_dilation[axis] == 0 &&
                              at / p.input_dilation[axis] < static_cast<std::int64_t>(s.from[axis]);
      met.push_back(is_element ? at / p.input_dilation[axis] : -1);
    }
  return met;
}

class definition {
 public:
  explicit definition(const convolution_sizes& s)
      : s_(s), met_{met_along(s, 0), met_along(s, 1), met_along(s, 2)} {}

  /// Of output `o` of all groups, at a place, over one plane of channels after the other.
  double sum(const std::vector<double>& x, const std::vector<double>& w, std::uint64_t n,
             std::uint64_t g, std::uint64_t o, const std::array<std::uint64_t, 3>& place) const {
    double total = 0;
    for (std::uint64_t c = 0; c < s_.channels; ++c) {
      const std::uint64_t plane = ((n * s_.groups + g) * s_.channels + c) * s_.from[0];
      const std::uint64_t taps = (o * s_.channels + c) * s_.window[0];
      for (std::uint64_t i = 0; i < s_.window[0]; ++i)
        for (std::uint64_t j = 0; j < s_.window[1]; ++j)
          for (std::uint64_t k = 0; k < s_.window[2]; ++k) {
            const std::int64_t a = met(0, place, i), b = met(1, place, j), d = met(2, place, k);
            if (a < 0 || b < 0 || d < 0) continue;
            const std::uint64_t row = (plane + static_cast<std::uint64_t>(a)) * s_.from[1] +
                                      static_cast<std::uint64_t>(b);
            const std::uint64_t tap =
                ((taps + tapped(0, i)) * s_.window[1] + tapped(1, j)) * s_.window[2] + tapped(2, k);
            total += x[row * s_.from[2] + static_cast<std::uint64_t>(d)] * w[tap];
          }
    }
    return total;
  }

 private:
  std::int64_t met(std::size_t axis, const std::array<std::uint64_t, 3>& place,
                   std::uint64_t tap) const {
    return met_[axis][place[axis] * s_.window[axis] + tap];
  }
  std::uint64_t tapped(std::size_t axis, std::uint64_t tap) const {
    return s_.params.flipped != 0 ? s_.window[axis] - 1 - tap : tap;
  }

  const convolution_sizes& s_;
  const std::array<std::vector<std::int64_t>, 3> met_;
};

}  // namespace

operator_question convolution_question(std::int32_t type, bool has_epilogue,
                                       const tutti_operator_desc* use) {
  convolution_sizes s = use != nullptr ? convolution_sizes_of(*use) : convolution_sizes{};
  s.params.struct_size = sizeof s.params;
  s.params.has_bias = has_epilogue ? 1 : 0;
  s.params.activation = has_epilogue ? TUTTI_ACTIVATION_RELU : TUTTI_ACTIVATION_NONE;
  const std::uint64_t rows = s.groups * s.outputs;
  const std::vector<double> x = whole_numbers(s.inputs(), 17, -3, 3),
                            w = whole_numbers(rows * s.taps(), 18, -3, 3),
                            bias = whole_numbers(rows, 19, -9, 9);
  const definition convolution(s);
  std::vector<double> y;
  y.reserve(s.results());
  for (std::uint64_t n = 0; n < s.batch; ++n)
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t i = 0; i < s.to[0]; ++i)
        for (std::uint64_t j = 0; j < s.to[1]; ++j)
          for (std::uint64_t k = 0; k < s.to[2]; ++k) {
            const double sum = convolution.sum(x, w, n, row / s.outputs, row, {i, j, k});
            y.push_back(has_epilogue ? std::max(sum + bias[row], 0.0) : sum);
          }
  const tensor right =
      make_tensor(type, {s.batch, s.groups, s.outputs, s.to[0], s.to[1], s.to[2]}, y);
  std::vector<tensor> inputs{
      make_tensor(type, {s.batch, s.groups, s.channels, s.from[0], s.from[1], s.from[2]}, x),
      make_tensor(type, {s.groups, s.outputs, s.channels, s.window[0], s.window[1], s.window[2]},
                  w)};
  if (has_epilogue) inputs.push_back(make_tensor(type, {s.groups, s.outputs}, bias));
  return {TUTTI_OPERATOR_CONVOLUTION,
          as_words(s.params),
          std::move(inputs),
          overwritten(right),
          {right}};
}

}  // namespace tutti::detail
