// SPDX-License-Identifier: Apache-2.0
//
// Views by strides: reshapes, permuted axes, broadcasting; a copy only if strides cannot express
// it.

#include <numeric>

#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// Strides that show a layout with other extents; nothing if this requires a copy. Both sides are
// divided into the shortest runs of axes with equal products; each run of `from` must be evenly
// spaced.
std::optional<shape> reshaped_strides(const shape& from, const shape& strides, const shape& to) {
  shape extents, steps;
  for (int i = 0; i < from.rank(); ++i) {
    if (from[i] == 1) continue;
    extents.push_back(from[i]);
    steps.push_back(strides[i]);
  }
  shape out = to;
  int i = 0;
  int j = 0;
  while (i < extents.rank() && j < to.rank()) {
    int i_end = i + 1;
    int j_end = j + 1;
    std::int64_t have = extents[i];
    std::int64_t want = to[j];
    while (have != want) {
      if (have < want)
        have *= extents[i_end++];
      else
        want *= to[j_end++];
    }
    for (int k = i; k + 1 < i_end; ++k)
      if (steps[k] != steps[k + 1] * extents[k + 1]) return std::nullopt;
    std::int64_t step = steps[i_end - 1];
    for (int k = j_end - 1; k >= j; --k) {
      out[k] = step;
      step *= to[k];
    }
    i = i_end;
    j = j_end;
  }
  for (; j < to.rank(); ++j) out[j] = 1;  // only extents of 1 are left
  return out;
}

array permute(const array& a, const shape& order) {
  const graph::node& n = *a.node();
  const graph::layout from = graph::layout_of(n);
  graph::layout where{from.offset, order};
  shape extents = order;
  for (int i = 0; i < order.rank(); ++i) {
    where.strides[i] = from.strides[static_cast<int>(order[i])];
    extents[i] = n.extents[static_cast<int>(order[i])];
  }
  return graph::view(a, extents, where, graph::view_op::transpose, order);
}

}  // namespace

namespace op {

array unbroadcast(const array& a, const shape& target) {
  const shape& from = a.shape();
  if (from == target) return a;
  const int shift = from.rank() - target.rank();
  std::vector<std::int64_t> axes;
  for (int i = 0; i < from.rank(); ++i)
    if (i < shift || target[i - shift] != from[i]) axes.push_back(i);
  return reshape(sum(a, axes), target);
}

}  // namespace op

array reshape(const array& a, const shape& to) {
  const graph::node& n = graph::get(a, "reshape");
  const shape extents = graph::reshaped_extents(n.extents, to, "reshape");
  if (extents == n.extents) return a;
  if (n.elements == 0) return op::zeros_on(extents, n.type, n.device, "reshape");
  const graph::layout from = graph::layout_of(n);
  if (auto strides = reshaped_strides(n.extents, from.strides, extents))
    return graph::view(a, extents, {from.offset, *strides}, graph::view_op::reshape);
  return reshape(contiguous(a), extents);
}

array transpose(const array& a, const shape& axes) {
  const graph::node& n = graph::get(a, "transpose");
  const int rank = n.extents.rank();
  const auto fail = [&]() {
    base::fail<value_error>("transpose: axes {} are no permutation for shape {}", axes, n.extents);
  };
  if (axes.rank() != rank) fail();
  shape order = axes;
  unsigned seen = 0;
  for (int i = 0; i < rank; ++i) {
    order[i] = normalize_axis(axes[i], rank, "transpose");
    seen |= 1u << order[i];
  }
  if (seen != (1u << rank) - 1) fail();
  return permute(a, order);
}

array swapaxes(const array& a, integer axis1, integer axis2) {
  shape order = graph::get(a, "swapaxes").extents;
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[normalize_axis(axis1, order.rank(), "swapaxes")],
            order[normalize_axis(axis2, order.rank(), "swapaxes")]);
  return permute(a, order);
}

array matrix_transpose(const array& a) {
  const shape& extents = graph::get(a, "matrix_transpose").extents;
  if (extents.rank() < 2)
    base::fail<shape_error>("matrix_transpose: needs at least two dimensions, got {}", extents);
  return swapaxes(a, -2, -1);
}

