// SPDX-License-Identifier: Apache-2.0
//
// Conversions between formats, to and from dense arrays, and parts of sparse matrices.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/pattern.hpp"
#include "tutti/sorting.hpp"

namespace tutti::sparse {

using tutti::base::named;

std::shared_ptr<const pattern> selected(const pattern& p, const array& positions) {
  const array major = picked(p.major(), positions), minor = picked(p.minor(), positions);
  if (!p.is_compressed())
    return pattern::of_coordinates(p.majors(), p.minors(), major, minor, p.is_canonical());
  return pattern::of_starts(p.majors(), p.minors(), starts_of(major, p.majors()), minor,
                            p.is_canonical());
}

spread spread_rows(const array& begins, const array& lengths) {
  const std::int64_t n = lengths.size();
  const auto device = op::device_of(lengths);
  const array none = op::zeros_on({0}, dtype::i64, device);
  if (n == 0) return {none, none};
  const array starts = cumulative_sum(lengths, 0, dtype::i64, true);
  const auto total = starts({slice{n, n + 1, 1}}).item<std::int64_t>();
  if (total == 0) return {none, none};
  const auto places =
      pattern::of_starts(n, 1, starts, op::zeros_on({total}, dtype::i32, device), false);
  const array row = op::cast(places->major(), dtype::i64, "take_rows");
  const array within = reshape(graph::iota({total}, device), {total}) - picked(starts, row);
  return {row, picked(begins, row) + within};
}

matrix convert(const matrix& a, format to) {
  return named("convert", [&]() -> matrix {
    base::require_known("convert", "format", to, format::coo);
    const format from = checked(a, "convert").format();
    if (from == to) return a;
    if (to != format::coo) {
      const placed found = compressed_along(a, to == format::csr);
      return {found.places, to == format::csr, found.values};
    }
    // Compressed columns keep their order, which is not that of rows.
    const pattern& p = *a.places();
    return {pattern::of_coordinates(p.majors(), p.minors(), p.major(), p.minor(), p.is_canonical()),
            a.by_rows(), a.values()};
  });
}

matrix transpose(const matrix& a) { return checked(a, "transpose").T(); }

matrix canonical(const matrix& a) {
  return named("canonical", [&]() -> matrix {
    if (checked(a, "canonical").is_canonical()) return a;
    const format kept = a.format();
    // Coordinates in column order are converted to row order.
    matrix rows = a;
    if (kept == format::coo && !a.by_rows())
      rows = {pattern::of_coordinates(a.rows(), a.columns(), a.row_indices(), a.column_indices(),
                                      false),
              true, a.values()};
    const placed found = canonical_of(rows);
    return convert(matrix(found.places, rows.by_rows(), found.values), kept);
  });
}

matrix eliminate_zeros(const matrix& a) {
  return named("eliminate_zeros", [&] {
    if (checked(a, "eliminate_zeros").nnz() == 0) return a;
    const array positions = nonzero(stop_gradient(a.values()))[0];
    if (positions.size() == a.nnz()) return a;
    return matrix(selected(*a.places(), positions), a.by_rows(), picked(a.values(), positions));
  });
}

matrix from_dense(const array& a, format to) {
  return named("from_dense", [&] {
    const tutti::shape& extents = op::extents_of(a, "from_dense");
    if (extents.rank() != 2) base::fail<shape_error>("from_dense: {} is no matrix", extents);
    const array dense = op::cast(a, op::floating_type_of(a, "from_dense"), "from_dense");
    const std::vector<array> at = nonzero(stop_gradient(dense));
    const array flat = at[0] * extents[1] + at[1];
    const array values = picked(reshape(dense, {dense.size()}), flat);
    const auto places = pattern::of_coordinates(extents[0], extents[1], at[0], at[1], true);
    const matrix found =
        matrix(places, true, op::zeros_on({places->count()}, dtype::f32, op::device_of(dense)))
            .with_values(values);
    return convert(found, to);
  });
}

array to_dense(const matrix& a) {
  return named("to_dense", [&] {
    const tutti::shape extents = checked(a, "to_dense").shape();
    const auto device = a.places()->device();
    const std::int64_t all = graph::checked_elements(extents, a.dtype(), "to_dense");
    if (all == 0 || a.nnz() == 0) return op::zeros_on(extents, a.dtype(), device, "to_dense");
    const auto wide = [](const array& index) { return op::cast(index, dtype::i64, "to_dense"); };
    const array place = wide(a.row_indices()) * extents[1] + wide(a.column_indices());
    return reshape(op::scatter_rows(reshape(a.values(), {1, a.nnz(), 1}), place, all), extents);
  });
}

matrix eye(std::int64_t n, dtype type, const device& on) {
  return named("eye", [&] {
    if (n < 0) base::fail<value_error>("eye: {} rows", n);
    graph::checked_elements({n, n}, dtype::u8, "eye");
    graph::checked_elements({n + 1}, dtype::i64, "eye");
    const array index = arange(n + 1, dtype::i64, on);
    const auto places = pattern::of_starts(n, n, index, index({slice{0, n, 1}}), true);
    return matrix(places, true, ones({n}, dtype::f32, on)).with_values(ones({n}, type, on));
  });
}

matrix slice_rows(const matrix& a, integer begin, integer end) {
  return named("slice_rows", [&]() -> matrix {
    const std::int64_t first = begin, last = end, rows = checked(a, "slice_rows").rows();
    if (first < 0 || first > last || last > rows)
      base::fail<index_error>("slice_rows: rows [{}, {}) of {}", first, last, a.shape());
    const placed all = compressed_along(a, true);
    const array starts = all.places->starts();
    const array from = starts({slice{first, first + 1, 1}}),
                to = starts({slice{last, last + 1, 1}});
    eval({from, to});
    const slice kept{from.item<std::int64_t>(), to.item<std::int64_t>(), 1};
    const array rest = op::cast(starts({slice{first, last + 1, 1}}), dtype::i64, "slice_rows");
    return {pattern::of_starts(last - first, a.columns(), rest - from.item<std::int64_t>(),
                               all.places->minor()({kept}), all.places->is_canonical()),
            true, all.values({kept})};
  });
}

matrix take_rows(const matrix& a, const array& indices) {
  return named("take_rows", [&]() -> matrix {
    const tutti::shape extents = checked(a, "take_rows").shape();
    if (op::extents_of(indices, "take_rows").rank() != 1)
      base::fail<shape_error>("take_rows: indices of shape {}, must be 1-d", indices.shape());
    const std::int64_t n = indices.size();
    graph::checked_elements({n, extents[1]}, dtype::u8, "take_rows");
    const array index =
        op::cast(op::checked_indices(graph::detach(indices), extents[0], 0, extents, "take_rows"),
                 dtype::i64, "take_rows");
    const placed all = compressed_along(a, true);
    const array starts = op::cast(all.places->starts(), dtype::i64, "take_rows");
    const array begins = picked(starts, index);
    const array lengths = n == 0 ? begins : picked(starts, index + 1) - begins;
    const spread found = spread_rows(begins, lengths);
    return {
        pattern::of_starts(n, extents[1], starts_of(found.row, n),
                           picked(all.places->minor(), found.position), all.places->is_canonical()),
        true, picked(all.values, found.position)};
  });
}

}  // namespace tutti::sparse
