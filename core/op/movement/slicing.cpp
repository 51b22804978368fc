// SPDX-License-Identifier: Apache-2.0
//
// NumPy's basic slicing and indexing: views of regions, and copies with a region replaced.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <vector>

#include "op/operands.hpp"

namespace tutti {
namespace {

struct region {
  shape starts, extents, steps;
};

// The elements selected by NumPy's basic slicing. Bounds beyond the array are clipped, as in NumPy.
region resolve_slices(const shape& extents, std::span<const slice> slices, std::string_view op) {
  if (slices.size() > static_cast<std::size_t>(extents.rank()))
    base::fail<index_error>("{}: {} slices for an array of shape {}", op, slices.size(), extents);
  region out{extents, extents, extents};
  for (int i = 0; i < extents.rank(); ++i) {
    const slice s = static_cast<std::size_t>(i) < slices.size() ? slices[i] : slice{};
    if (s.step == 0)
      base::fail<value_error>("{}: step 0 along axis {} of shape {}", op, i, extents);
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
    // With a step at least as wide as the span, only the first element remains.
    const std::int64_t step = back ? std::max(s.step, -std::max<std::int64_t>(n, 1))
                                   : std::min(s.step, std::max<std::int64_t>(n, 1));
    const std::int64_t width = back ? -step : step;
    out.starts[i] = start;
    out.steps[i] = step;
    out.extents[i] = span <= 0 ? 0 : (span - 1) / width + 1;
  }
  return out;
}

// The meaning of indices in braces for an array: a slice of each of its axes, and the axis of the
// array for each axis of the result (-1: a new one).
struct basic_index {
  boost::container::small_vector<slice, max_rank> slices;
  boost::container::small_vector<int, max_rank> from;

