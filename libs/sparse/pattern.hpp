// SPDX-License-Identifier: Apache-2.0
//
// The positions of a sparse matrix along a major and a minor axis, which are rows and columns or
// vice versa, and derived data that all matrices with this pattern share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "tutti/extension.hpp"
#include "tutti/sparse/matrix.hpp"

namespace tutti::sparse {

/// Positions in another order.
struct arranged {
  std::shared_ptr<const pattern> places;
  array order;  // i64 [count]: the element at each position; invalid if the order is unchanged
};

class TUTTI_API pattern {
 public:
  std::int64_t majors() const { return majors_; }
  std::int64_t minors() const { return minors_; }
  std::int64_t count() const { return count_; }
  bool is_compressed() const { return is_compressed_; }
  bool is_canonical() const { return is_canonical_; }
  dtype index_type() const { return minor_.dtype(); }
  op::device_pointer device() const { return op::device_of(minor_); }

  const array& starts() const { return starts_; }  // of compressed positions
  const array& minor() const { return minor_; }
  array major() const;
  /// major * minors + minor of each element, i64.
  array keys() const;

  /// Coordinates with starts instead.
  arranged compressed() const;
  /// With the axes swapped, compressed; ordered if these are.
  arranged flipped() const;

  /// Converts indices [count] and starts [majors + 1], of any integers in range, to the smallest
  /// sufficient dtype, without history.
  static std::shared_ptr<const pattern> of_starts(std::int64_t majors, std::int64_t minors,
                                                  const array& starts, const array& minor,
                                                  bool is_canonical);
  static std::shared_ptr<const pattern> of_coordinates(std::int64_t majors, std::int64_t minors,
                                                       const array& major, const array& minor,
                                                       bool is_canonical);

 private:
  std::int64_t majors_ = 0, minors_ = 0, count_ = 0;
  bool is_compressed_ = false, is_canonical_ = false;
  array starts_, minor_, major_;  // major_: of coordinates

  mutable std::mutex lock_;  // of what follows
  mutable array expanded_;
  mutable arranged compressed_, flipped_;
};

/// Starts of rows with the numbers `major`, in any order: i64 [majors + 1].
array starts_of(const array& major, std::int64_t majors);
/// x[index] of 1-d arrays; indices are known to be in range.
array picked(const array& x, const array& index);
/// The same of what may have no order.
array in_order(const array& x, const array& order);

/// Positions with their values.
struct placed {
  std::shared_ptr<const pattern> places;
  array values;
};
/// The distinct ones of `keys` [n] as compressed positions, in order, with the sums of their
/// values. `order` sorts the keys stably; it is computed if it is invalid. Evaluates.
placed coalesced(std::int64_t majors, std::int64_t minors, const array& keys, array order,
                 const array& values);
/// Ordered, without duplicates.
placed canonical_of(const matrix& a);

/// The elements at ascending positions.
std::shared_ptr<const pattern> selected(const pattern& p, const array& positions);

/// For n rows, each with `lengths` elements from `begins` on: the position of each element, and its
/// row. i64; evaluates their number.
struct spread {
  array row, position;
};
spread spread_rows(const array& begins, const array& lengths);

/// a with positions compressed along its rows, or columns, and their values.
placed compressed_along(const matrix& a, bool rows);
/// The product [majors, n] of these with b [minors, n]; with gradients.
array product_of(const placed& a, const array& b, const char* label);

/// The products of row major[k] of x [majors, n] with row minor[k] of y [minors, n]: [count]; with
/// gradients.
array products_at(const std::shared_ptr<const pattern>& p, const array& x, const array& y,
                  const char* label);

/// Throws value_error with `op` for an invalid handle.
const matrix& checked(const matrix& a, std::string_view op);
/// Both in their promoted dtype.
dtype common_dtype(const array& a, const array& b, std::string_view op);

}  // namespace tutti::sparse
