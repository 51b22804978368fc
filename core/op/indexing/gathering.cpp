// SPDX-License-Identifier: Apache-2.0
//
// Gathering by arrays of integers and masks: everything is converted to rows [outer, rows, inner]
// and indices of rows.
#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/indexing.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace op {

shape with_rest(const shape& first, const shape& extents, int from) {
  shape out = first;
  for (int i = from; i < extents.rank(); ++i) out.push_back(extents[i]);
  return out;
}

array joined_index(array_list indices, const shape& extents, std::string_view op) {
  array place;
  std::int64_t leading = 1;
  for (int k = 0; k < static_cast<int>(indices.size()); ++k) {
    // Before broadcasting, because checking reads each value.
    const array values =
        cast(checked_indices(indices[static_cast<std::size_t>(k)], extents[k], k, extents, op),
             dtype::i64, op);
    place = k == 0 ? values : place * extents[k] + values;
    leading *= extents[k];
  }
  if (!known_range(place)) {
    if (indices.size() == 1) place = place + 0;  // a separate node that stores the bounds
    place.node()->range = {0, leading - 1};
  }
  return place;
}

}  // namespace op

array index_with(const array& a, array_list indices) {
  return named("index_with", [&] {
    const graph::node& n = graph::get(a, "index_with");
    const int count = static_cast<int>(indices.size());
    if (count == 0) throw value_error("index_with: no indices are given");
    if (count > n.extents.rank())
      base::fail<index_error>("index_with: {} indices for an array of shape {}", count, n.extents);
    const std::vector<array> given = broadcast_arrays(indices);
    const shape picked = given[0].shape();
    const shape to = op::with_rest(picked, n.extents, count);
    const std::int64_t elements =
        graph::checked_elements(to, op::type_of(a, "index_with"), "index_with");
    if (picked.size() == 0) {
      for (const array& i : given) op::index_values(i, "index_with");
      return op::zeros_on(to, op::type_of(a, "index_with"), n.device);
    }
    if (elements == 0) return op::zeros_on(to, op::type_of(a, "index_with"), n.device);
    const array place = op::joined_index(indices, n.extents, "index_with");
    return take(reshape(a, op::with_rest({-1}, n.extents, count)), place, 0);
  });
}

array mask_select(const array& a, const array& mask) {
  const shape& extents = graph::get(a, "mask_select").extents;
  const shape& of_mask = graph::get(mask, "mask_select").extents;
  const int rank = of_mask.rank();
  bool fits = rank <= extents.rank();
  for (int i = 0; fits && i < rank; ++i) fits = of_mask[i] == extents[i];
  if (!fits)
    base::fail<shape_error>("mask_select: a mask of shape {} does not fit the leading axes of {}",
                            of_mask, extents);
  detail::require_host_memory("mask_select", static_cast<std::uint64_t>(mask.size()), 1);
  const array truth =
      op::cast(op::cast(mask, dtype::boolean, "mask_select"), dtype::u8, "mask_select");
  const std::vector<std::uint8_t> chosen = truth.to_vector<std::uint8_t>();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  const array rows = reshape(a, op::with_rest({of_mask.size()}, extents, rank));
  return take(rows, array::from(places, a.device()), 0);
}

array masked_fill(const array& a, const array& mask, const array& value) {
  return named("masked_fill", [&] {
    const dtype type = op::type_of(a, "masked_fill");
    const shape extents = a.shape();
    for (const array* other : {&mask, &value})
      if (broadcast_shapes(graph::get(*other, "masked_fill").extents, extents, "masked_fill") !=
          extents)
        base::fail<shape_error>("masked_fill: {} does not broadcast to {}", other->shape(),
                                extents);
    return where(mask, op::cast(value, type, "masked_fill"), op::cast(a, type, "masked_fill"));
  });
}

}  // namespace tutti
