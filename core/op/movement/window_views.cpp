// SPDX-License-Identifier: Apache-2.0
//
// Views of windows.
#include "op/operands.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

// A view of x without history, whose gradient adds repeated elements. `places` are the row-major
// positions of its elements in x.
template <class F, class G>
array view_with_rule(const array& x, F&& view, G&& places) {
  if (!graph::is_differentiated(x)) return view(x);
  const shape extents = x.shape();
  return custom_vjp([view](const std::vector<array>& v) { return std::vector<array>{view(v[0])}; },
                    [extents, places](const std::vector<array>&, const std::vector<array>&,
                                      const std::vector<array>& g) {
                      const array index = reshape(contiguous(places(g[0])), {-1});
                      const array sums = op::scatter_rows(
                          reshape(contiguous(g[0]), {1, g[0].size(), 1}), index, extents.size());
                      return std::vector<array>{reshape(sums, extents)};
                    })({x})[0];
}

// sum of index * stride + offset for each index of an array like g.
array places_of(const array& g, const shape& strides, std::int64_t offset) {
  array sum = full({}, offset, dtype::i64, g.device());
  for (int axis = 0; axis < g.ndim(); ++axis) {
    shape along = {g.dim(axis)};
    for (int later = axis + 1; later < g.ndim(); ++later) along.push_back(1);
    sum = sum + reshape(graph::iota({g.dim(axis)}, g.node()->device), along) * strides[axis];
  }
  return broadcast_to(sum, g.shape());
}

}  // namespace

array sliding_window_view(const array& x, const shape& window, const axis_list& axes) {
  constexpr const char* op = "sliding_window_view";
  const shape extents = graph::get(x, op).extents;
  shape along = axes.axes();
  if (!axes.given())
    for (int axis = 0; axis < extents.rank(); ++axis) along.push_back(axis);
  if (along.rank() != window.rank())
    base::fail<value_error>("{}: a window {} for {} axes of {}", op, window, along.rank(), extents);
  if (extents.rank() + window.rank() > max_rank)
    base::fail<shape_error>("{}: more than 8 axes: windows {} of {}", op, window, extents);
  const shape from = graph::contiguous_strides(extents);
  shape to = extents, places = from;
  for (std::int64_t& axis : along) axis = normalize_axis(axis, extents.rank(), op);
  for (int i = 0; i < window.rank(); ++i) {
    std::int64_t& left = to[static_cast<int>(along[i])];
    if (window[i] < 1 || window[i] > left)
      base::fail<shape_error>("{}: a window {} over {}", op, window, extents);
    left -= window[i] - 1;
  }
  for (int i = 0; i < window.rank(); ++i) {
    to.push_back(window[i]);
    places.push_back(from[static_cast<int>(along[i])]);
  }
  if (graph::checked_elements(to, x.dtype(), op) == 0)
    return op::zeros_on(to, x.dtype(), x.node()->device);
  return view_with_rule(
      x,
      [to, along](const array& a) {
        const graph::layout where = graph::layout_of(*a.node());
        shape strides = where.strides;
        for (std::int64_t axis : along) strides.push_back(where.strides[static_cast<int>(axis)]);
        return graph::view(a, to, {where.offset, strides}, graph::view_op::reshape);
      },
      [places](const array& g) { return places_of(g, places, 0); });
}

array as_strided(const array& x, const shape& extents, const shape& strides, std::int64_t offset) {
  const std::int64_t size = graph::get(x, "as_strided").elements;
  if (extents.rank() != strides.rank())
    base::fail<value_error>("as_strided: extents {} with strides {}", extents, strides);
  const auto outside = [&] {
    base::fail<index_error>(
        "as_strided: extents {} with strides {} from {} reach beyond {} elements", extents, strides,
        offset, size);
  };
  if (graph::checked_elements(extents, x.dtype(), "as_strided") == 0)
    return op::zeros_on(extents, x.dtype(), x.node()->device);
  std::int64_t first = offset, last = offset;
  for (int i = 0; i < extents.rank(); ++i) {
    std::int64_t way = 0;
    std::int64_t& end = strides[i] < 0 ? first : last;
    if (__builtin_mul_overflow(extents[i] - 1, strides[i], &way) ||
        __builtin_add_overflow(end, way, &end))
      outside();
  }
  if (first < 0 || last >= size) outside();
  return view_with_rule(
      x,
      [=](const array& given) {
        const array a = contiguous(given);
        const graph::layout where = graph::layout_of(*a.node());
        return graph::view(a, extents, {where.offset + offset, strides}, graph::view_op::reshape);
      },
      [=](const array& g) { return places_of(g, strides, offset); });
}

}  // namespace tutti
