// SPDX-License-Identifier: Apache-2.0
//
// Views by strides: reshapes, axes in another order, broadcasting, slices; a copy only where no
// strides can say it.
#include <numeric>

#include "op/operands.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

// Resolves one extent of -1. Throws shape_error where the sizes differ.
shape resolve_extents(const shape& from, const shape& to) {
  const auto fail = [&]() {
    throw shape_error("reshape: cannot make " + to.str() + " of " + from.str());
  };
  shape out = to;
  int open = -1;
  std::int64_t known = 1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == -1 && open < 0)
      open = i;
    else if (to[i] < 0)
      fail();
    else if (__builtin_mul_overflow(known, to[i], &known))
      fail();
  }
  const std::int64_t elements = from.size();
  if (open >= 0) {
    if (known == 0 || elements % known != 0) fail();
    out[open] = elements / known;
  } else if (known != elements) {
    fail();
  }
  return out;
}

// Strides that show a layout with other extents; nothing where that takes a copy. Both sides are
// cut into the shortest runs of axes with equal products; each run of `from` must be evenly spaced.
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

struct region {
  shape starts, extents, steps;
};

// The elements that NumPy's basic slicing takes. Bounds beyond the array are clipped, as there.
region resolve_slices(const shape& extents, std::span<const slice> slices, std::string_view op) {
  if (slices.size() > static_cast<std::size_t>(extents.rank()))
    throw index_error(std::string(op) + ": " + std::to_string(slices.size()) +
                      " slices for an array of shape " + extents.str());
  region out{extents, extents, extents};
  for (int i = 0; i < extents.rank(); ++i) {
    const slice s = static_cast<std::size_t>(i) < slices.size() ? slices[i] : slice{};
    if (s.step == 0)
      throw value_error(std::string(op) + ": step 0 along axis " + std::to_string(i) +
                        " of shape " + extents.str());
    const std::int64_t n = extents[i];
    const bool back = s.step < 0;
    const std::int64_t lowest = back ? -1 : 0;
    const std::int64_t highest = back ? n - 1 : n;
    const auto bound = [&](std::optional<std::int64_t> given, std::int64_t open) {
      if (!given) return open;
      return std::clamp(*given < 0 ? *given + n : *given, lowest, highest);
    };
    const std::int64_t start = bound(s.start, back ? highest : lowest);
    const std::int64_t stop = bound(s.stop, back ? lowest : highest);
    const std::int64_t span = back ? start - stop : stop - start;
    // Of a step as wide as the span or wider, only the first element remains.
    const std::int64_t step = back ? std::max(s.step, -std::max<std::int64_t>(n, 1))
                                   : std::min(s.step, std::max<std::int64_t>(n, 1));
    const std::int64_t width = back ? -step : step;
    out.starts[i] = start;
    out.steps[i] = step;
    out.extents[i] = span <= 0 ? 0 : (span - 1) / width + 1;
  }
  return out;
}

}  // namespace

namespace op {

array strided_slice(const array& a, const shape& starts, const shape& extents, const shape& steps) {
  const graph::node& n = *a.node();
  if (extents.size() == 0) return zeros_on(extents, n.type, n.device);
  graph::layout where = graph::layout_of(n);
  for (int i = 0; i < extents.rank(); ++i) {
    where.offset += starts[i] * where.strides[i];
    where.strides[i] *= steps[i];
  }
  return graph::view(a, extents, where, graph::view_op::slice, starts, steps);
}

array update_region(const array& base, const array& update, const shape& starts,
                    const shape& steps) {
  graph::layout where{0, graph::contiguous_strides(base.shape())};
  for (int i = 0; i < starts.rank(); ++i) {
    where.offset += starts[i] * where.strides[i];
    where.strides[i] *= steps[i];
  }
  return graph::slice_update(base, update, where, starts, steps);
}

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
  const shape extents = resolve_extents(n.extents, to);
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
    throw value_error("transpose: axes " + axes.str() + " are no permutation for shape " +
                      n.extents.str());
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

array swapaxes(const array& a, std::int64_t axis1, std::int64_t axis2) {
  shape order = graph::get(a, "swapaxes").extents;
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[normalize_axis(axis1, order.rank(), "swapaxes")],
            order[normalize_axis(axis2, order.rank(), "swapaxes")]);
  return permute(a, order);
}

