// SPDX-License-Identifier: Apache-2.0
//
// Extents of an array: up to 8 dimensions, stored inline, row-major (the last varies fastest). Also
// the types of arguments that specify axes and positions, to which bool does not convert.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tutti/export.hpp"

namespace tutti {

inline constexpr int max_rank = 8;

namespace detail {
template <class T>
concept integral_argument = (std::integral<T> && !std::same_as<T, bool>) ||
                            (std::is_enum_v<T> && std::convertible_to<T, std::int64_t>);
[[noreturn]] TUTTI_API void throw_beyond_int64(std::uint64_t value);
}  // namespace detail

/// An integer argument, for example an axis. Unlike std::int64_t it does not accept bool, so that a
/// flag in the position of an axis does not compile, and it throws value_error for an unsigned
/// number that is too large.
class integer {
 public:
  template <detail::integral_argument T>
  constexpr integer(T value) : value_(static_cast<std::int64_t>(value)) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t))
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        detail::throw_beyond_int64(value);
  }
  constexpr operator std::int64_t() const { return value_; }

 private:
  std::int64_t value_;
};

/// A short list of extents, axes or strides.
class TUTTI_API shape {
 public:
  shape() = default;
  /// Throws shape_error for more than max_rank values.
  shape(std::initializer_list<integer> values);
  explicit shape(std::span<const std::int64_t> values);
  explicit shape(const std::vector<std::int64_t>& values);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return values_[static_cast<std::size_t>(rank_ - 1)]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + rank_; }

  /// Throws shape_error beyond max_rank.
  void push_back(std::int64_t value) {
    if (rank_ == max_rank) return insert(rank_, value);  // throws
    values_[static_cast<std::size_t>(rank_++)] = value;
  }
  void insert(int position, std::int64_t value);
  void erase(int position);

  /// Product of the extents; 1 for rank 0. Throws shape_error if it overflows.
  std::int64_t size() const;

  /// "[2,3]"
  std::string str() const;

  friend bool operator==(const shape& a, const shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, max_rank> values_{};
  int rank_ = 0;
};

/// str().
TUTTI_API std::ostream& operator<<(std::ostream& out, const shape& s);

}  // namespace tutti

/// size() is the product, not the number of values, which a std::span of them needs.
template <>
inline constexpr bool std::ranges::disable_sized_range<tutti::shape> = true;

namespace tutti {

/// The axes of an argument: one, several in braces, a vector or a shape; nothing, {} and
/// std::nullopt select the default of the function, usually all axes.
class TUTTI_API axis_list {
 public:
  axis_list() = default;
  axis_list(std::nullopt_t) {}
  template <std::convertible_to<integer> T>
  axis_list(T axis) : axes_{integer(axis)}, given_(true) {}
  template <std::same_as<std::optional<std::int64_t>> T>
  axis_list(const T& axis) : given_(axis.has_value()) {
    if (axis) axes_.push_back(*axis);
  }
  axis_list(std::initializer_list<integer> axes) : axes_(axes), given_(true) {}
  axis_list(const std::vector<std::int64_t>& axes) : axes_(axes), given_(true) {}
  axis_list(const shape& axes) : axes_(axes), given_(true) {}

  bool given() const { return given_; }
  const shape& axes() const { return axes_; }
  /// One bit for each axis of an array of that rank, all if none are given. Throws index_error for
  /// an axis out of range, value_error for a repeated one, with `op`.
  unsigned mask(int rank, std::string_view op) const;

 private:
  shape axes_;
  bool given_ = false;
};

/// NumPy's broadcasting of two shapes. Throws shape_error naming `op` and both.
TUTTI_API shape broadcast_shapes(const shape& a, const shape& b, std::string_view op = "broadcast");

/// Axis in [0, rank) from one in [-rank, rank). Throws index_error naming `op`.
TUTTI_API int normalize_axis(integer axis, int rank, std::string_view op);

}  // namespace tutti
