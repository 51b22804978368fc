// SPDX-License-Identifier: Apache-2.0
//
// Gathering and scattering by arrays: everything becomes rows [outer, rows, inner] and indices of
// rows.
#include "op/operands.hpp"
#include "tutti/indexing.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

shape with_rest(const shape& first, const shape& extents, int from) {
  shape out = first;
  for (int i = from; i < extents.rank(); ++i) out.push_back(extents[i]);
  return out;
}

// What a scatter reads and writes: a as rows along the axis, updates as rows one for each index.
struct scattering {
  array rows, index, updates;
};

scattering prepare(const array& a, const array& indices, const array& given, std::int64_t axis,
                   std::string_view op) {
  const shape& from = graph::get(a, op).extents;
  if (from.rank() == 0) throw shape_error(std::string(op) + ": a 0-d array has no axis");
  const int along = normalize_axis(axis, from.rank(), op);
  const shape& picked = graph::get(indices, op).extents;
  shape taken;
  std::int64_t outer = 1;
  for (int i = 0; i < along; ++i) outer *= from[i], taken.push_back(from[i]);
  taken = with_rest(with_rest(taken, picked, 0), from, along + 1);
  std::int64_t inner = 1;
  for (int i = along + 1; i < from.rank(); ++i) inner *= from[i];
  const shape& offered = graph::get(given, op).extents;
  if (broadcast_shapes(offered, taken, op) != taken)
    throw shape_error(std::string(op) + ": updates of shape " + offered.str() +
                      " do not fit the places " + taken.str());
  const array operands[] = {a, given};
  const dtype type = op::promote_operands(operands, op::row_kind::ANY, op).type;
  const array updates = broadcast_to(op::cast(given, type, op), taken);
  const array index = picked.size() == 0
                          ? op::index_values(indices, op)
                          : op::checked_indices(indices, from[along], along, from, op);
  return {reshape(op::cast(a, type, op), {outer, from[along], inner}),
          reshape(index, {picked.size()}), reshape(updates, {outer, picked.size(), inner})};
}

}  // namespace

array index_with(const array& a, std::span<const array> indices) {
  const graph::node& n = graph::get(a, "index_with");
  const int count = static_cast<int>(indices.size());
  if (count == 0) throw value_error("index_with: no indices are given");
  if (count > n.extents.rank())
    throw index_error("index_with: " + std::to_string(count) + " indices for an array of shape " +
                      n.extents.str());
  const std::vector<array> given = broadcast_arrays(indices);
  const shape picked = given[0].shape();
  const shape to = with_rest(picked, n.extents, count);
  if (picked.size() == 0) {
    for (const array& i : given) op::index_values(i, "index_with");
    return op::zeros_on(to, op::type_of(a, "index_with"), n.device);
  }
  array place;
  std::int64_t leading = 1;
  for (int k = 0; k < count; ++k) {
    // Unbroadcast, since checking looks at each value.
    const array values = op::cast(op::checked_indices(indices[static_cast<std::size_t>(k)],
                                                      n.extents[k], k, n.extents, "index_with"),
                                  dtype::i64, "index_with");
    place = k == 0 ? values : place * n.extents[k] + values;
    leading *= n.extents[k];
  }
  if (to.size() == 0) return op::zeros_on(to, op::type_of(a, "index_with"), n.device);
  const shape rest = with_rest({leading}, n.extents, count);
  if (!op::known_range(place)) {
    if (count == 1) place = place + 0;  // a node of its own, to carry the bounds
    place.node()->range = {0, leading - 1};
  }
  return take(reshape(a, rest), place, 0);
}

array index_with(const array& a, std::initializer_list<array> indices) {
  return index_with(a, std::span(indices.begin(), indices.size()));
}

array mask_select(const array& a, const array& mask) {
  const shape& extents = graph::get(a, "mask_select").extents;
  const shape& of_mask = graph::get(mask, "mask_select").extents;
  const int rank = of_mask.rank();
  bool fits = rank <= extents.rank();
  for (int i = 0; fits && i < rank; ++i) fits = of_mask[i] == extents[i];
  if (!fits)
    throw shape_error("mask_select: a mask of shape " + of_mask.str() +
                      " does not fit the leading axes of " + extents.str());
  const array truth =
      op::cast(op::cast(mask, dtype::boolean, "mask_select"), dtype::u8, "mask_select");
  const std::vector<std::uint8_t> chosen = truth.to_vector<std::uint8_t>();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  const array rows = reshape(a, with_rest({of_mask.size()}, extents, rank));
  return take(rows, array::from(places, a.device()), 0);
}

array masked_fill(const array& a, const array& mask, const array& value) {
  const dtype type = op::type_of(a, "masked_fill");
  const shape extents = a.shape();
  for (const array* other : {&mask, &value})
    if (broadcast_shapes(graph::get(*other, "masked_fill").extents, extents, "masked_fill") !=
        extents)
      throw shape_error("masked_fill: " + other->shape().str() + " does not broadcast to " +
                        extents.str());
  return where(mask, op::cast(value, type, "masked_fill"), op::cast(a, type, "masked_fill"));
}

array scatter_add(const array& a, const array& indices, const array& updates, std::int64_t axis) {
  const scattering s = prepare(a, indices, updates, axis, "scatter_add");
  if (is_bool(s.rows.dtype())) throw dtype_error("scatter_add: needs integers or floats, got bool");
  if (s.updates.size() == 0) return reshape(s.rows, a.shape());
  const array added = op::scatter_rows(s.updates, s.index, s.rows.dim(1));
  // The sums begin at zero anyway.
  const graph::node& given = *s.rows.node();
  if (given.is_constant() && graph::same_bits(given.value, {})) return reshape(added, a.shape());
  return reshape(s.rows + added, a.shape());
}

array scatter_set(const array& a, const array& indices, const array& updates, std::int64_t axis) {
  const scattering s = prepare(a, indices, updates, axis, "scatter_set");
  if (s.updates.size() == 0) return reshape(s.rows, a.shape());
  const auto rows = static_cast<std::size_t>(s.rows.dim(1));
  const std::vector<std::int64_t> targets = s.index.astype(dtype::i64).to_vector<std::int64_t>();
  // Seen from the other side, it is a gather: which update each row takes, if any.
  std::vector<std::int64_t> source(rows, 0);
  std::vector<bool> replaced(rows, false);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto row = static_cast<std::size_t>(targets[i]);
    source[row] = static_cast<std::int64_t>(i);
    replaced[row] = true;
  }
  const device on = a.device();
  const array values = op::take_rows(s.updates, array::from(source, on));
  const array here = array::from(replaced, {1, s.rows.dim(1), 1}, on);
  return reshape(where(here, values, s.rows), a.shape());
}

}  // namespace tutti
