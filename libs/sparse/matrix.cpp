// SPDX-License-Identifier: Apache-2.0
//
// The sparse matrix as a handle, and its construction from its parts.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/pattern.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

const pattern& places_of(const std::shared_ptr<const pattern>& given) {
  if (!given) throw value_error("sparse: a matrix that was not made");
  return *given;
}

struct counts {
  std::int64_t rows, columns;
};

// As the public functions are given them.
counts checked_extents(const tutti::shape& extents, const char* op) {
  if (extents.rank() != 2)
    base::fail<shape_error>("{}: extents {}, must be rows and columns", op, extents);
  graph::checked_elements(extents, dtype::u8, op);
  return {extents[0], extents[1]};
}

array as_values(const array& given, const char* op) {
  const dtype type = op::floating_type_of(given, op);
  if (type == dtype::f16 || type == dtype::bf16)
    base::fail<dtype_error>("{}: {} is not supported; convert to f32", op, type);
  const array values = op::cast(given, type, op);
  if (values.ndim() != 1)
    base::fail<shape_error>("{}: values of shape {}, must be 1-d", op, given.shape());
  return values;
}

// i64 or i32, 1-d with `count` of them.
array as_indices(const array& given, std::int64_t count, const char* what, const char* op) {
  const array index = op::index_values(given, op);
  if (index.ndim() != 1 || index.size() != count)
    base::fail<shape_error>("{}: {} of shape {}, must be [{}]", op, what, given.shape(), count);
  return index;
}

void check_range(const array& index, std::int64_t extent, const char* what,
                 const tutti::shape& extents, const char* op) {
  if (index.size() == 0) return;
  const auto [low, high] = op::exact_range(index, index);
  if (low < 0 || high >= extent)
    base::fail<index_error>("{}: {} {} is out of range for a matrix {}", op, what,
                            low < 0 ? low : high, extents);
}

void check_starts(const array& starts, std::int64_t count, const char* op) {
  const std::int64_t n = starts.size();
  const array wide = op::cast(starts, dtype::i64, op);
  const array first = wide({slice{0, 1, 1}}), last = wide({slice{n - 1, n, 1}});
  const array least =
      n > 1 ? min(wide({slice{1, n, 1}}) - wide({slice{0, n - 1, 1}})) : first - first;
  eval({first, last, least});
  if (first.item<std::int64_t>() == 0 && last.item<std::int64_t>() == count &&
      least.item<std::int64_t>() >= 0)
    return;
  base::fail<value_error>("{}: starts from {} to {}, least step {}; must ascend from 0 to {}", op,
                          first.item<std::int64_t>(), last.item<std::int64_t>(),
                          least.item<std::int64_t>(), count);
}

bool ascends(const array& keys) {
  const std::int64_t n = keys.size();
  if (n < 2) return true;
  return tutti::all(keys({slice{1, n, 1}}) > keys({slice{0, n - 1, 1}})).item<bool>();
}

matrix of_starts(const tutti::shape& extents, const array& given_starts, const array& given_minor,
                 const array& given_values, bool by_rows, const char* op) {
  const counts n = checked_extents(extents, op);
  const std::int64_t majors = by_rows ? n.rows : n.columns, minors = by_rows ? n.columns : n.rows;
  const char* what = by_rows ? "column" : "row";
  array parts[] = {as_values(given_values, op), given_starts, given_minor};
  const std::int64_t count = parts[0].size();
  parts[1] = as_indices(given_starts, graph::extent_sum(majors, 1, op), "starts", op);
  parts[2] = as_indices(given_minor, count, by_rows ? "columns" : "rows", op);
  graph::common_device(parts, op);
  check_starts(parts[1], count, op);
  check_range(parts[2], minors, what, extents, op);
  // Their order is determined by the keys of a pattern.
  const auto plain = pattern::of_starts(majors, minors, parts[1], parts[2], false);
  if (plain->is_canonical() || !ascends(plain->keys())) return {plain, by_rows, parts[0]};
  return {pattern::of_starts(majors, minors, plain->starts(), plain->minor(), true), by_rows,
          parts[0]};
}