array moveaxis(const array& a, const axis_list& from_axes, const axis_list& to_axes) {
  const shape &source = from_axes.axes(), &destination = to_axes.axes();
  const int rank = graph::get(a, "moveaxis").extents.rank();
  const auto fail = [&](const char* what) {
    base::fail<value_error>("moveaxis: axes {} to {} of {}: {}", source, destination, a.shape(),
                            what);
  };
  if (source.rank() != destination.rank()) fail("the lists differ in length");
  std::vector<int> from(static_cast<std::size_t>(rank), -1);
  std::vector<bool> moved(static_cast<std::size_t>(rank), false);
  for (int i = 0; i < source.rank(); ++i) {
    const int axis = normalize_axis(source[i], rank, "moveaxis");
    int& place = from[static_cast<std::size_t>(normalize_axis(destination[i], rank, "moveaxis"))];
    if (moved[static_cast<std::size_t>(axis)] || place >= 0) fail("an axis is named twice");
    moved[static_cast<std::size_t>(axis)] = true;
    place = axis;
  }
  shape order;
  std::size_t next = 0;
  for (int axis : from) {
    if (axis < 0) {
      while (moved[next]) ++next;
      axis = static_cast<int>(next++);
    }
    order.push_back(axis);
  }
  return transpose(a, order);
}

array broadcast_to(const array& a, const shape& to) {
  const graph::node& n = graph::get(a, "broadcast_to");
  const int shift = to.rank() - n.extents.rank();
  const auto fail = [&]() {
    base::fail<shape_error>("broadcast_to: {} does not broadcast to {}", n.extents, to);
  };
  if (shift < 0) fail();
  if (to == n.extents) return a;
  const graph::layout from = graph::layout_of(n);
  graph::layout where{from.offset, to};
  for (int i = 0; i < to.rank(); ++i) {
    const std::int64_t extent = i < shift ? 1 : n.extents[i - shift];
    if (to[i] < 0 || (extent != to[i] && extent != 1)) fail();
    where.strides[i] = extent != to[i] || i < shift ? 0 : from.strides[i - shift];
  }
  if (graph::checked_elements(to, n.type, "broadcast_to") == 0)
    return op::zeros_on(to, n.type, n.device);
  return graph::view(a, to, where, graph::view_op::broadcast);
}

std::vector<array> broadcast_arrays(array_list arrays) {
  return named("broadcast_arrays", [&] {
    shape common;
    for (const array& a : arrays)
      common =
          broadcast_shapes(common, graph::get(a, "broadcast_arrays").extents, "broadcast_arrays");
    std::vector<array> out;
    for (const array& a : arrays) out.push_back(broadcast_to(a, common));
    return out;
  });
}

array expand_dims(const array& a, const axis_list& axes) {
  const shape& extents = graph::get(a, "expand_dims").extents;
  if (!axes.given()) base::fail<value_error>("expand_dims: no axis is given for {}", extents);
  const int rank = extents.rank() + axes.axes().rank();
  const unsigned added = axes.mask(rank, "expand_dims");
  shape to;
  for (int i = 0, next = 0; i < rank; ++i)
    to.push_back((added >> i & 1) != 0 ? 1 : extents[next++]);
  return reshape(a, to);
}

array squeeze(const array& a, const axis_list& axes) {
  const shape& from = graph::get(a, "squeeze").extents;
  const unsigned dropped = axes.mask(from.rank(), "squeeze");
  shape to;
  for (int i = 0; i < from.rank(); ++i) {
    if ((dropped >> i & 1) == 0 || (!axes.given() && from[i] != 1))
      to.push_back(from[i]);
    else if (from[i] != 1)
      base::fail<shape_error>("squeeze: axis {} of {} has extent {}, not 1", i, from, from[i]);
  }
  return reshape(a, to);
}

array contiguous(const array& a) {
  const graph::node& n = graph::get(a, "contiguous");
  if (!n.is_view() || graph::is_contiguous(n.extents, n.view().where.strides)) return a;
  return graph::elementwise(TUTTI_OP_cast, n.type, {a}, "contiguous");
}

array bit_cast(const array& a, dtype type) {
  const graph::node& n = graph::get(a, "bit_cast");
  if (size_of(n.type) != size_of(type))
    base::fail<dtype_error>("bit_cast: elements of {} have {} bytes, those of {} {}", n.type,
                            size_of(n.type), type, size_of(type));
  if (n.type == type) return a;
  if (type == dtype::boolean)
    base::fail<dtype_error>(
        "bit_cast: bytes of {} may be others than bool's 0 and 1; "
        "compare with 0",
        n.type);
  if (graph::is_differentiated(a))
    throw value_error(
        "bit_cast: the array is being differentiated, and bits have no gradient; "
        "stop_gradient() it");
  if (!n.is_constant()) return graph::same_bytes(a, type, "bit_cast");
  const array one = graph::constant_like(a, {}, n.type, n.device, "bit_cast");
  return broadcast_to(graph::same_bytes(one, type, "bit_cast"), n.extents);
}

}  // namespace tutti
