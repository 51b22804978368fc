// SPDX-License-Identifier: Apache-2.0
//
// Views of windows, and resampling along one axis after the other: elements taken at places that
// the host computes, and their weighted sum in one program.
#include <algorithm>
#include <cmath>

#include "op/convolution/windows.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"
#include "tutti/pooling.hpp"

namespace tutti {
namespace {

using op::text;

// A view of x without history, with the rule that what it shows several times adds up. `places` are
// the row-major places in x of its elements.
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
  const shape extents = graph::get(x, "sliding_window_view").extents;
  const std::string name = "sliding_window_view: ";
  shape along = axes.axes();
  if (!axes.given())
    for (int axis = 0; axis < extents.rank(); ++axis) along.push_back(axis);
  if (along.rank() != window.rank())
    throw value_error(name + "a window " + window.str() + " for " + text(along.rank()) +
                      " axes of " + extents.str());
  if (extents.rank() + window.rank() > max_rank)
    throw shape_error(name + "more than 8 axes: windows " + window.str() + " of " + extents.str());
  const shape from = graph::contiguous_strides(extents);
  shape to = extents, places = from;
  for (std::int64_t& axis : along)
    axis = normalize_axis(axis, extents.rank(), "sliding_window_view");
  for (int i = 0; i < window.rank(); ++i) {
    std::int64_t& left = to[static_cast<int>(along[i])];
    if (window[i] < 1 || window[i] > left)
      throw shape_error(name + "a window " + window.str() + " over " + extents.str());
    left -= window[i] - 1;
  }
  for (int i = 0; i < window.rank(); ++i) {
    to.push_back(window[i]);
    places.push_back(from[static_cast<int>(along[i])]);
  }
  if (graph::checked_elements(to, x.dtype(), "sliding_window_view") == 0)
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
    throw value_error("as_strided: extents " + extents.str() + " with strides " + strides.str());
  const auto outside = [&] {
    throw index_error("as_strided: extents " + extents.str() + " with strides " + strides.str() +
                      " from " + text(offset) + " reach beyond " + text(size) + " elements");
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

namespace {

// Where place i of `size` lies among `extent` elements.
double source_of(std::int64_t i, std::int64_t extent, std::int64_t size, bool align_corners) {
  const auto place = static_cast<double>(i), from = static_cast<double>(extent);
  if (!align_corners) return (place + 0.5) * from / static_cast<double>(size) - 0.5;
  return size > 1 ? place * (from - 1) / static_cast<double>(size - 1) : 0;
}

// Keys' cubic kernel.
double cubic(double x) {
  constexpr double a = -0.75;
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// One tap of the sum: elements of each place, and their weights.
struct tap {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

std::vector<tap> taps_of(std::int64_t extent, std::int64_t size,
                         const interpolate_options& options) {
  const bool is_cubic = options.mode == resampling::cubic;
  const auto count = static_cast<std::uint64_t>(size);
  std::vector<tap> taps(is_cubic ? 4 : 2);
  for (tap& t : taps)
    t = {detail::host_vector<std::int64_t>("interpolate", count),
         detail::host_vector<double>("interpolate", count)};
  for (std::int64_t i = 0; i < size; ++i) {
    double at = source_of(i, extent, size, options.align_corners);
    if (!is_cubic) at = std::max(at, 0.0);
    const double floor = std::floor(at);
    for (std::size_t k = 0; k < taps.size(); ++k) {
      const double offset = static_cast<double>(k) - (is_cubic ? 1 : 0);
      const double weight = is_cubic ? cubic(at - floor - offset)
                            : k == 0 ? 1 - (at - floor)
                                     : at - floor;
      taps[k].index[static_cast<std::size_t>(i)] =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(floor + offset), 0, extent - 1);
      taps[k].weight[static_cast<std::size_t>(i)] = weight;
    }
  }
  return taps;
}

array nearest_along(const array& x, int axis, std::int64_t size) {
  auto index = detail::host_vector<std::int64_t>("interpolate", static_cast<std::uint64_t>(size));
  const std::int64_t extent = x.dim(axis);
  __extension__ using wide = __int128;
  for (std::int64_t i = 0; i < size; ++i)
    index[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(wide(i) * extent / size);
  return take(x, array::from(index, x.device()), axis);
}

array resampled_along(const array& x, int axis, std::int64_t size,
                      const interpolate_options& options) {
  array sum;
  shape column = {size};
  for (int later = axis + 1; later < x.ndim(); ++later) column.push_back(1);
  for (const tap& t : taps_of(x.dim(axis), size, options)) {
    const array weight = op::numbers_on(x.device(), t.weight, column, x.dtype());
    const array part = take(x, array::from(t.index, x.device()), axis) * weight;
    sum = sum.valid() ? sum + part : part;
  }
  return sum;
}

}  // namespace

array interpolate(const array& given, const per_axis& size, const interpolate_options& options) {
  const char* label = "interpolate";
  const int rank = graph::get(given, label).extents.rank();
  if (rank < 3 || rank > 5)
    throw shape_error("interpolate: x must have one to three spatial axes: " + given.shape().str());
  if (options.mode > resampling::area)
    throw value_error("interpolate: no mode of number " + text(static_cast<int>(options.mode)));
  if (options.align_corners &&
      (options.mode == resampling::nearest || options.mode == resampling::area))
    throw value_error("interpolate: align_corners is for linear and cubic");
  const bool is_nearest = options.mode == resampling::nearest;
  const array floats = is_nearest ? given : op::as_real_floating(given, label);
  const dtype type = op::type_of(floats, label);
  array x = op::cast(floats, is_nearest ? type : graph::compute_dtype(type), label);
  const int first = options.order == channel_order::last ? 1 : 2;
  const shape to = op::axis_values(size.values(), rank - 2, 0, "size", label);
  shape extents = x.shape();
  for (int i = 0; i < to.rank(); ++i) {
    if (x.dim(first + i) == 0 && to[i] > 0)
      throw shape_error("interpolate: no elements to take: " + given.shape().str());
    extents[first + i] = to[i];
  }
  if (graph::checked_elements(extents, type, label) == 0)
    return op::zeros_on(extents, type, x.node()->device, label);
  if (options.mode == resampling::area) return adaptive_avg_pool(given, size, options.order);
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == x.dim(first + i)) continue;
    x = is_nearest ? nearest_along(x, first + i, to[i])
                   : resampled_along(x, first + i, to[i], options);
  }
  return op::cast(x, type, label);
}

}  // namespace tutti