std::shared_ptr<const pattern> coordinates(const tutti::shape& extents, const array& rows,
                                           const array& columns, array& values, const char* op) {
  const counts n = checked_extents(extents, op);
  array parts[] = {as_values(values, op), rows, columns};
  const std::int64_t count = parts[0].size();
  parts[1] = as_indices(rows, count, "rows", op);
  parts[2] = as_indices(columns, count, "columns", op);
  graph::common_device(parts, op);
  check_range(parts[1], n.rows, "row", extents, op);
  check_range(parts[2], n.columns, "column", extents, op);
  values = parts[0];
  const auto plain = pattern::of_coordinates(n.rows, n.columns, parts[1], parts[2], false);
  if (plain->is_canonical() || !ascends(plain->keys())) return plain;
  return pattern::of_coordinates(n.rows, n.columns, plain->major(), plain->minor(), true);
}

}  // namespace

const matrix& checked(const matrix& a, std::string_view op) {
  if (!a.valid()) base::fail<value_error>("{}: a matrix that was not made", op);
  return a;
}

matrix::matrix(std::shared_ptr<const sparse::pattern> places, bool by_rows, array values)
    : pattern_(std::move(places)), by_rows_(by_rows), values_(std::move(values)) {}

format matrix::format() const {
  if (!places_of(pattern_).is_compressed()) return format::coo;
  return by_rows_ ? format::csr : format::csc;
}
std::int64_t matrix::rows() const {
  const pattern& p = places_of(pattern_);
  return by_rows_ ? p.majors() : p.minors();
}
std::int64_t matrix::columns() const {
  const pattern& p = places_of(pattern_);
  return by_rows_ ? p.minors() : p.majors();
}
tutti::shape matrix::shape() const { return {rows(), columns()}; }
std::int64_t matrix::nnz() const { return places_of(pattern_).count(); }
tutti::dtype matrix::dtype() const { return values().dtype(); }
tutti::device matrix::device() const { return values().device(); }

bool matrix::is_canonical() const {
  const pattern& p = places_of(pattern_);
  return p.is_canonical() && (p.is_compressed() || by_rows_ || p.count() == 0);
}

const array& matrix::values() const {
  places_of(pattern_);
  return values_;
}
array matrix::starts() const {
  const pattern& p = places_of(pattern_);
  if (!p.is_compressed()) throw value_error("sparse: coordinates have no starts; convert() them");
  return p.starts();
}
array matrix::row_indices() const {
  const pattern& p = places_of(pattern_);
  return by_rows_ ? p.major() : p.minor();
}
array matrix::column_indices() const {
  const pattern& p = places_of(pattern_);
  return by_rows_ ? p.minor() : p.major();
}

matrix matrix::with_values(const array& given) const {
  array parts[] = {as_values(given, "with_values"), places_of(pattern_).minor()};
  if (parts[0].size() != nnz())
    base::fail<shape_error>("with_values: values of shape {} for {} elements", given.shape(),
                            nnz());
  graph::common_device(parts, "with_values");
  return {pattern_, by_rows_, parts[0]};
}

matrix matrix::astype(tutti::dtype type) const {
  if (type < tutti::dtype::f32)
    base::fail<dtype_error>("astype: sparse values are f32, f64, c64 or c128, not {}", type);
  return with_values(values().astype(type));
}

matrix matrix::to(const tutti::device& on) const {
  const pattern& p = places_of(pattern_);
  const array minor = p.minor().to(on);
  const auto moved =
      p.is_compressed()
          ? pattern::of_starts(p.majors(), p.minors(), p.starts().to(on), minor, p.is_canonical())
          : pattern::of_coordinates(p.majors(), p.minors(), p.major().to(on), minor,
                                    p.is_canonical());
  return {moved, by_rows_, values_.to(on)};
}

matrix matrix::T() const {
  places_of(pattern_);
  return {pattern_, !by_rows_, values_};
}

matrix csr(const tutti::shape& extents, const array& starts, const array& columns,
           const array& values) {
  return named("csr", [&] { return of_starts(extents, starts, columns, values, true, "csr"); });
}

matrix csc(const tutti::shape& extents, const array& starts, const array& rows,
           const array& values) {
  return named("csc", [&] { return of_starts(extents, starts, rows, values, false, "csc"); });
}

matrix coo(const tutti::shape& extents, const array& rows, const array& columns,
           const array& values) {
  return named("coo", [&]() -> matrix {
    array kept = values;
    auto places = coordinates(extents, rows, columns, kept, "coo");
    return {std::move(places), true, kept};
  });
}

matrix from_triplets(const tutti::shape& extents, const array& rows, const array& columns,
                     const array& values, format to) {
  return named("from_triplets", [&] {
    array kept = values;
    auto places = coordinates(extents, rows, columns, kept, "from_triplets");
    const placed found = canonical_of(matrix(std::move(places), true, kept));
    return convert(matrix(found.places, true, found.values), to);
  });
}

}  // namespace tutti::sparse
