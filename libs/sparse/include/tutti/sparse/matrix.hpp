// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices: values at the positions of a pattern, which does not change. Names and meanings
// are those of SciPy's `sparse`, if it has the function.
//
// Values are f32, f64, c64 or c128; bool and integers become f32, and f16 and bf16 throw
// dtype_error. Indices are i32 if the numbers of rows, columns and elements are below 2^31,
// otherwise i64; rows times columns must fit into 63 bits. Elements that are not stored are 0 and
// are skipped: an infinity in a dense operand only affects results for which an element is stored.
//
// Functions whose number of result elements depends on values or patterns (construction from
// coordinates or dense arrays, sums and products of sparse matrices, selections) evaluate what they
// need; so do checks of given indices. Everything else is lazy. Derived data of a pattern, such as
// its order by columns, is shared by all matrices with that pattern.
//
// Functions are differentiable with respect to values and dense operands; the pattern is constant:
// grad([&](const array& v) { return sum(sparse::matmul(a.with_values(v), x)); })(a.values()).
// Shapes that do not match throw shape_error, operands on different devices device_error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::sparse {

enum class format : std::uint8_t {
  csr,  ///< compressed rows: start of each row, then columns and values
  csc,  ///< compressed columns
  coo   ///< coordinates: row and column of each value, in any order
};

class TUTTI_API pattern;  // for internal use

class TUTTI_API matrix {
 public:
  /// An invalid handle: every use except assignment and valid() throws value_error.
  matrix() = default;

  bool valid() const { return static_cast<bool>(pattern_); }
  sparse::format format() const;
  tutti::shape shape() const;  ///< [rows, columns]
  std::int64_t rows() const;
  std::int64_t columns() const;
  std::int64_t nnz() const;  ///< number of stored elements, including zeros
  tutti::dtype dtype() const;
  tutti::device device() const;
  /// Whether elements are ordered by rows, then columns (csc: by columns, then rows), without
  /// duplicates.
  bool is_canonical() const;

  const array& values() const;  ///< [nnz]
  /// Start of each row (csc: column) among the elements, and their total number: [rows + 1]. Throws
  /// value_error for coordinates.
  array starts() const;
  array row_indices() const;     ///< [nnz], of each element
  array column_indices() const;  ///< [nnz]

  /// The same positions with other values [nnz]. Throws shape_error for another shape.
  matrix with_values(const array& values) const;
  matrix astype(tutti::dtype type) const;
  matrix to(const tutti::device& on) const;
  /// The transpose, without computation: csr becomes csc, coordinates stay coordinates.
  matrix T() const;

  /// For internal use.
  matrix(std::shared_ptr<const sparse::pattern> places, bool by_rows, array values);
  const std::shared_ptr<const sparse::pattern>& places() const { return pattern_; }
  bool by_rows() const { return by_rows_; }

 private:
  std::shared_ptr<const sparse::pattern> pattern_;
  bool by_rows_ = true;  // whether the pattern's major axis is that of rows
  array values_;
};

// ---- construction. `extents` are [rows, columns].

/// Compressed rows: row i has the elements from starts[i] to starts[i + 1] [rows + 1], whose
/// columns and values [nnz] may be in any order; values of repeated positions are added. Throws
/// index_error for a column outside [0, columns), value_error for starts that do not ascend from 0
/// to nnz, dtype_error for indices that are not integers.
TUTTI_API matrix csr(const shape& extents, const array& starts, const array& columns,
                     const array& values);
/// The same for columns.
TUTTI_API matrix csc(const shape& extents, const array& starts, const array& rows,
                     const array& values);
/// Coordinates [nnz], which are not changed. Throws index_error for coordinates out of range.
TUTTI_API matrix coo(const shape& extents, const array& rows, const array& columns,
                     const array& values);
/// Coordinates in canonical order, where values of repeated positions are added.
TUTTI_API matrix from_triplets(const shape& extents, const array& rows, const array& columns,
                               const array& values, format to = format::csr);
/// The elements of a [rows, columns] that are not 0 (NaN is not 0).
TUTTI_API matrix from_dense(const array& a, format to = format::csr);
TUTTI_API array to_dense(const matrix& a);
/// Ones on the diagonal.
TUTTI_API matrix eye(std::int64_t n, dtype type = dtype::f32, const device& on = default_device());

// ---- formats and order

/// In another format; a itself if it already has it. Ordered rows are not sorted.
TUTTI_API matrix convert(const matrix& a, format to);
TUTTI_API matrix transpose(const matrix& a);
/// Ordered, without duplicates: values of one position are added in the order of the elements.
TUTTI_API matrix canonical(const matrix& a);
/// Without elements that are 0.
TUTTI_API matrix eliminate_zeros(const matrix& a);
/// Rows [begin, end), as csr. Throws index_error unless 0 <= begin <= end <= rows.
TUTTI_API matrix slice_rows(const matrix& a, integer begin, integer end);
/// Rows at indices [n], each in [-rows, rows), as csr. Throws index_error.
TUTTI_API matrix take_rows(const matrix& a, const array& indices);

// ---- arithmetic. Results are csr, except those of one matrix, which keep its format.

/// a times b [columns] or [columns, n]: dense.
TUTTI_API array matmul(const matrix& a, const array& b);
/// a [rows] or [n, rows] times b: dense.
TUTTI_API array matmul(const array& a, const matrix& b);
/// Sparse: only positions of nonzero patterns are stored. On CPUs row by row on the host, evaluated
/// at the call; otherwise, and if it is differentiated, it uses memory for all products.
TUTTI_API matrix matmul(const matrix& a, const matrix& b);
/// a b at the positions of `places`, whose values are ignored: a [rows, k], b [k, columns].
TUTTI_API matrix sddmm(const matrix& places, const array& a, const array& b);
TUTTI_API matrix add(const matrix& a, const matrix& b);
TUTTI_API matrix subtract(const matrix& a, const matrix& b);
/// Elementwise: at the positions of both; or at the positions of a, times the elements of b, which
/// broadcasts to it.
TUTTI_API matrix multiply(const matrix& a, const matrix& b);
TUTTI_API matrix multiply(const matrix& a, const array& b);
/// a at the positions that are also in `mask`, whose values are ignored.
TUTTI_API matrix masked(const matrix& a, const matrix& mask);
/// Over all elements, along axis 0 to [columns], along axis 1 to [rows]: dense.
TUTTI_API array sum(const matrix& a, std::optional<integer> axis = {});
/// [min(rows, columns)], dense.
TUTTI_API array diagonal(const matrix& a);

}  // namespace tutti::sparse
