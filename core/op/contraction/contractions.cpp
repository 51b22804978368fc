// SPDX-License-Identifier: Apache-2.0
//
// Einstein summation and its special cases. A pair of operands becomes one batched matmul over
// views if the memory layout allows; products without a sum, and sums without a free axis, are
// fused multiplications.
#include "tutti/contractions.hpp"

#include <algorithm>

#include "base/named_errors.hpp"
#include "op/contraction/einsum_plan.hpp"
#include "op/operands.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

using op::label_list;
using op::label_set;

// An array whose axes have distinct names.
struct labelled {
  array values;
  label_list labels;
};

bool has(label_set set, int label) { return (set >> label & 1) != 0; }

int place_of(const labelled& x, int label) {
  return static_cast<int>(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
}

label_list chosen(const label_list& from, label_set set) {
  label_list out;
  for (int label : from)
    if (has(set, label)) out.push_back(label);
  return out;
}

label_list joined(label_list first, const label_list& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// x with its axes in the order of `labels`, extent 1 for missing ones.
array aligned(const labelled& x, const label_list& labels) {
  shape order;
  for (int label : labels)
    if (place_of(x, label) < static_cast<int>(x.labels.size())) order.push_back(place_of(x, label));
  array out = transpose(x.values, order);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (place_of(x, labels[i]) == static_cast<int>(x.labels.size()))
      out = expand_dims(out, static_cast<std::int64_t>(i));
  return out;
}

// Sums over every label outside `keep`; integers keep their dtype.
labelled summed(const labelled& x, label_set keep) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    if (!has(keep, x.labels[i])) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) return x;
  return {astype(sum(x.values, axes), x.values.dtype()), chosen(x.labels, keep)};
}

