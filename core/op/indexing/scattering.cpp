// SPDX-License-Identifier: Apache-2.0
//
// Scattering by arrays: the destination becomes rows [outer, rows, inner], and the updates one row
// for each index.
#include "base/named_errors.hpp"
#include "op/along.hpp"
#include "op/operands.hpp"

namespace tutti {

using base::named;

namespace {

// Dtypes promote; those of min and max must have an order, those of add and multiply be numbers.
dtype common_type(const array& a, const array& updates, scatter_mode mode, std::string_view op) {
  if (mode > scatter_mode::max)
    base::fail<value_error>("{}: unknown mode {}", op, static_cast<int>(mode));
  const bool ordered = mode == scatter_mode::min || mode == scatter_mode::max;
  const op::row_kind kind = mode == scatter_mode::set ? op::row_kind::ANY
                            : ordered                 ? op::row_kind::REAL
                                                      : op::row_kind::NUMERIC;
  return op::promote_operands({a, updates}, kind, op).type;
}

array fitting(const array& updates, const shape& places, std::string_view op) {
  const shape& offered = graph::get(updates, op).extents;
  const bool fits = offered.size() == 0 ? offered == places || places.size() == 0
                                        : broadcast_shapes(offered, places, op) == places;
  if (!fits)
    base::fail<shape_error>("{}: updates of shape {} do not fit the places {}", op, offered,
                            places);
  return broadcast_to(updates, places);
}

// a, of any shape, with updates combined into the rows of its [O,R,N] that index names; updates
// have the shape of the selected elements, index any shape.
array scattered(const array& a, const shape& rows, const array& index, const array& updates,
                scatter_mode mode, std::string_view op) {
  const dtype type = common_type(a, updates, mode, op);
  const array base = op::cast(a, type, op);
  if (updates.size() == 0) return base;
  // f16 and bf16 are combined as f32 and rounded once.
  const dtype compute = mode == scatter_mode::set ? type : graph::compute_dtype(type);
  const array values = op::cast(op::cast(updates, type, op), compute, op);
  const array out = op::scatter_into(reshape(op::cast(base, compute, op), rows),
                                     reshape(values, {rows[0], index.size(), rows[2]}),
                                     reshape(index, {index.size()}), mode);
  return op::cast(reshape(out, a.shape()), type, op);
}

array scatter_axis(const array& a, const array& indices, const array& updates, integer axis,
                   scatter_mode mode, std::string_view op) {
  return named(op, [&] {
    const shape& from = graph::get(a, op).extents;
    if (from.rank() == 0) base::fail<shape_error>("{}: a 0-d array has no axis", op);
    const op::along at(from, axis, op);
    const shape& picked = graph::get(indices, op).extents;
    shape places;
    for (int i = 0; i < at.axis; ++i) places.push_back(from[i]);
    places = op::with_rest(op::with_rest(places, picked, 0), from, at.axis + 1);
    const array values = fitting(updates, places, op);
    const array index = picked.size() == 0
                            ? op::index_values(indices, op)
                            : op::checked_indices(indices, at.length, at.axis, from, op);
    return scattered(a, {at.outer, at.length, at.inner}, index, values, mode, op);
  });
}

}  // namespace

array scatter(const array& a, const array& indices, const array& updates, integer axis,
              scatter_mode mode) {
  return scatter_axis(a, indices, updates, axis, mode, "scatter");
}

#define TUTTI_SCATTER(mode)                                                                        \
  array scatter_##mode(const array& a, const array& indices, const array& updates, integer axis) { \
    return scatter_axis(a, indices, updates, axis, scatter_mode::mode, "scatter_" #mode);          \
  }
TUTTI_SCATTER(set)
TUTTI_SCATTER(add)
TUTTI_SCATTER(multiply)
TUTTI_SCATTER(min)
TUTTI_SCATTER(max)
#undef TUTTI_SCATTER

array index_put(const array& a, array_list indices, const array& values, scatter_mode mode) {
  return named("index_put", [&] {
    constexpr std::string_view op = "index_put";
    const shape& extents = graph::get(a, op).extents;
    const int count = static_cast<int>(indices.size());
    if (count == 0) throw value_error("index_put: no indices are given");
    if (count > extents.rank())
      base::fail<index_error>("index_put: {} indices for an array of shape {}", count, extents);
    shape picked;
    for (const array& i : indices) picked = broadcast_shapes(picked, graph::get(i, op).extents, op);
    const array updates = fitting(values, op::with_rest(picked, extents, count), op);
    if (picked.size() == 0) {
      for (const array& i : indices) op::index_values(i, op);
      return scattered(a, extents, indices[0], updates, mode, op);
    }
    std::int64_t leading = 1;
    for (int i = 0; i < count; ++i) leading *= extents[i];
    const std::int64_t inner = op::with_rest({}, extents, count).size();
    return scattered(a, {1, leading, inner}, op::joined_index(indices, extents, op), updates, mode,
                     op);
  });
}

array put(const array& a, const array& indices, const array& values, scatter_mode mode) {
  return named("put", [&] {
    const shape& picked = graph::get(indices, "put").extents;
    const std::int64_t size = graph::get(a, "put").elements;
    const array updates = fitting(values, picked, "put");
    const array index = picked.size() == 0 ? op::index_values(indices, "put")
                                           : op::checked_indices(indices, size, 0, {size}, "put");
    return scattered(a, {1, size, 1}, index, updates, mode, "put");
  });
}

array put_along_axis(const array& a, const array& indices, const array& values, integer axis,
                     scatter_mode mode) {
  return named("put_along_axis", [&] {
    constexpr std::string_view op = "put_along_axis";
    const shape& from = graph::get(a, op).extents;
    const op::along at(from, axis, op);
    const shape& picked = graph::get(indices, op).extents;
    op::require_same_beside(at.axis, from, picked, op);
    const array updates = fitting(values, picked, op);
    if (picked.size() == 0) {
      op::index_values(indices, op);
      return scattered(a, from, indices, updates, mode, op);
    }
    const array index = op::checked_indices(indices, at.length, at.axis, from, op);
    const array flat = op::flat_index_along(op::cast(index, dtype::i64, op), at.axis, at.length);
    return scattered(a, {1, from.size(), 1}, flat, updates, mode, op);
  });
}

}  // namespace tutti
