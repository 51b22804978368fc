// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a({...}), a.set({...}, values) and slice_update: NumPy's basic indexing with
// integers, slices, new axes and the ellipsis.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "tutti/export.hpp"
#include "tutti/shape.hpp"

namespace tutti {

/// One step of NumPy basic slicing: start, stop, step; an absent bound is open. Negative bounds
/// count from the end; steps may be negative, not zero.
struct slice {
  std::optional<std::int64_t> start{};
  std::optional<std::int64_t> stop{};
  std::int64_t step = 1;
};

namespace detail {
/// A number in the braces of a slice, or {} for an open bound.
struct slice_number {
  std::optional<std::int64_t> value{};
  slice_number() = default;
  slice_number(std::nullopt_t) {}
  template <std::convertible_to<integer> T>
  slice_number(T number) : value(integer(number)) {}
  template <std::same_as<std::optional<std::int64_t>> T>
  slice_number(const T& number) : value(number) {}
};
}  // namespace detail

/// Index of one axis: an integer removes the axis, a slice or {start, stop, step} selects a range,
/// {} or all() the whole axis. NumPy's a[1, 2:5, ::-1] is a({1, {2, 5}, {{}, {}, -1}}).
class TUTTI_API axis_index {
 public:
  enum class kind : std::uint8_t { number, range, new_axis, ellipsis };

  /// The whole axis.
  axis_index() = default;
  template <std::convertible_to<integer> T>
  axis_index(T number) : kind_(kind::number) {
    range_.start = integer(number);
  }
  axis_index(const slice& range) : range_(range) {}
  /// {start}, {start, stop} or {start, stop, step}, as slice. Throws value_error for more numbers
  /// and for a step of {}.
  axis_index(std::initializer_list<detail::slice_number> range);
  explicit axis_index(kind what) : kind_(what) {}

  kind what() const { return kind_; }
  std::int64_t number() const { return *range_.start; }
  const slice& range() const { return range_; }

 private:
  kind kind_ = kind::range;
  slice range_;
};

/// The whole axis: NumPy's `:`.
inline axis_index all() { return {}; }
/// Inserts an axis of extent 1, without using an axis of the array: NumPy's newaxis.
inline axis_index newaxis() { return axis_index(axis_index::kind::new_axis); }
/// All axes that are not given otherwise: NumPy's `...`.
inline axis_index ellipsis() { return axis_index(axis_index::kind::ellipsis); }

}  // namespace tutti