// One axis for each label: diagonals of repeated ones; without the axes that broadcast.
labelled with_unique_labels(labelled x, const op::contraction& c) {
  for (std::size_t i = 0; i < x.labels.size();) {
    const std::int64_t extent = x.values.dim(static_cast<std::int64_t>(i));
    if (extent == 1 && c.extents[static_cast<std::size_t>(x.labels[i])] != 1) {
      x.values = squeeze(x.values, static_cast<std::int64_t>(i));
      x.labels.erase(x.labels.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const auto again = std::find(x.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                 x.labels.end(), x.labels[i]);
    if (again == x.labels.end()) {
      ++i;
      continue;
    }
    const auto second = again - x.labels.begin();
    if (x.values.dim(second) != extent) {  // it is 1, and is removed
      x.values = squeeze(x.values, second);
      x.labels.erase(again);
      continue;
    }
    const int label = x.labels[i];
    x.values = diagonal(x.values, 0, static_cast<std::int64_t>(i), second);
    x.labels.erase(again);
    x.labels.erase(x.labels.begin() + static_cast<std::ptrdiff_t>(i));
    x.labels.push_back(label);
  }
  return x;
}

// The number of elements to copy to show x as three axes, each a group of labels in this order.
std::int64_t copies(const labelled& x, const label_list (&groups)[3]) {
  const graph::layout where = graph::layout_of(*x.values.node());
  const shape& extents = x.values.shape();
  std::int64_t inner_strides[3] = {1, 1, 1};
  std::int64_t sizes[3] = {1, 1, 1};
  for (int g = 0; g < 3; ++g) {
    std::int64_t expected = -1;
    for (std::size_t i = groups[g].size(); i-- > 0;) {
      const int axis = place_of(x, groups[g][i]);
      if (extents[axis] == 1) continue;
      if (expected >= 0 && where.strides[axis] != expected) return x.values.size();
      if (expected < 0) inner_strides[g] = where.strides[axis];
      expected = where.strides[axis] * extents[axis];
      if (where.strides[axis] < 0) return x.values.size();
      sizes[g] *= extents[axis];
    }
  }
  // matmul wants an axis of stride 1.
  const bool has_unit = inner_strides[1] == 1 || inner_strides[2] == 1 || sizes[1] * sizes[2] == 1;
  return has_unit ? 0 : x.values.size();
}

array grouped(const labelled& x, const label_list (&groups)[3]) {
  shape to;
  for (const label_list& group : groups) {
    std::int64_t size = 1;
    for (int label : group) size *= x.values.dim(place_of(x, label));
    to.push_back(size);
  }
  return reshape(aligned(x, joined(joined(groups[0], groups[1]), groups[2])), to);
}

// The labels shared by two operands, and those of only one.
struct pairing {
  label_set batch, summed, left, right;
};

labelled batched_matmul(const labelled& x, const labelled& y, const pairing& p) {
  const label_list left = chosen(x.labels, p.left);
  const label_list right = chosen(y.labels, p.right);
  label_list batch, inner;
  std::int64_t fewest = -1;
  // Groups in the order of one of the operands, whichever requires less copying.
  for (const labelled* batch_from : {&x, &y}) {
    for (const labelled* inner_from : {&x, &y}) {
      const label_list b = chosen(batch_from->labels, p.batch);
      const label_list k = chosen(inner_from->labels, p.summed);
      const std::int64_t cost = copies(x, {b, left, k}) + copies(y, {b, k, right});
      if (fewest >= 0 && cost >= fewest) continue;
      fewest = cost;
      batch = b;
      inner = k;
    }
  }
  array product = matmul(grouped(x, {batch, left, inner}), grouped(y, {batch, inner, right}));
  const label_list labels = joined(joined(batch, left), right);
  shape to;
  for (int label : labels) {
    const labelled& owner = has(p.right, label) ? y : x;
    to.push_back(owner.values.dim(place_of(owner, label)));
  }
  return {reshape(product, to), labels};
}

labelled contract_pair(const labelled& x, const labelled& y, label_set keep) {
  const label_set in_x = op::labels_of(x.labels);
  const label_set in_y = op::labels_of(y.labels);
  const pairing p{in_x & in_y & keep, in_x & in_y & ~keep, in_x & ~in_y, in_y & ~in_x};
  if (p.summed != 0 && (p.left | p.right) != 0) return batched_matmul(x, y, p);
  const label_list all = joined(x.labels, chosen(y.labels, p.right));
  return summed({aligned(x, all) * aligned(y, all), all}, keep);
}

// The order of contractions refuses a result with too many axes.
void require_result(const op::contraction& c, dtype type, std::string_view op) {
  if (c.output.size() > static_cast<std::size_t>(max_rank)) return;
  shape to;
  for (int label : c.output) to.push_back(c.extents[static_cast<std::size_t>(label)]);
  graph::checked_elements(to, type, op);
}

array contract(const op::contraction& c, array_list given, std::string_view op) {
  std::vector<array> operands(given.begin(), given.end());
  const dtype type = op::promote_operands(operands, op::row_kind::NUMERIC, op).type;
  graph::common_device(operands, op);
  require_result(c, type, op);
  std::vector<labelled> terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    labelled x = with_unique_labels({operands[i], c.inputs[i]}, c);
    x.values = op::cast(x.values, graph::compute_dtype(type), op);
    terms.push_back(std::move(x));
  }
  // Labels outside `except` that the output or another operand still needs.
  const auto needed = [&](std::initializer_list<std::size_t> except) {
    label_set out = op::labels_of(c.output);
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (std::find(except.begin(), except.end(), i) == except.end())
        out |= op::labels_of(terms[i].labels);
    return out;
  };
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = summed(terms[i], needed({i}));
  op::contraction reduced = c;
  for (std::size_t i = 0; i < terms.size(); ++i) reduced.inputs[i] = terms[i].labels;
  for (const auto& [first, second] : op::contraction_order(reduced)) {
    const auto i = static_cast<std::size_t>(first);
    const auto j = static_cast<std::size_t>(second);
    labelled result = contract_pair(terms[i], terms[j], needed({i, j}));
    terms[i] = terms[j] = {};
    terms.push_back(std::move(result));
  }
  return op::cast(aligned(terms.back(), c.output), type, op);
}

void require_axis(const array& a, const array& b, integer axis, std::string_view op) {
  const std::int64_t in_a = a.dim(normalize_axis(axis, a.ndim(), op));
  const std::int64_t in_b = b.dim(normalize_axis(axis, b.ndim(), op));
  if (in_a != in_b)
    base::fail<shape_error>("{}: axis {} differs: {} and {}", op, axis, a.shape(), b.shape());
}

// a and b in their common dtype, with `axis` last, broadcast against each other.
std::vector<array> vectors_last(const array& a, const array& b, integer axis, std::string_view op) {
  array both[] = {a, b};
  const dtype type = op::promote_operands(both, op::row_kind::NUMERIC, op).type;
  graph::common_device(both, op);
  require_axis(a, b, axis, op);
  for (array& x : both) x = moveaxis(op::cast(x, type, op), axis, -1);
  return {both[0], both[1]};
}

}  // namespace

