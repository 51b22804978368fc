// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of images, forward and backward, compared with PyTorch (oneDNN on CPUs) in the
// Python of TUTTI_BENCH_PYTHON (python3); 1x1 convolutions with the equivalent product, and
// depthwise ones with a copy.
#include <fmt/format.h>

#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/convolution.hpp"
#include "tutti/grad.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

struct layer {
  std::int64_t batch, channels, size, outputs, window, groups;

  shape of_x() const { return {batch, channels, size, size}; }
  shape of_w() const { return {outputs, channels / groups, window, window}; }
  shape of_y() const { return {batch, outputs, size, size}; }
  convolution_options options() const { return {.padding = (window - 1) / 2, .groups = groups}; }
  double operations() const {
    return 2.0 * static_cast<double>(of_y().size()) *
           static_cast<double>(channels / groups * window * window);
  }
};

array made(const shape& extents, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(extents.size());
  return array::from(operand<float>(count, seed), extents).wait();
}

struct data {
  layer of;
  array x, w, g, y, turned, flat;
  explicit data(const layer& l)
      : of(l), x(made(l.of_x(), 3)), w(made(l.of_w(), 5)), g(made(l.of_y(), 7)) {}
};

// Checks some elements of a convolution against its definition.
std::string check_forward(const data& d) {
  const layer& l = d.of;
  const std::vector<float> x = d.x.to_vector<float>(), w = d.w.to_vector<float>(),
                           y = d.y.to_vector<float>();
  const std::int64_t inner = l.channels / l.groups, edge = (l.window - 1) / 2;
  std::vector<float> got, expected;
  for (std::int64_t at = 0; at < d.y.size(); at += 99991) {
    const std::int64_t column = at % l.size, row = at / l.size % l.size,
                       o = at / (l.size * l.size) % l.outputs,
                       n = at / (l.size * l.size * l.outputs);
    double sum = 0;
    for (std::int64_t c = 0; c < inner; ++c)
      for (std::int64_t i = 0; i < l.window; ++i)
        for (std::int64_t j = 0; j < l.window; ++j) {
          const std::int64_t r = row + i - edge, s = column + j - edge;
          if (r < 0 || s < 0 || r >= l.size || s >= l.size) continue;
          const std::int64_t channel = o / (l.outputs / l.groups) * inner + c;
          sum += static_cast<double>(x[static_cast<std::size_t>(
                     ((n * l.channels + channel) * l.size + r) * l.size + s)]) *
                 static_cast<double>(
                     w[static_cast<std::size_t>(((o * inner + c) * l.window + i) * l.window + j)]);
        }
    got.push_back(y[static_cast<std::size_t>(at)]);
    expected.push_back(static_cast<float>(sum));
  }
  return compare(got, expected, 1e-4);
}

workload forward(const layer& l) {
  auto d = std::make_shared<data>(l);
  return {.ours = [d] { d->y = conv2d(d->x, d->w, d->of.options()).wait(); },
          .check = [d] { return check_forward(*d); }};
}

// The cotangent of x (0) or of w (1).
workload backward(const layer& l, int argument) {
  auto d = std::make_shared<data>(l);
  const auto loss = [d](const std::vector<array>& v) {
    return sum(conv2d(v[0], v[1], d->of.options()) * d->g);
  };
  return {.ours = [d, loss, argument] { d->y = grad(loss, {argument})({d->x, d->w})[0].wait(); }};
}

workload one_tap(const layer& l) {
  workload work = forward(l);
  auto d = std::make_shared<data>(l);
  d->flat = reshape(d->x, {l.batch, l.channels, l.size * l.size});
  d->turned = reshape(d->w, {l.outputs, l.channels});
  work.peer = [d] { d->y = matmul(d->turned, d->flat).wait(); };
  return work;
}

// Two layers with a shortcut, as in residual networks, and all gradients.
workload residual_block(std::int64_t batch, std::int64_t channels, std::int64_t size) {
  const layer l{batch, channels, size, channels, 3, 1};
  struct block {
    std::vector<array> parameters, gradients;
  };
  auto b = std::make_shared<block>();
  b->parameters = {made(l.of_x(), 3), made(l.of_w(), 5), made({channels}, 7), made(l.of_w(), 9),
                   made({channels}, 11)};
  const auto loss = [l](const std::vector<array>& v) {
    const array first = relu(conv2d(v[0], v[1], v[2], l.options()));
    return sum(relu(conv2d(first, v[3], v[4], l.options()) + v[0]));
  };
  return {.ours = [b, step = grad(loss)] {
    b->gradients = step(b->parameters);
    eval(b->gradients);
    for (const array& g : b->gradients) g.wait();
  }};
}

}  // namespace

void add_convolution_cases(std::vector<bench_case>& cases) {
  const auto add = [&](const char* name, const char* peer, double operations, double goal,
                       std::function<workload()> make) {
    cases.push_back({.name = name,
                     .unit = "GFLOP/s",
                     .amount = operations,
                     .peer = "PyTorch",
                     .make = std::move(make),
                     .python = peer,
                     .at_least_of_peer = goal});
  };
  const layer square{32, 64, 56, 64, 3, 1};
  add("conv2d 3x3 32x64x56x56 to 64, f32", "conv forward", square.operations(), 1.2,
      [=] { return forward(square); });
  add("conv2d 3x3 32x64x56x56 to 64, gradient of the data", "conv data", square.operations(), 1.0,
      [=] { return backward(square, 0); });
  add("conv2d 3x3 32x64x56x56 to 64, gradient of the weights", "conv weights", square.operations(),
      1.0, [=] { return backward(square, 1); });
  const layer residual{8, 64, 56, 64, 3, 1};
  add("residual block 8x64x56x56, forwards and backwards", "conv block", 6 * residual.operations(),
      1.2, [] { return residual_block(8, 64, 56); });

  const layer point{32, 64, 56, 64, 1, 1};
  cases.push_back({.name = "conv2d 1x1 32x64x56x56 to 64, f32",
                   .unit = "GFLOP/s",
                   .amount = point.operations(),
                   .peer = "matmul",
                   .make = [=] { return one_tap(point); },
                   .at_least_of_peer = 0.95});

  const layer depthwise{32, 128, 56, 128, 3, 128};
  const auto elements = static_cast<std::size_t>(depthwise.of_x().size());
  cases.push_back(bandwidth(
      "conv2d 3x3 depthwise 32x128x56x56, f32", 8.0 * static_cast<double>(elements),
      floor_kind::copy, elements, "-", [=] { return forward(depthwise); }, 0.8));
}

}  // namespace tutti::bench