  std::span<const slice> of_axes() const { return {slices.data(), slices.size()}; }
  shape shown(const shape& region) const {
    shape out;
    for (int axis : from) out.push_back(axis < 0 ? 1 : region[axis]);
    return out;
  }
};

slice slice_of_number(std::int64_t given, int axis, const shape& extents, std::string_view op) {
  const std::int64_t n = extents[axis];
  if (given < -n || given >= n)
    base::fail<index_error>("{}: index {} is out of range for axis {} of {}", op, given, axis,
                            extents);
  const std::int64_t i = given < 0 ? given + n : given;
  return {i, i + 1, 1};
}

basic_index resolve_indices(const shape& extents, std::span<const axis_index> indices,
                            std::string_view op) {
  using kind = axis_index::kind;
  const auto count = [&](auto&& wanted) {
    return static_cast<int>(std::count_if(indices.begin(), indices.end(), wanted));
  };
  const int named = count(
      [](const axis_index& i) { return i.what() == kind::number || i.what() == kind::range; });
  if (named > extents.rank())
    base::fail<index_error>("{}: {} indices for an array of shape {}", op, named, extents);
  if (count([](const axis_index& i) { return i.what() == kind::ellipsis; }) > 1)
    base::fail<index_error>("{}: more than one ellipsis for {}", op, extents);
  basic_index out;
  const auto add_whole = [&](int axes) {
    for (; axes > 0; --axes) {
      out.from.push_back(static_cast<int>(out.slices.size()));
      out.slices.emplace_back();
    }
  };
  for (const axis_index& index : indices) {
    const int axis = static_cast<int>(out.slices.size());
    if (index.what() == kind::new_axis) {
      out.from.push_back(-1);
    } else if (index.what() == kind::ellipsis) {
      add_whole(extents.rank() - named);
    } else if (index.what() == kind::number) {
      out.slices.push_back(slice_of_number(index.number(), axis, extents, op));
    } else {
      out.from.push_back(axis);
      out.slices.push_back(index.range());
    }
  }
  add_whole(extents.rank() - static_cast<int>(out.slices.size()));
  return out;
}

graph::layout region_layout(graph::layout all, const shape& starts, const shape& steps) {
  for (int i = 0; i < starts.rank(); ++i) {
    all.offset += starts[i] * all.strides[i];
    all.strides[i] *= steps[i];
  }
  return all;
}

}  // namespace

namespace op {

array strided_slice(const array& a, const shape& starts, const shape& extents, const shape& steps) {
  const graph::node& n = *a.node();
  if (extents.size() == 0) return zeros_on(extents, n.type, n.device);
  return graph::view(a, extents, region_layout(graph::layout_of(n), starts, steps),
                     graph::view_op::slice, starts, steps);
}

array slice_along(const array& a, int axis, std::int64_t start, std::int64_t count,
                  std::int64_t step) {
  shape starts = a.shape(), extents = a.shape(), steps = a.shape();
  std::ranges::fill(starts, 0);
  std::ranges::fill(steps, 1);
  starts[axis] = start;
  extents[axis] = count;
  steps[axis] = step;
  return strided_slice(a, starts, extents, steps);
}

array part_along(const array& a, int axis, std::optional<std::int64_t> start,
                 std::optional<std::int64_t> stop) {
  std::vector<slice> slices(static_cast<std::size_t>(axis) + 1);
  slices.back() = {start, stop, 1};
  return slice_view(a, slices);
}

array update_region(const array& base, const array& update, const shape& starts,
                    const shape& steps) {
  const graph::layout all{0, graph::contiguous_strides(base.shape())};
  return graph::slice_update(base, update, region_layout(all, starts, steps), starts, steps);
}

}  // namespace op

array slice_view(const array& a, std::span<const slice> slices) {
  const shape& extents = graph::get(a, "slice").extents;
  const region r = resolve_slices(extents, slices, "slice");
  return op::strided_slice(a, r.starts, r.extents, r.steps);
}

array slice_view(const array& a, std::initializer_list<axis_index> indices) {
  return slice_view(a, std::span(indices.begin(), indices.size()));
}
array slice_view(const array& a, std::span<const axis_index> indices) {
  const graph::node& n = graph::get(a, "slice");
  const basic_index index = resolve_indices(n.extents, indices, "slice");
  const region r = resolve_slices(n.extents, index.of_axes(), "slice");
  const shape shown = index.shown(r.extents);
  const bool has_new_axis = std::ranges::find(index.from, -1) != index.from.end();
  if (has_new_axis || r.extents.size() == 0)
    return reshape(op::strided_slice(a, r.starts, r.extents, r.steps), shown);
  const graph::layout where = region_layout(graph::layout_of(n), r.starts, r.steps);
  shape strides, steps = r.steps;
  std::ranges::fill(steps, 0);
  for (const int axis : index.from) {
    strides.push_back(where.strides[axis]);
    steps[axis] = r.steps[axis];
  }
  return graph::view(a, shown, {where.offset, strides}, graph::view_op::slice, r.starts, steps);
}

namespace {

bool broadcasts_to(const shape& from, const shape& to) {
  const int shift = to.rank() - from.rank();
  bool fits = shift >= 0;
  for (int i = 0; fits && i < from.rank(); ++i) fits = from[i] == 1 || from[i] == to[i + shift];
  return fits;
}

// `update` is broadcast to `shown`, which is the region's shape without some axes of extent 1.
array update_shown(const array& a, const array& update, const region& r, const shape& shown) {
  const dtype type = op::type_of(a, "slice_update");
  const shape& given = graph::get(update, "slice_update").extents;
  if (!broadcasts_to(given, shown))
    base::fail<shape_error>("slice_update: an update of shape {} does not fit the region {} of {}",
                            given, shown, a.shape());
  const array base = op::cast(a, type, "slice_update");
  const array values = op::cast(update, type, "slice_update");
  if (r.extents.size() == 0) return base;
  return op::update_region(base, reshape(broadcast_to(values, shown), r.extents), r.starts,
                           r.steps);
}

}  // namespace

array slice_update(const array& a, const array& update, std::span<const slice> slices) {
  const shape& extents = graph::get(a, "slice_update").extents;
  const region r = resolve_slices(extents, slices, "slice_update");
  return update_shown(a, update, r, r.extents);
}

array slice_update(const array& a, const array& update, std::initializer_list<axis_index> indices) {
  return slice_update(a, update, std::span(indices.begin(), indices.size()));
}
array slice_update(const array& a, const array& update, std::span<const axis_index> indices) {
  const shape& extents = graph::get(a, "slice_update").extents;
  const basic_index index = resolve_indices(extents, indices, "slice_update");
  const region r = resolve_slices(extents, index.of_axes(), "slice_update");
  return update_shown(a, update, r, index.shown(r.extents));
}

}  // namespace tutti
