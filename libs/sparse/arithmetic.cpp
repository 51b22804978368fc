// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations and sums. Two sparse operands are converted to canonical order and merged
// by binary searches in each other's positions, so that ordered operands are not sorted.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/pattern.hpp"
#include "tutti/indexing.hpp"
#include "tutti/sorting.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

placed canonical_rows(const matrix& a) {
  const placed rows = compressed_along(a, true);
  return canonical_of(matrix(rows.places, true, rows.values));
}

void check_same(const matrix& a, const matrix& b, const char* op) {
  const tutti::shape of_a = checked(a, op).shape(), of_b = checked(b, op).shape();
  if (of_a != of_b) base::fail<shape_error>("{}: shapes differ: {} and {}", op, of_a, of_b);
}

// Both in their common dtype, on one device.
struct operand_pair {
  placed a, b;
};
operand_pair operands_of(const matrix& a, const matrix& b, const char* op) {
  check_same(a, b, op);
  operand_pair pair{canonical_rows(a), canonical_rows(b)};
  const dtype type = common_dtype(pair.a.values, pair.b.values, op);
  pair.a.values = op::cast(pair.a.values, type, op);
  pair.b.values = op::cast(pair.b.values, type, op);
  array both[] = {pair.a.values, pair.b.values};
  graph::common_device(both, op);
  return pair;
}

matrix as_matrix(const placed& a) { return {a.places, true, a.values}; }

matrix merged(const operand_pair& pair) {
  const auto& [a, b] = pair;
  const std::int64_t count_a = a.places->count(), count_b = b.places->count();
  if (count_b == 0) return as_matrix(a);
  if (count_a == 0) return as_matrix(b);
  const auto numbers = [&](std::int64_t n) { return graph::iota({n}, a.places->device()); };
  const array of_a = a.places->keys(), of_b = b.places->keys();
  const array places = concatenate({numbers(count_a) + searchsorted(of_b, of_a, side::left),
                                    numbers(count_b) + searchsorted(of_a, of_b, side::right)});
  const std::int64_t all = count_a + count_b;
  const array none = op::zeros_on({1, all, 1}, dtype::i64, a.places->device());
  const array order = reshape(
      op::scatter_into(none, reshape(numbers(all), {1, all, 1}), places, scatter_mode::set), {all});
  return as_matrix(coalesced(a.places->majors(), a.places->minors(), concatenate({of_a, of_b}),
                             order, concatenate({a.values, b.values})));
}

// Indices in both of the positions that both have.
struct common_places {
  array of_a, of_b;
};
common_places common_of(const pattern& a, const pattern& b) {
  const array none = op::zeros_on({0}, dtype::i64, a.device());
  if (a.count() == 0 || b.count() == 0) return {none, none};
  const array keys = a.keys(), table = b.keys();
  const array place = minimum(searchsorted(table, keys), b.count() - 1);
  const array of_a = nonzero(picked(table, place) == keys)[0];
  return {of_a, picked(place, of_a)};
}

// The element of b, which broadcasts to the matrix, at each of its positions.
array dense_at(const matrix& a, const array& b) {
  tutti::shape of_b = b.shape();
  while (of_b.rank() < 2) of_b.insert(0, 1);
  const auto index = [](const array& i) { return op::cast(i, dtype::i64, "multiply"); };
  const array row = of_b[0] == 1 ? index(a.row_indices()) * 0 : index(a.row_indices());
  const array column = of_b[1] == 1 ? index(a.column_indices()) * 0 : index(a.column_indices());
  return picked(reshape(b, {b.size()}), row * of_b[1] + column);
}

}  // namespace

matrix add(const matrix& a, const matrix& b) {
  return named("add", [&] { return merged(operands_of(a, b, "add")); });
}

matrix subtract(const matrix& a, const matrix& b) {
  return named("subtract", [&] {
    operand_pair pair = operands_of(a, b, "subtract");
    pair.b.values = -pair.b.values;
    return merged(pair);
  });
}

matrix multiply(const matrix& a, const matrix& b) {
  return named("multiply", [&]() -> matrix {
    const operand_pair pair = operands_of(a, b, "multiply");
    const common_places at = common_of(*pair.a.places, *pair.b.places);
    return {selected(*pair.a.places, at.of_a), true,
            picked(pair.a.values, at.of_a) * picked(pair.b.values, at.of_b)};
  });
}

matrix multiply(const matrix& a, const array& b) {
  return named("multiply", [&]() -> matrix {
    const tutti::shape extents = checked(a, "multiply").shape();
    const tutti::shape& of_b = op::extents_of(b, "multiply");
    if (of_b.rank() > 2 || broadcast_shapes(of_b, extents, "multiply") != extents)
      base::fail<shape_error>("multiply: {} does not broadcast to {}", of_b, extents);
    const dtype type = common_dtype(a.values(), b, "multiply");
    const array values = op::cast(a.values(), type, "multiply");
    const array dense = op::cast(b, type, "multiply");
    if (b.size() == 1) return a.with_values(values * reshape(dense, {1}));
    if (a.nnz() == 0) return a.with_values(values);
    return a.with_values(values * dense_at(a, dense));
  });
}

matrix masked(const matrix& a, const matrix& mask) {
  return named("masked", [&]() -> matrix {
    check_same(a, mask, "masked");
    const placed kept = canonical_rows(a), by = canonical_rows(mask);
    const array at = common_of(*kept.places, *by.places).of_a;
    return {selected(*kept.places, at), true, picked(kept.values, at)};
  });
}

array sum(const matrix& a, std::optional<integer> axis) {
  return named("sum", [&] {
    const tutti::shape extents = checked(a, "sum").shape();
    if (!axis) return tutti::sum(a.values());
    const int along = normalize_axis(*axis, 2, "sum");
    const array once = tutti::ones({extents[along]}, a.dtype(), a.device());
    return along == 1 ? matmul(a, once) : matmul(once, a);
  });
}

array diagonal(const matrix& a) {
  return named("diagonal", [&] {
    const std::int64_t n = std::min(checked(a, "diagonal").rows(), a.columns()), count = a.nnz();
    if (n == 0 || count == 0) return op::zeros_on({n}, a.dtype(), a.places()->device());
    const array row = a.row_indices(), is_on = row == a.column_indices();
    const array values = where(is_on, a.values(), 0), place = where(is_on, row, 0);
    return reshape(op::scatter_rows(reshape(values, {1, count, 1}), place, n), {n});
  });
}

}  // namespace tutti::sparse