array einsum(std::string_view subscripts, array_list operands) {
  return named("einsum", [&] {
    std::vector<shape> shapes;
    for (const array& a : operands) shapes.push_back(graph::get(a, "einsum").extents);
    return contract(op::parse_einsum(subscripts, shapes), operands, "einsum");
  });
}

array tensordot(const array& a, const array& b, const shape& axes_a, const shape& axes_b) {
  return named("tensordot", [&] {
    const shape& in_a = graph::get(a, "tensordot").extents;
    const shape& in_b = graph::get(b, "tensordot").extents;
    const auto text = [&] {
      return "axes " + axes_a.str() + " of " + in_a.str() + " and " + axes_b.str() + " of " +
             in_b.str();
    };
    if (axes_a.rank() != axes_b.rank())
      base::fail<value_error>("tensordot: {} differ in number", text());
    op::contraction c;
    c.inputs = {label_list(static_cast<std::size_t>(in_a.rank())),
                label_list(static_cast<std::size_t>(in_b.rank()), -1)};
    label_set paired = 0;
    for (int i = 0; i < in_a.rank(); ++i) c.inputs[0][static_cast<std::size_t>(i)] = i;
    for (int i = 0; i < axes_a.rank(); ++i) {
      const int x = normalize_axis(axes_a[i], in_a.rank(), "tensordot");
      const int y = normalize_axis(axes_b[i], in_b.rank(), "tensordot");
      int& label = c.inputs[1][static_cast<std::size_t>(y)];
      if (has(paired, x) || label >= 0)
        base::fail<value_error>("tensordot: {} repeat an axis", text());
      if (in_a[x] != in_b[y]) base::fail<shape_error>("tensordot: {} differ in extent", text());
      paired |= label_set{1} << x;
      label = x;
    }
    for (std::size_t i = 0; i < c.inputs[1].size(); ++i)
      if (c.inputs[1][i] < 0) c.inputs[1][i] = in_a.rank() + static_cast<int>(i);
    for (int label : joined(c.inputs[0], c.inputs[1]))
      if (!has(paired, label)) c.output.push_back(label);
    if (c.output.size() > static_cast<std::size_t>(max_rank))
      base::fail<shape_error>("tensordot: {} leave more than {} dimensions", text(), max_rank);
    for (int i = 0; i < in_a.rank(); ++i) c.extents[static_cast<std::size_t>(i)] = in_a[i];
    for (int i = 0; i < in_b.rank(); ++i)
      c.extents[static_cast<std::size_t>(c.inputs[1][static_cast<std::size_t>(i)])] = in_b[i];
    return contract(c, {a, b}, "tensordot");
  });
}