array matrix_transpose(const array& a) {
  const shape& extents = graph::get(a, "matrix_transpose").extents;
  if (extents.rank() < 2)
    throw shape_error("matrix_transpose: needs at least two dimensions, got " + extents.str());
  return swapaxes(a, -2, -1);
}

array moveaxis(const array& a, const shape& source, const shape& destination) {
  const int rank = graph::get(a, "moveaxis").extents.rank();
  const auto fail = [&](const char* what) {
    throw value_error("moveaxis: axes " + source.str() + " to " + destination.str() + " of " +
                      a.shape().str() + ": " + what);
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

array moveaxis(const array& a, std::int64_t source, std::int64_t destination) {
  return moveaxis(a, shape{source}, shape{destination});
}

array broadcast_to(const array& a, const shape& to) {
  const graph::node& n = graph::get(a, "broadcast_to");
  const int shift = to.rank() - n.extents.rank();
  const auto fail = [&]() {
    throw shape_error("broadcast_to: " + n.extents.str() + " does not broadcast to " + to.str());
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

std::vector<array> broadcast_arrays(std::span<const array> arrays) {
  shape common;
  for (const array& a : arrays)
    common =
        broadcast_shapes(common, graph::get(a, "broadcast_arrays").extents, "broadcast_arrays");
  std::vector<array> out;
  for (const array& a : arrays) out.push_back(broadcast_to(a, common));
  return out;
}

std::vector<array> broadcast_arrays(std::initializer_list<array> arrays) {
  return broadcast_arrays(std::span(arrays.begin(), arrays.size()));
}

array expand_dims(const array& a, std::int64_t axis) {
  shape extents = graph::get(a, "expand_dims").extents;
  extents.insert(normalize_axis(axis, extents.rank() + 1, "expand_dims"), 1);
  return reshape(a, extents);
}

array squeeze(const array& a, std::optional<std::int64_t> axis) {
  const shape& from = graph::get(a, "squeeze").extents;
  shape to;
  if (axis) {
    const int dropped = normalize_axis(*axis, from.rank(), "squeeze");
    if (from[dropped] != 1)
      throw shape_error("squeeze: axis " + std::to_string(*axis) + " of " + from.str() +
                        " has extent " + std::to_string(from[dropped]) + ", not 1");
    to = from;
    to.erase(dropped);
  } else {
    for (std::int64_t extent : from)
      if (extent != 1) to.push_back(extent);
  }
  return reshape(a, to);
}

array slice_view(const array& a, std::span<const slice> slices) {
  const shape& extents = graph::get(a, "slice").extents;
  const region r = resolve_slices(extents, slices, "slice");
  return op::strided_slice(a, r.starts, r.extents, r.steps);
}

array slice_update(const array& a, const array& update, std::span<const slice> slices) {
  const graph::node& n = graph::get(a, "slice_update");
  const dtype type = op::type_of(a, "slice_update");
  const region r = resolve_slices(n.extents, slices, "slice_update");
  const shape& given = graph::get(update, "slice_update").extents;
  if (broadcast_shapes(given, r.extents, "slice_update") != r.extents)
    throw shape_error("slice_update: an update of shape " + given.str() +
                      " does not fit the region " + r.extents.str() + " of " + n.extents.str());
  const array base = op::cast(a, type, "slice_update");
  if (r.extents.size() == 0) return base;
  const array values = broadcast_to(op::cast(update, type, "slice_update"), r.extents);
  return op::update_region(base, values, r.starts, r.steps);
}

array contiguous(const array& a) {
  const graph::node& n = graph::get(a, "contiguous");
  if (!n.is_view() || graph::is_contiguous(n.extents, n.view().where.strides)) return a;
  const array inputs[] = {a};
  return graph::elementwise(TUTTI_OP_cast, n.type, inputs, "contiguous");
}

}  // namespace tutti
