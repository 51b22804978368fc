// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and pooling share.
#include <algorithm>

#include "op/operands.hpp"

namespace tutti::op {

bool window_geometry::has_padding() const {
  const auto is_some = [](std::int64_t n) { return n != 0; };
  return std::any_of(before.begin(), before.end(), is_some) ||
         std::any_of(after.begin(), after.end(), is_some);
}

shape axis_values(const shape& given, int spatial, std::int64_t least, const char* what,
                  const char* label) {
  if (given.rank() != 1 && given.rank() != spatial)
    base::fail<value_error>("{}: {} {} for {} spatial axes", label, what, given, spatial);
  shape all;
  for (int i = 0; i < spatial; ++i) {
    all.push_back(given[given.rank() == 1 ? 0 : i]);
    if (all.back() < least)
      base::fail<value_error>("{}: {} {} must be at least {}", label, what, given, least);
  }
  return all;
}

window_geometry resolve_windows(const shape& extents, const shape& window, const per_axis& stride,
                                const window_padding& padding, const per_axis& dilation,
                                const char* label, bool ceil_mode) {
  window_geometry g;
  g.spatial = extents.rank();
  g.window = window;
  g.stride = axis_values(stride.values(), g.spatial, 1, "stride", label);
  g.dilation = axis_values(dilation.values(), g.spatial, 1, "dilation", label);
  g.before = axis_values(padding.before(), g.spatial, 0, "padding", label);
  g.after = axis_values(padding.after(), g.spatial, 0, "padding", label);
  for (int i = 0; i < g.spatial; ++i) {
    if (window[i] < 1) base::fail<shape_error>("{}: a window without elements: {}", label, window);
    const std::int64_t reach =
        graph::extent_sum(graph::extent_product(window[i] - 1, g.dilation[i], label), 1, label);
    g.beyond.push_back(0);
    if (padding.rule() == padding_rule::same) {
      const std::int64_t places = extents[i] / g.stride[i] + (extents[i] % g.stride[i] != 0);
      const std::int64_t needed =
          places == 0 ? 0 : graph::extent_sum((places - 1) * g.stride[i], reach, label);
      const std::int64_t added = std::max<std::int64_t>(needed - extents[i], 0);
      g.before[i] = added / 2;
      g.after[i] = added - added / 2;
      g.places.push_back(places);
      continue;
    }
    const std::int64_t padded =
        graph::extent_sum(graph::extent_sum(extents[i], g.before[i], label), g.after[i], label);
    if (padded < reach)
      base::fail<shape_error>("{}: a window of {} over {} elements along spatial axis {} of {}",
                              label, reach, padded, i, extents);
    g.places.push_back((padded - reach) / g.stride[i] + 1);
    if (!ceil_mode || (padded - reach) % g.stride[i] == 0) continue;
    const std::int64_t start = graph::extent_product(g.places[i], g.stride[i], label);
    if (start >= extents[i] + g.before[i]) continue;
    g.beyond[i] = graph::extent_sum(start, reach, label) - padded;
    g.after[i] = graph::extent_sum(g.after[i], g.beyond[i], label);
    ++g.places[i];
  }
  return g;
}

array padded(const array& a, const window_geometry& g, int first, pad_mode mode,
             const array& value) {
  std::vector<pad_width> widths(static_cast<std::size_t>(first + g.spatial));
  for (int i = 0; i < g.spatial; ++i)
    widths[static_cast<std::size_t>(first + i)] = {g.before[i], g.after[i]};
  return pad(a, widths, mode, value);
}

}  // namespace tutti::op
