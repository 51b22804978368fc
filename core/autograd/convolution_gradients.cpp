// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of convolutions, which are convolutions. With q = p stride + k dilation - padding and
// x at q / input_dilation: for x the positions are the elements of x and the taps are those of w,
// reversed; for w the taps are the elements of the result, and the sum is over the batch.
#include <utility>

#include "autograd/gradients.hpp"
#include "op/convolution/convolve.hpp"
#include "tutti/movement.hpp"

namespace tutti::autograd {
namespace {

op::axis_numbers spatial_extents(const array& a) { return {a.dim(3), a.dim(4), a.dim(5)}; }

array of_operand(graph::operator_params what, const array& x, const array& w, const array& g) {
  auto p = what.get<tutti_convolution_params>();
  std::swap(p.stride, p.input_dilation);
  p.flipped = p.flipped == 0 ? 1 : 0;
  for (int axis = 0; axis < 3; ++axis)
    p.padding[axis] = (w.dim(axis + 3) - 1) * p.dilation[axis] - p.padding[axis];
  what.set(p);
  return op::convolve(g, swapaxes(w, 1, 2), what, spatial_extents(x));
}

array of_weights(graph::operator_params what, const array& x, const array& w, const array& g) {
  auto p = what.get<tutti_convolution_params>();
  const bool flipped = p.flipped != 0;
  std::swap(p.stride, p.dilation);
  p.flipped = 0;
  what.set(p);
  what.channels_last = false;
  const array sums = op::convolve(transpose(x, {2, 1, 0, 3, 4, 5}),
                                  transpose(g, {1, 2, 0, 3, 4, 5}), what, spatial_extents(w));
  const array found = transpose(sums, {1, 2, 0, 3, 4, 5});
  return flipped ? flip(found, {3, 4, 5}) : found;
}

}  // namespace

std::vector<array> convolution_cotangents(const array& y, const array& g) {
  const graph::node& n = *y.node();
  const graph::operator_params& p = n.operation();
  const array x(n.inputs[0]), w(n.inputs[1]);
  // The node has its channels in the order of storage.
  const array cotangent = p.channels_last ? transpose(g, {0, 4, 5, 1, 2, 3}) : g;
  std::vector<array> out(2);
  if (x.node()->is_traced()) out[0] = of_operand(p, x, w, cotangent);
  if (w.node()->is_traced()) out[1] = of_weights(p, x, w, cotangent);
  return out;
}

}  // namespace tutti::autograd
