// SPDX-License-Identifier: Apache-2.0
//
// Maxima and means of windows. Maxima are computed along one axis after the other, as elementwise
// chains over shifted slices, which are fused; wide windows are built by doubling. Means are
// depthwise convolutions.
#include "tutti/nn/pooling.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/extension.hpp"
#include "tutti/grad.hpp"
#include "tutti/host_memory.hpp"

namespace tutti {
namespace {

using op::window_geometry;

// Properties of x with its channels first.
struct spatial_input {
  array x;
  shape extents;
  spatial_input(const array& given, channel_order order, const char* label) : x(given) {
    const int rank = op::extents_of(given, label).rank();
    if (rank < 3 || rank > 5)
      base::fail<shape_error>("{}: x must have one to three spatial axes: {}", label,
                              given.shape());
    if (order == channel_order::last) x = moveaxis(given, -1, 1);
    for (int axis = 2; axis < rank; ++axis) extents.push_back(x.dim(axis));
  }
  int spatial() const { return extents.rank(); }
};

array in_order(const array& a, channel_order order) {
  return order == channel_order::last ? moveaxis(a, 1, -1) : a;
}

window_geometry geometry_of(const spatial_input& in, const per_axis& window,
                            const pooling_options& options, const char* label) {
  const shape extents = op::axis_values(window.values(), in.spatial(), 1, "window", label);
  return op::resolve_windows(in.extents, extents,
                             options.stride ? *options.stride : per_axis(extents), options.padding,
                             options.dilation, label, options.ceil_mode);
}

shape pooled_shape(const array& x, const window_geometry& g) {
  shape to = {x.dim(0), x.dim(1)};
  for (std::int64_t n : g.places) to.push_back(n);
  return to;
}

// ---- maxima

// The largest element so far, and if needed its position in the flattened spatial axes.
struct winners {
  array value, place;
};

// `count` elements from `start` on, every `step`th.
winners sliced(const winners& w, int axis, std::int64_t start, std::int64_t count,
               std::int64_t step) {
  return {op::slice_along(w.value, axis, start, count, step),
          w.place.valid() ? op::slice_along(w.place, axis, start, count, step) : array()};
}

// `first` is kept if both are equal, unless it is padding; a NaN is larger than all other numbers.
winners better(const winners& first, const winners& second) {
  if (!first.place.valid()) return {maximum(first.value, second.value), {}};
  array takes = logical_not(second.value <= first.value);
  if (is_floating(first.value.dtype())) takes = takes & logical_not(isnan(first.value));
  takes = takes | (first.place < 0);
  return {where(takes, second.value, first.value), where(takes, second.place, first.place)};
}

winners along_axis(winners w, int axis, std::int64_t window, std::int64_t stride,
                   std::int64_t dilation, std::int64_t places) {
  constexpr std::int64_t few = 8;  // taps that one chain reads
  std::int64_t width = 1;          // taps that each element of w is the best of
  const auto stepped = [&](std::int64_t taps, std::int64_t every) {
    // `taps` slices of w, `every` taps apart.
    const bool is_last = width + (taps - 1) * every >= window;
    const std::int64_t reach = (taps - 1) * every * dilation;
    const std::int64_t step = is_last ? stride : 1;
    const std::int64_t count = is_last ? places : w.value.dim(axis) - reach;
    winners best = sliced(w, axis, 0, count, step);
    for (std::int64_t k = 1; k < taps; ++k)
      best = better(best, sliced(w, axis, k * every * dilation, count, step));
    w = best;
  };
  if (window == 1) return sliced(w, axis, 0, places, stride);
  stepped(std::min(window, few), 1);
  for (width = std::min(window, few); width < window;) {
    const std::int64_t more = std::min(width, window - width);
    stepped(2, more);
    width += more;
  }
  return w;
}

winners pooled(winners w, const window_geometry& g) {
  // Without places the order does not matter; outer axes leave less of the last, where strides are
  // slow.
  for (int n = 0; n < g.spatial; ++n) {
    const int i = w.place.valid() ? g.spatial - 1 - n : n;
    w = along_axis(w, w.value.ndim() - g.spatial + i, g.window[i], g.stride[i], g.dilation[i],
                   g.places[i]);
  }
  return w;
}

// Position of each element in the flattened spatial axes.
array places_in_planes(const array& x) {
  shape plane = x.shape();
  plane[0] = plane[1] = 1;
  return broadcast_to(graph::iota(plane, op::device_of(x)), x.shape());
}

// Whether the windows are few elements side by side, none in two of them.
bool are_small_and_apart(const window_geometry& g) {
  constexpr std::int64_t few = 16;  // elements that one chain compares
  std::int64_t size = 1;
  for (int i = 0; i < g.spatial; ++i) {
    if (g.stride[i] != g.window[i] || g.dilation[i] != 1 || g.window[i] > few) return false;
    size *= g.window[i];
  }
  return size <= few;
}

// The cotangents of the windows' elements, a row for the axes from `axis` on: `of` for the element
// whose number in its window is `best`, else 0. Numbers begin with `first`.
array windows_of(const array& best, const array& of, const window_geometry& g, int axis,
                 std::int64_t first) {
  const std::int64_t size = g.window[axis];
  if (axis + 1 == g.spatial) {
    const array numbers = arange(first, first + size, 1, best.dtype(), best.device());
    const array each = reshape(of, {-1, 1});
    const array rows = where(reshape(best, {-1, 1}) == numbers, each, zeros_like(each));
    return reshape(rows, {-1, g.places[axis] * size});
  }
  std::vector<array> parts;
  for (std::int64_t k = 0; k < size; ++k)
    parts.push_back(windows_of(best, of, g, axis + 1, (first + k) * g.window[axis + 1]));
  const array all = concatenate(parts, 1);
  return reshape(all, {-1, g.places[axis] * all.dim(1)});
}

// The gradient where are_small_and_apart(): an element has its window's cotangent if it is the
// largest there. `seen` is what max_pool() saw.
array spread_apart(const array& seen, const array& of, const window_geometry& g) {
  const auto number = [&](std::int64_t n) { return full({}, n, dtype::i32, seen.device()); };
  winners best;
  std::int64_t size = 1;
  for (const std::int64_t n : g.window) size *= n;
  for (std::int64_t k = 0; k < size; ++k) {
    array element = seen;
    std::int64_t rest = k;
    for (int i = g.spatial; i-- > 0; rest /= g.window[i])
      element = op::slice_along(element, 2 + i, rest % g.window[i], g.places[i], g.window[i]);
    const winners mine{element, broadcast_to(number(k), element.shape())};
    best = k == 0 ? mine : better(best, mine);
  }
  shape whole = seen.shape();
  std::vector<pad_width> behind(2);
  for (int i = 0; i < g.spatial; ++i) {
    whole[2 + i] = g.places[i] * g.window[i];
    behind.emplace_back(0, seen.dim(2 + i) - whole[2 + i]);
  }
  const array spread = reshape(windows_of(best.place, of, g, 0, 0), whole);
  return whole == seen.shape() ? spread : pad(spread, behind);
}

// The gradient of any windows: cotangents added up where the largest elements are.
array spread_by_place(const array& seen, const array& of, const window_geometry& g) {
  const array best = pooled({seen, graph::iota(seen.shape(), op::device_of(seen))}, g).place;
  const array sums =
      op::scatter_rows(reshape(of, {1, of.size(), 1}), reshape(best, {best.size()}), seen.size());
  return reshape(sums, seen.shape());
}

array max_of_windows(const array& x, const window_geometry& g) {
  if (!graph::is_differentiated(x)) return pooled({x, {}}, g).value;
  return custom_vjp(
      [g](const std::vector<array>& v) {
        return std::vector<array>{pooled({v[0], {}}, g).value};
      },
      [g](const std::vector<array>& v, const std::vector<array>&, const std::vector<array>& of) {
        const array seen = graph::detach(v[0]);
        return std::vector<array>{are_small_and_apart(g) ? spread_apart(seen, of[0], g)
                                                         : spread_by_place(seen, of[0], g)};
      })({x})[0];
}

// A lower bound of all elements.
array lowest(dtype type, const device& on) {
  if (is_floating(type)) return full({}, -std::numeric_limits<double>::infinity(), type, on);
  return full({}, iinfo(type).min, type, on);
}

// ---- means

// The number of elements in the windows along an axis, of x or including the padding, but 1 for
// empty ones, whose sum is 0.
array counts_along(const window_geometry& g, int axis, std::int64_t extent, bool count_padding,
                   dtype type, const device& on) {
  const std::int64_t first = count_padding ? -g.before[axis] : 0, step = g.dilation[axis];
  const std::int64_t end = extent + (count_padding ? g.after[axis] - g.beyond[axis] : 0);
  auto counts = detail::host_vector<double>("avg_pool", static_cast<std::uint64_t>(g.places[axis]));
  for (std::int64_t i = 0; i < g.places[axis]; ++i) {
    const std::int64_t start = i * g.stride[axis] - g.before[axis];
    const auto taps_before = [&](std::int64_t place) {
      return place <= start ? 0 : std::min((place - start - 1) / step + 1, g.window[axis]);
    };
    counts[static_cast<std::size_t>(i)] =
        static_cast<double>(std::max<std::int64_t>(taps_before(end) - taps_before(first), 1));
  }
  return op::numbers_on(on, counts, {g.places[axis]}, type);
}

array mean_of_windows(const spatial_input& in, const window_geometry& g, bool count_padding) {
  const std::int64_t channels = in.x.dim(1);
  shape w = {channels, 1};
  std::int64_t size = 1;
  std::vector<pad_width> widths;
  for (int i = 0; i < g.spatial; ++i) {
    w.push_back(g.window[i]);
    size = graph::extent_product(size, g.window[i], "avg_pool");
  }
  convolution_options options{.stride = per_axis(g.stride),
                              .dilation = per_axis(g.dilation),
                              .groups = std::max<std::int64_t>(channels, 1)};
  array x = in.x;
  bool even = true;
  for (int i = 0; i < g.spatial; ++i) even = even && g.before[i] == g.after[i];
  for (int i = 0; i < g.spatial; ++i) widths.emplace_back(g.before[i], g.after[i]);
  if (even)
    options.padding = window_padding(widths);
  else
    x = op::padded(x, g, 2, pad_mode::constant, 0);
  const array ones = full(w, 1.0, x.dtype(), x.device());
  const array sums = g.spatial == 1   ? conv1d(x, ones, options)
                     : g.spatial == 2 ? conv2d(x, ones, options)
                                      : conv3d(x, ones, options);
  bool whole = true;
  for (int i = 0; i < g.spatial; ++i) whole = whole && g.beyond[i] == 0;
  if (!g.has_padding() || (count_padding && whole)) return sums / static_cast<double>(size);
  array counts;
  for (int i = 0; i < g.spatial; ++i) {
    shape to = {g.places[i]};
    for (int j = i + 1; j < g.spatial; ++j) to.push_back(1);
    const array along =
        reshape(counts_along(g, i, in.extents[i], count_padding, sums.dtype(), x.device()), to);
    counts = counts.valid() ? counts * along : along;
  }
  return sums / counts;
}

}  // namespace

max_pool_result max_pool_with_indices(const array& given, const per_axis& window,
                                      const pooling_options& options) {
  const char* label = "max_pool_with_indices";
  const array values = base::named(label, [&] { return max_pool(given, window, options); });
  const spatial_input in(graph::detach(given), options.order, label);
  const window_geometry g = geometry_of(in, window, options, label);
  if (values.size() == 0)
    return {values, op::zeros_on(values.shape(), dtype::i64, op::device_of(given), label)};
  array x = op::cast(in.x, values.dtype(), label), places = places_in_planes(x);
  if (g.has_padding()) {
    x = op::padded(x, g, 2, pad_mode::constant, lowest(values.dtype(), x.device()));
    places = op::padded(places, g, 2, pad_mode::constant, std::int64_t{-1});
  }
  return {values, in_order(pooled({x, places}, g).place, options.order)};
}

array max_pool(const array& given, const per_axis& window, const pooling_options& options) {
  const char* label = "max_pool";
  return base::named(label, [&] {
    const spatial_input in(given, options.order, label);
    const dtype type = op::real_type_of(in.x, label);
    if (is_bool(type)) throw dtype_error("max_pool: not defined for bool");
    const window_geometry g = geometry_of(in, window, options, label);
    array x = op::cast(in.x, type, label);
    const shape to = pooled_shape(x, g);
    if (graph::checked_elements(to, type, label) == 0)
      return in_order(op::zeros_on(to, type, op::device_of(x), label), options.order);
    if (g.has_padding()) x = op::padded(x, g, 2, pad_mode::constant, lowest(type, x.device()));
    return in_order(max_of_windows(x, g), options.order);
  });
}

array avg_pool(const array& given, const per_axis& window, const pooling_options& options) {
  const char* label = "avg_pool";
  return base::named(label, [&] {
    const spatial_input in(given, options.order, label);
    const dtype type = op::real_floating_type_of(in.x, label);
    const window_geometry g = geometry_of(in, window, options, label);
    const shape to = pooled_shape(in.x, g);
    if (graph::checked_elements(to, type, label) == 0)
      return in_order(op::zeros_on(to, type, op::device_of(in.x), label), options.order);
    spatial_input floats = in;
    floats.x = op::cast(in.x, graph::compute_dtype(type), label);
    const array means = mean_of_windows(floats, g, options.count_padding);
    return in_order(op::cast(means, type, label), options.order);
  });
}

namespace {

std::vector<std::int64_t> spatial_axes_of(const array& x) {
  std::vector<std::int64_t> axes;
  for (int axis = 2; axis < x.ndim(); ++axis) axes.push_back(axis);
  return axes;
}

struct adaptive_window {
  std::int64_t begin, end;
};

// Window i of the `places` into which an extent is divided, from floor(i extent / places) to
// ceil((i + 1) extent / places).
adaptive_window window_of(std::int64_t i, std::int64_t extent, std::int64_t places) {
  __extension__ using wide = __int128;
  const auto share = [&](std::int64_t count) { return wide{count} * extent; };
  return {static_cast<std::int64_t>(share(i) / places),
          static_cast<std::int64_t>((share(i + 1) + places - 1) / places)};
}

// x with the axis divided into windows of equal length.
array cut_evenly(const array& x, int axis, std::int64_t places) {
  shape to = x.shape();
  to[axis] = places;
  to.insert(axis + 1, x.dim(axis) / places);
  return reshape(x, to);
}

array adaptive_mean(const array& x, int axis, std::int64_t places) {
  const std::int64_t extent = x.dim(axis);
  if (places == extent) return x;
  if (places > 0 && extent % places == 0) return mean(cut_evenly(x, axis, places), axis + 1);
  const std::int64_t size = graph::extent_product(extent, places, "adaptive_avg_pool");
  auto weights = detail::host_vector<double>("adaptive_avg_pool", static_cast<std::uint64_t>(size));
  for (std::int64_t i = 0; i < places; ++i) {
    const adaptive_window w = window_of(i, extent, places);
    for (std::int64_t k = w.begin; k < w.end; ++k)
      weights[static_cast<std::size_t>(k * places + i)] = 1 / static_cast<double>(w.end - w.begin);
  }
  const array averages = op::numbers_on(x.device(), weights, {extent, places}, x.dtype());
  return moveaxis(matmul(moveaxis(x, axis, -1), averages), -1, axis);
}

array adaptive_maximum(const array& x, int axis, std::int64_t places) {
  const std::int64_t extent = x.dim(axis);
  if (places == extent) return x;
  if (places > 0 && extent % places == 0) return max(cut_evenly(x, axis, places), axis + 1);
  detail::require_host_memory("adaptive_max_pool", static_cast<std::uint64_t>(places),
                              sizeof(std::int64_t));
  std::int64_t width = 0;
  for (std::int64_t i = 0; i < places; ++i) {
    const adaptive_window w = window_of(i, extent, places);
    width = std::max(width, w.end - w.begin);
  }
  // Shorter windows repeat their last element.
  const std::int64_t size = graph::extent_product(width, places, "adaptive_max_pool");
  auto index =
      detail::host_vector<std::int64_t>("adaptive_max_pool", static_cast<std::uint64_t>(size));
  for (std::int64_t i = 0; i < places; ++i) {
    const adaptive_window w = window_of(i, extent, places);
    for (std::int64_t k = 0; k < width; ++k)
      index[static_cast<std::size_t>(i * width + k)] = std::min(w.begin + k, w.end - 1);
  }
  const array seen = take(x, array::from(index, x.device()), axis);
  return max(cut_evenly(seen, axis, places), axis + 1);
}

template <class F>
array adaptive(const array& given, const per_axis& places, channel_order order, const char* label,
               F&& along) {
  const spatial_input in(given, order, label);
  const shape to = op::axis_values(places.values(), in.spatial(), 0, "places", label);
  shape extents = {in.x.dim(0), in.x.dim(1)};
  for (int i = 0; i < in.spatial(); ++i) {
    extents.push_back(to[i]);
    if (in.extents[i] == 0 && to[i] > 0)
      base::fail<shape_error>("{}: no elements to pool: {}", label, given.shape());
  }
  const dtype type = op::type_of(in.x, label);
  if (graph::checked_elements(extents, type, label) == 0)
    return in_order(op::zeros_on(extents, type, op::device_of(in.x), label), order);
  array x = in.x;
  for (int i = 0; i < in.spatial(); ++i) x = along(x, i + 2, to[i]);
  return in_order(x, order);
}

}  // namespace

array global_max_pool(const array& given, channel_order order) {
  const spatial_input in(given, order, "global_max_pool");
  op::real_type_of(in.x, "global_max_pool");
  for (int i = 0; i < in.spatial(); ++i)
    if (in.extents[i] == 0)
      base::fail<shape_error>("global_max_pool: no elements to pool: {}", given.shape());
  return in_order(max(in.x, {spatial_axes_of(in.x), keep_dims::yes}), order);
}

array global_avg_pool(const array& given, channel_order order) {
  const spatial_input in(given, order, "global_avg_pool");
  return in_order(mean(in.x, {spatial_axes_of(in.x), keep_dims::yes}), order);
}

array adaptive_max_pool(const array& x, const per_axis& places, channel_order order) {
  op::real_type_of(x, "adaptive_max_pool");
  return adaptive(x, places, order, "adaptive_max_pool", adaptive_maximum);
}

array adaptive_avg_pool(const array& x, const per_axis& places, channel_order order) {
  const char* label = "adaptive_avg_pool";
  const array floats = op::cast(x, op::real_floating_type_of(x, label), label);
  return adaptive(floats, places, order, label, adaptive_mean);
}

}  // namespace tutti
