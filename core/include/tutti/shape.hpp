// SPDX-License-Identifier: Apache-2.0
//
// Extents of an array: up to 8 dimensions, stored inline, row-major meaning (last varies fastest).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti {

inline constexpr int max_rank = 8;

/// A short list of extents, axes or strides.
class TUTTI_API shape {
 public:
  shape() = default;
  /// Throws shape_error for more than max_rank values.
  shape(std::initializer_list<std::int64_t> values);
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
  void push_back(std::int64_t value);
  void insert(int position, std::int64_t value);
  void erase(int position);

  /// Product of the extents; 1 for rank 0. Throws shape_error where it overflows.
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

/// NumPy's broadcasting of two shapes. Throws shape_error naming `op` and both.
TUTTI_API shape broadcast_shapes(const shape& a, const shape& b, std::string_view op = "broadcast");

/// Axis in [0, rank) from one in [-rank, rank). Throws index_error naming `op`.
TUTTI_API int normalize_axis(std::int64_t axis, int rank, std::string_view op);

}  // namespace tutti
