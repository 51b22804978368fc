// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of every kind of node.
#include "autograd/gradients.hpp"

#include "op/movement/diagonals.hpp"
#include "op/operands.hpp"
#include "tutti/movement.hpp"

namespace tutti::autograd {
namespace {

array input(const graph::node& n, std::size_t i) { return array(n.inputs[i]); }

std::vector<array> of_elementwise(const array& y, const array& g) {
  const graph::node& n = *y.node();
  if (n.inputs.empty()) return {};
  array operands[3];
  for (std::size_t i = 0; i < n.inputs.size(); ++i) operands[i] = input(n, i);
  std::vector<array> out = row_cotangents(n.opcode(), g, operands[0], operands[1], operands[2], y);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].valid()) out[i] = op::unbroadcast(out[i], operands[i].shape());
  return out;
}

std::vector<array> of_view(const graph::node& n, const array& g) {
  const array parent = input(n, 0);
  const graph::view_params& how = n.view();
  switch (how.op) {
    case graph::view_op::identity:
      return {g};
    case graph::view_op::reshape:
      return {reshape(g, parent.shape())};
    case graph::view_op::transpose: {
      shape inverse = how.arguments;
      for (int i = 0; i < inverse.rank(); ++i) inverse[static_cast<int>(how.arguments[i])] = i;
      return {transpose(g, inverse)};
    }
    case graph::view_op::broadcast:
      return {op::unbroadcast(g, parent.shape())};
    case graph::view_op::slice: {
      shape region, steps = how.steps;
      int axis = 0;
      for (std::int64_t& step : steps) {
        region.push_back(step == 0 ? 1 : n.extents[axis++]);
        if (step == 0) step = 1;
      }
      return {op::update_region(zeros_like(parent), reshape(g, region), how.arguments, steps)};
    }
    case graph::view_op::diagonal: {
      const std::int64_t first = how.arguments[0];
      const std::int64_t second = how.arguments[1];
      const array matrices =
          op::spread_diagonal(g, parent.dim(first), parent.dim(second), how.arguments[2]);
      return {moveaxis(matrices, {-2, -1}, {first, second})};
    }
    case graph::view_op::custom_result:  // backward() collects them for custom_cotangents()
      break;
  }
  return {};
}

// Product of the other elements, times g.
array of_product(const array& x, const array& g, const reduce_options& along, int order) {
  const array is_zero = x == 0;
  zero_aware_product p{prod(where(is_zero, 1, x), along), sum(is_zero, along), {}};
  for (const array& power : powers(zero_factors(x), order - 1)) p.sums.push_back(sum(power, along));
  return g * product_of_others(x, p);
}

// min and max divide the cotangent equally among the elements equal to the extremum.
std::vector<array> of_reduce(const array& y, const array& g, int order) {
  const graph::node& n = *y.node();
  const array x = input(n, 0);
  shape kept = x.shape();
  std::vector<std::int64_t> axes;
  for (int i = 0; i < kept.rank(); ++i) {
    if ((n.reduction().axes >> i & 1) == 0) continue;
    kept[i] = 1;
    axes.push_back(i);
  }
  const reduce_options along(axes, keep_dims::yes);
  const array spread = reshape(g, kept);
  switch (n.reduction().reduction) {
    case TUTTI_REDUCE_SUM:
      return {broadcast_to(astype(spread, x.dtype()), x.shape())};
    case TUTTI_REDUCE_PROD:
      return {of_product(x, spread, along, order)};
    case TUTTI_REDUCE_MIN:
    case TUTTI_REDUCE_MAX: {
      const array reached = x == reshape(y, kept);
      const array share = spread / astype(sum(reached, along), x.dtype());
      return {where(reached, share, 0)};
    }
    default:
      return {};
  }
}

std::vector<array> of_matmul(const graph::node& n, const array& g) {
  const array a = input(n, 0);
  const array b = input(n, 1);
  std::vector<array> out(2);
  if (a.node()->is_traced()) out[0] = matmul(g, swapaxes(b, 1, 2));
  if (b.node()->is_traced()) out[1] = matmul(swapaxes(a, 1, 2), g);
  return out;
}

std::vector<array> of_concatenate(const graph::node& n, const array& g) {
  const int axis = n.concatenation().axis;
  std::vector<array> out;
  std::int64_t start = 0;
  for (const auto& part : n.inputs) {
    const std::int64_t stop = start + part->extents[axis];
    out.push_back(op::part_along(g, axis, start, stop));
    start = stop;
  }
  return out;
}

std::vector<array> of_slice_update(const graph::node& n, const array& g) {
  const graph::update_params& how = n.update();
  const array update = input(n, 1);
  return {op::update_region(g, zeros_like(update), how.starts, how.steps),
          op::strided_slice(g, how.starts, update.shape(), how.steps)};
}

std::vector<array> of_operation(const array& y, const array& g, int order) {
  const graph::node& n = *y.node();
  switch (n.operation().number()) {
    case TUTTI_OPERATOR_MATMUL:
      return of_matmul(n, g);
    case TUTTI_OPERATOR_TAKE:
      return {op::scatter_rows(g, input(n, 1), n.inputs[0]->extents[1])};
    case TUTTI_OPERATOR_SCATTER_ADD:
    case TUTTI_OPERATOR_SCATTER:
      return scatter_cotangents(y, g, order);
    case TUTTI_OPERATOR_SCAN:
      return is_floating(n.inputs[0]->type) ? scan_cotangents(y, g, order) : std::vector<array>{};
    case TUTTI_OPERATOR_CONVOLUTION:
      return convolution_cotangents(y, g);
    case TUTTI_OPERATOR_FFT:
      return fourier_cotangents(y, g);
    default:
      return {};
  }
}

}  // namespace

std::vector<array> input_cotangents(const array& y, const array& g, int order) {
  const graph::node& n = *y.node();
  switch (n.kind) {
    case graph::kind::elementwise:
      return of_elementwise(y, g);
    case graph::kind::view:
      return of_view(n, g);
    case graph::kind::reduce:
      return of_reduce(y, g, order);
    case graph::kind::concatenate:
      return of_concatenate(n, g);
    case graph::kind::slice_update:
      return of_slice_update(n, g);
    case graph::kind::transfer:
      return {graph::move_to(g, n.inputs[0]->device, n.transfer())};
    case graph::kind::operation:
      return of_operation(y, g, order);
    default:
      return {};
  }
}

}  // namespace tutti::autograd
