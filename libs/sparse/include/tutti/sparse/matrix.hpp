// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices: values at the places of a pattern, which stays as it is. Names and meanings are
// those of SciPy's `sparse`, as far as there is such a function.
//
// Values are f32, f64, c64 or c128; bool and integers become f32, and f16 and bf16 throw
// dtype_error. Indices are i32 where rows, columns and elements are below 2^31 in number, else i64;
// rows times columns fit 63 bits. What is not stored is 0 and takes part in nothing: an infinity in
// a dense operand stays where elements meet it.
//
// Results whose number of elements depends on values or patterns (making from coordinates or dense
// arrays, sums and products of sparse matrices, selections) evaluate what they need to know; so do
// checks of indices that an application brings. All else is lazy. What is found out about a
// pattern, as how it is ordered by columns, is kept with it for all matrices that share it.
//
// Functions are differentiable with respect to values and dense operands; the pattern is constant:
// grad([&](const array& v) { return sum(sparse::matmul(a.with_values(v), x)); })(a.values()).
// Shapes that do not fit throw shape_error, operands on different devices device_error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::sparse {

enum class format : std::uint8_t {
  csr,  ///< compressed rows: where each row starts, then columns and values
  csc,  ///< compressed columns
  coo   ///< coordinates: row and column of each value, in any order
};

class TUTTI_API pattern;  // of the library's own

class TUTTI_API matrix {
 public:
  /// An invalid handle: every use but assignment and valid() throws value_error.
  matrix() = default;

  bool valid() const { return static_cast<bool>(pattern_); }
  sparse::format format() const;
  tutti::shape shape() const;  ///< [rows, columns]
  std::int64_t rows() const;
  std::int64_t columns() const;
  std::int64_t nnz() const;  ///< elements that are stored, zeros among them
  tutti::dtype dtype() const;
  tutti::device device() const;
  /// Whether elements stand in the order of rows, then columns (of csc: of columns, then rows), and
  /// each place once.
  bool is_canonical() const;

  const array& values() const;  ///< [nnz]
  /// Where each row (of csc: column) starts among the elements, and their number: [rows + 1].
  /// Throws value_error for coordinates.
  array starts() const;
  array row_indices() const;     ///< [nnz], of each element
  array column_indices() const;  ///< [nnz]

  /// The same places with other values [nnz]. Throws shape_error for another shape.
  matrix with_values(const array& values) const;
  matrix astype(tutti::dtype type) const;
  matrix to(const tutti::device& on) const;
  /// The transpose, by no work: of csr it is csc, of coordinates coordinates.
  matrix T() const;

  /// For the library itself.
  matrix(std::shared_ptr<const sparse::pattern> places, bool by_rows, array values);
  const std::shared_ptr<const sparse::pattern>& places() const { return pattern_; }
  bool by_rows() const { return by_rows_; }

 private:
  std::shared_ptr<const sparse::pattern> pattern_;
  bool by_rows_ = true;  // whether the pattern's major axis is that of rows
  array values_;
};

// ---- making. `extents` are [rows, columns].

/// Compressed rows: row i has the elements from starts[i] up to starts[i + 1] [rows + 1], whose
/// columns and values [nnz] may be in any order and name a place several times, which adds up.
/// Throws index_error for a column outside [0, columns), value_error for starts that do not ascend
/// from 0 to nnz, dtype_error for indices that are no integers.
TUTTI_API matrix csr(const shape& extents, const array& starts, const array& columns,
                     const array& values);
/// The same of columns.
TUTTI_API matrix csc(const shape& extents, const array& starts, const array& rows,
                     const array& values);
/// Coordinates [nnz], kept as they are. Throws index_error for one that is outside.
TUTTI_API matrix coo(const shape& extents, const array& rows, const array& columns,
                     const array& values);
/// Coordinates in canonical order, with values of one place added up.
TUTTI_API matrix from_triplets(const shape& extents, const array& rows, const array& columns,
                               const array& values, format to = format::csr);
/// The elements of a [rows, columns] that are not 0 (NaN is not).
TUTTI_API matrix from_dense(const array& a, format to = format::csr);
TUTTI_API array to_dense(const matrix& a);
/// Ones on the diagonal.
TUTTI_API matrix eye(std::int64_t n, dtype type = dtype::f32, const device& on = default_device());

// ---- formats and order

/// In another format; a itself where it has that already. Rows that are in order are not sorted.
TUTTI_API matrix convert(const matrix& a, format to);
TUTTI_API matrix transpose(const matrix& a);
/// Each place once, in order: values of one place are added up in the order of the elements.
TUTTI_API matrix canonical(const matrix& a);
/// Without elements that are 0.
TUTTI_API matrix eliminate_zeros(const matrix& a);
/// Rows [begin, end), as csr. Throws index_error unless 0 <= begin <= end <= rows.
TUTTI_API matrix slice_rows(const matrix& a, integer begin, integer end);
/// Rows at indices [n], each in [-rows, rows), as csr. Throws index_error.
TUTTI_API matrix take_rows(const matrix& a, const array& indices);

// ---- arithmetic. Results are csr, but for those of one matrix, which have its format.

/// a times b [columns] or [columns, n]: dense.
TUTTI_API array matmul(const matrix& a, const array& b);
/// a [rows] or [n, rows] times b: dense.
TUTTI_API array matmul(const array& a, const matrix& b);
/// Sparse: places that no product reaches are not stored. On CPUs row by row on the host, evaluated
/// at the call; elsewhere, and where it is differentiated, it takes memory for all products.
TUTTI_API matrix matmul(const matrix& a, const matrix& b);
/// a b at the places of `places`, whose values do not count: a [rows, k], b [k, columns].
TUTTI_API matrix sddmm(const matrix& places, const array& a, const array& b);
TUTTI_API matrix add(const matrix& a, const matrix& b);
TUTTI_API matrix subtract(const matrix& a, const matrix& b);
/// Element by element: at the places of both; and of a, with what b, which broadcasts to it, has
/// there.
TUTTI_API matrix multiply(const matrix& a, const matrix& b);
TUTTI_API matrix multiply(const matrix& a, const array& b);
/// a at the places that `mask` has, too, whose values do not count.
TUTTI_API matrix masked(const matrix& a, const matrix& mask);
/// Over all elements, along axis 0 to [columns], along axis 1 to [rows]: dense.
TUTTI_API array sum(const matrix& a, std::optional<integer> axis = {});
/// [min(rows, columns)], dense.
TUTTI_API array diagonal(const matrix& a);

}  // namespace tutti::sparse
