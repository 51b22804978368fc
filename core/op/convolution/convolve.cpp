// SPDX-License-Identifier: Apache-2.0
#include "op/convolution/convolve.hpp"

#include <algorithm>

#include "tutti/movement.hpp"

namespace tutti::op {
namespace {

// The operator accepts any strides that are not negative.
array operand(const array& a, const char* label) {
  const shape strides = graph::layout_of(*a.node()).strides;
  if (std::none_of(strides.begin(), strides.end(), [](std::int64_t s) { return s < 0; })) return a;
  return graph::elementwise(TUTTI_OP_cast, a.dtype(), {a}, label);
}

}  // namespace

array convolve(const array& x, const array& w, const graph::operator_params& p,
               const axis_numbers& to) {
  const std::int64_t n = x.dim(0), g = x.dim(1), o = w.dim(1);
  const shape extents = {n, g, o, to[0], to[1], to[2]};
  array operands[] = {x, w};
  const auto device = graph::common_device(operands, p.label());
  if (graph::checked_elements(extents, x.dtype(), p.label()) == 0 || x.size() == 0 || w.size() == 0)
    return zeros_on(extents, x.dtype(), device, p.label());
  const array inputs[] = {operand(operands[0], p.label()), operand(operands[1], p.label())};
  if (!p.channels_last) return graph::operation(p, x.dtype(), extents, inputs, p.label());
  const array out =
      graph::operation(p, x.dtype(), {n, to[0], to[1], to[2], g, o}, inputs, p.label());
  return transpose(out, {0, 4, 5, 1, 2, 3});
}

array as_groups(const array& a, std::int64_t groups, bool channels_last) {
  const array x = channels_last ? moveaxis(a, -1, 1) : a;
  shape to = {x.dim(0), groups, x.dim(1) / groups};
  for (int axis = x.ndim(); axis < 5; ++axis) to.push_back(1);
  for (int axis = 2; axis < x.ndim(); ++axis) to.push_back(x.dim(axis));
  return reshape(x, to);
}

array from_groups(const array& a, int spatial, bool channels_last) {
  const array x = channels_last ? transpose(a, {0, 3, 4, 5, 1, 2}) : a;
  const std::int64_t channels = a.dim(1) * a.dim(2);
  shape to = {a.dim(0)};
  if (!channels_last) to.push_back(channels);
  for (int axis = 6 - spatial; axis < 6; ++axis) to.push_back(a.dim(axis));
  if (channels_last) to.push_back(channels);
  return reshape(x, to);
}

axis_numbers spatial_numbers(const shape& values, int spatial, std::int64_t missing) {
  axis_numbers all{missing, missing, missing};
  for (int i = 0; i < spatial; ++i)
    all[static_cast<std::size_t>(3 - spatial + i)] = values[values.rank() == 1 ? 0 : i];
  return all;
}

}  // namespace tutti::op
