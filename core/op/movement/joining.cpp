// SPDX-License-Identifier: Apache-2.0
//
// Concatenation along an axis, and views of parts of one.
#include <algorithm>

#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// Each of many views is a node.
void require_memory_of_views(std::int64_t count, std::string_view op) {
  detail::require_host_memory(
      op, static_cast<std::uint64_t>(count),
      sizeof(array) + sizeof(graph::node) + sizeof(graph::view_params) + sizeof(std::int64_t));
}

}  // namespace

array concatenate(array_list arrays, integer axis) {
  if (arrays.empty()) throw value_error("concatenate: no arrays are given");
  const dtype type = op::promote_operands(arrays, op::row_kind::ANY, "concatenate").type;
  const shape& first = arrays[0].shape();
  if (first.rank() == 0) throw shape_error("concatenate: 0-d arrays have no axis to join");
  const int along = normalize_axis(axis, first.rank(), "concatenate");
  shape extents = first;
  extents[along] = 0;
  std::vector<array> parts;
  for (const array& a : arrays) {
    op::require_same_beside(along, first, a.shape(), "concatenate");
    extents[along] = graph::extent_sum(extents[along], a.shape()[along], "concatenate");
    if (a.size() != 0) parts.push_back(op::cast(a, type, "concatenate"));
  }
  if (parts.empty()) {
    std::vector<array> all(arrays.begin(), arrays.end());
    return op::zeros_on(extents, type, graph::common_device(all, "concatenate"), "concatenate");
  }
  graph::common_device(parts, "concatenate");
  return parts.size() == 1 ? parts[0] : graph::concatenate(parts, along, extents);
}

array stack(array_list arrays, integer axis) {
  return named("stack", [&] {
    if (arrays.empty()) throw value_error("stack: no arrays are given");
    std::vector<array> parts;
    for (const array& a : arrays) {
      if (graph::get(a, "stack").extents != arrays[0].shape())
        base::fail<shape_error>("stack: shapes differ: {} and {}", arrays[0].shape(), a.shape());
      const int at = normalize_axis(axis, a.ndim() + 1, "stack");
      parts.push_back(expand_dims(a, at));
    }
    shape to = arrays[0].shape();
    to.insert(normalize_axis(axis, to.rank() + 1, "stack"),
              static_cast<std::int64_t>(parts.size()));
    graph::checked_elements(to, op::promote_operands(arrays, op::row_kind::ANY, "stack").type,
                            "stack");
    return concatenate(parts, axis);
  });
}

std::vector<array> split_at(const array& a, std::span<const std::int64_t> positions, integer axis) {
  const shape& extents = graph::get(a, "split_at").extents;
  const int along = normalize_axis(axis, extents.rank(), "split_at");
  const std::int64_t n = extents[along];
  std::vector<array> out;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= positions.size(); ++i) {
    const std::int64_t given = i < positions.size() ? positions[i] : n;
    const std::int64_t stop = std::clamp<std::int64_t>(given < 0 ? given + n : given, 0, n);
    out.push_back(op::part_along(a, along, start, stop));
    start = stop;
  }
  return out;
}

std::vector<array> split_at(const array& a, std::initializer_list<integer> positions,
                            integer axis) {
  return split_at(a, std::vector<std::int64_t>(positions.begin(), positions.end()), axis);
}

std::vector<array> split(const array& a, std::int64_t sections, integer axis) {
  const shape& extents = graph::get(a, "split").extents;
  const std::int64_t n = extents[normalize_axis(axis, extents.rank(), "split")];
  if (sections <= 0 || n % sections != 0)
    base::fail<shape_error>("split: axis {} of {} has no {} equal sections", axis, extents,
                            sections);
  require_memory_of_views(sections, "split");
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 1; i < sections; ++i) positions.push_back(n / sections * i);
  return split_at(a, positions, axis);
}

std::vector<array> unstack(const array& a, integer axis) {
  const shape& extents = graph::get(a, "unstack").extents;
  const int along = normalize_axis(axis, extents.rank(), "unstack");
  require_memory_of_views(extents[along], "unstack");
  std::vector<array> out;
  for (std::int64_t i = 0; i < extents[along]; ++i)
    out.push_back(squeeze(op::part_along(a, along, i, i + 1), along));
  return out;
}

}  // namespace tutti
