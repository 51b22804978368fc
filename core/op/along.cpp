// SPDX-License-Identifier: Apache-2.0
//
// One axis of an array before the others: reshapes, and moves along the axis by flat indices.
#include "op/along.hpp"

namespace tutti {
namespace op {
namespace {

shape moved_to_end(int rank, int axis) {
  shape order;
  for (int i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  return order;
}

// Row-major positions of the elements that `index` selects along the axis, in an array with
// `length` elements there.
array flat_index(const array& index, const along& at, std::int64_t length) {
  if (at.outer == 1 && at.inner == 1) return reshape(index, {index.size()});
  const array place = graph::iota(index.shape(), index.node()->device);
  const array outer = floor_divide(place, at.length * at.inner);
  const array row = outer * length + index;
  if (at.inner == 1) return reshape(row, {index.size()});
  return reshape(row * at.inner + remainder(place, at.inner), {index.size()});
}

}  // namespace

along::along(const shape& extents, std::int64_t given, std::string_view op)
    : axis(normalize_axis(given, extents.rank(), op)), length(extents[axis]) {
  for (int i = 0; i < axis; ++i) outer *= extents[i];
  for (int i = axis + 1; i < extents.rank(); ++i) inner *= extents[i];
}

array around_axis(const array& a, const along& at) {
  return contiguous(reshape(a, {at.outer, at.length, at.inner}));
}

array as_rows(const array& a, std::int64_t axis) {
  const int last = a.ndim() - 1;
  const array turned =
      axis == last ? a : transpose(a, moved_to_end(a.ndim(), static_cast<int>(axis)));
  const std::int64_t length = a.shape()[static_cast<int>(axis)];
  return contiguous(reshape(turned, {a.size() / length, length}));
}

array from_rows(const array& rows, const shape& extents, int axis) {
  shape turned;
  for (int i = 0; i < extents.rank(); ++i)
    if (i != axis) turned.push_back(extents[i]);
  turned.push_back(rows.shape()[1]);
  const array y = reshape(rows, turned);
  if (axis == extents.rank() - 1) return y;
  const shape order = moved_to_end(extents.rank(), axis);
  shape back = order;
  for (int i = 0; i < order.rank(); ++i) back[static_cast<int>(order[i])] = i;
  return transpose(y, back);
}

array flat_index_along(const array& index, int axis, std::int64_t length) {
  return flat_index(index, along(index.shape(), axis, "flat_index"), length);
}

array gather_along(const array& x, const array& index, int axis) {
  const along at(index.shape(), axis, "take_along_axis");
  const array flat = flat_index(index, at, x.shape()[axis]);
  const array values = take_rows(reshape(x, {1, x.size(), 1}), flat);
  return reshape(values, index.shape());
}

array scatter_along(const array& updates, const array& index, int axis, std::int64_t length) {
  const along at(index.shape(), axis, "scatter");
  shape to = index.shape();
  to[axis] = length;
  const array flat = flat_index(index, at, length);
  return reshape(scatter_rows(reshape(updates, {1, updates.size(), 1}), flat, to.size()), to);
}

array scan3(const array& x, tutti_scan kind, bool exclusive, bool reverse, dtype result,
            std::string_view op) {
  const tutti_scan_params p{0, kind, exclusive, reverse, 0};
  return graph::operation({TUTTI_OPERATOR_SCAN, p}, result, x.shape(), {x}, op);
}

}  // namespace op
}  // namespace tutti