array tensordot(const array& a, const array& b, int count) {
  return named("tensordot", [&] {
    const int rank = graph::get(a, "tensordot").extents.rank();
    if (count < 0 || count > rank || count > graph::get(b, "tensordot").extents.rank())
      base::fail<value_error>("tensordot: cannot sum over {} axes of {} and {}", count, a.shape(),
                              b.shape());
    shape axes_a, axes_b;
    for (int i = 0; i < count; ++i) {
      axes_a.push_back(rank - count + i);
      axes_b.push_back(i);
    }
    return tensordot(a, b, axes_a, axes_b);
  });
}

array outer(const array& a, const array& b) {
  return named("outer", [&] {
    const dtype type = op::promote_operands({a, b}, op::row_kind::NUMERIC, "outer").type;
    graph::checked_elements({a.size(), b.size()}, type, "outer");
    return reshape(a, {-1, 1}) * reshape(b, {1, -1});
  });
}

array inner(const array& a, const array& b) {
  return named("inner", [&] {
    const int rank_a = graph::get(a, "inner").extents.rank();
    const int rank_b = graph::get(b, "inner").extents.rank();
    if (rank_a == 0 || rank_b == 0) return a * b;
    require_axis(a, b, -1, "inner");
    return tensordot(a, b, shape{-1}, shape{-1});
  });
}

array kron(const array& a, const array& b) {
  return named("kron", [&] {
    shape left = graph::get(a, "kron").extents;
    shape right = graph::get(b, "kron").extents;
    while (left.rank() < right.rank()) left.insert(0, 1);
    while (right.rank() < left.rank()) right.insert(0, 1);
    shape to = left;
    for (int i = 0; i < to.rank(); ++i) to[i] = graph::extent_product(to[i], right[i], "kron");
    graph::checked_elements(to, op::promote_operands({a, b}, op::row_kind::NUMERIC, "kron").type,
                            "kron");
    if (2 * to.rank() > max_rank) {
      array repeated = reshape(a, left);
      for (int i = 0; i < to.rank(); ++i)
        if (right[i] != 1) repeated = repeat(repeated, right[i], i);
      return repeated * tile(reshape(b, right), left);
    }
    shape spread_left, spread_right;
    for (int i = 0; i < to.rank(); ++i) {
      for (std::int64_t extent : {left[i], std::int64_t{1}}) spread_left.push_back(extent);
      for (std::int64_t extent : {std::int64_t{1}, right[i]}) spread_right.push_back(extent);
    }
    return reshape(reshape(a, spread_left) * reshape(b, spread_right), to);
  });
}

array vecdot(const array& a, const array& b, integer axis) {
  return named("vecdot", [&] {
    const std::vector<array> both = vectors_last(a, b, axis, "vecdot");
    return astype(sum(conj(both[0]) * both[1], -1), both[0].dtype());
  });
}

array cross(const array& a, const array& b, integer axis) {
  return named("cross", [&] {
    const std::vector<array> both = vectors_last(a, b, axis, "cross");
    if (both[0].dim(-1) != 3)
      base::fail<shape_error>("cross: needs vectors of 3 along axis {}, got {} and {}", axis,
                              a.shape(), b.shape());
    const std::vector<array> x = unstack(both[0], -1);
    const std::vector<array> y = unstack(both[1], -1);
    const array parts[] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2],
                           x[0] * y[1] - x[1] * y[0]};
    const std::int64_t from_front = axis + parts[0].ndim() + 1 - a.ndim();
    return moveaxis(stack(parts, -1), -1, axis < 0 ? std::int64_t{axis} : from_front);
  });
}

array trace(const array& a, std::int64_t offset, integer axis1, integer axis2,
            std::optional<dtype> type) {
  return named("trace", [&] {
    op::accumulator_type(a, type, "trace");
    return sum(diagonal(a, offset, axis1, axis2), -1, type);
  });
}

}  // namespace tutti
