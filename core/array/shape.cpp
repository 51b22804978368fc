// SPDX-License-Identifier: Apache-2.0
//
// Shapes: bounded lists of extents, broadcasting, axes, numbers of a slice.
#include "tutti/shape.hpp"

#include <algorithm>
#include <ostream>

#include "base/fail.hpp"
#include "tutti/error.hpp"
#include "tutti/slicing.hpp"

namespace tutti {
namespace {

void require_rank(std::size_t dimensions) {
  if (dimensions > static_cast<std::size_t>(max_rank))
    base::fail<shape_error>("shape: {} dimensions, at most {} are possible", dimensions, max_rank);
}

}  // namespace

void detail::throw_beyond_int64(std::uint64_t value) {
  base::fail<value_error>("integer: {} does not fit a signed 64-bit integer", value);
}

shape::shape(std::span<const std::int64_t> values) {
  require_rank(values.size());
  std::copy(values.begin(), values.end(), values_.begin());
  rank_ = static_cast<int>(values.size());
}

shape::shape(std::initializer_list<integer> values) {
  require_rank(values.size());
  std::copy(values.begin(), values.end(), values_.begin());
  rank_ = static_cast<int>(values.size());
}

shape::shape(const std::vector<std::int64_t>& values)
    : shape(std::span<const std::int64_t>(values)) {}

void shape::insert(int position, std::int64_t value) {
  if (rank_ == max_rank)
    base::fail<shape_error>("shape: {} cannot take another dimension, at most {} are possible",
                            str(), max_rank);
  if (position < 0 || position > rank_)
    base::fail<index_error>("shape: position {} is outside {}", position, str());
  std::copy_backward(begin() + position, end(), end() + 1);
  values_[static_cast<std::size_t>(position)] = value;
  ++rank_;
}

void shape::erase(int position) {
  if (position < 0 || position >= rank_)
    base::fail<index_error>("shape: position {} is outside {}", position, str());
  std::copy(begin() + position + 1, end(), begin() + position);
  values_[static_cast<std::size_t>(--rank_)] = 0;
}

std::int64_t shape::size() const {
  std::int64_t product = 1;
  bool overflow = false;
  for (std::int64_t v : *this) {
    if (v == 0) return 0;
    overflow |= __builtin_mul_overflow(product, v, &product);
  }
  if (overflow) base::fail<shape_error>("shape: the number of elements of {} overflows", str());
  return product;
}

std::string shape::str() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ',';
    text += std::to_string((*this)[i]);
  }
  return text += ']';
}

std::ostream& operator<<(std::ostream& out, const shape& s) { return out << s.str(); }

shape broadcast_shapes(const shape& a, const shape& b, std::string_view op) {
  shape out = a.rank() >= b.rank() ? a : b;
  for (int i = 1; i <= out.rank(); ++i) {
    const std::int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1)
      base::fail<shape_error>("{}: shapes do not broadcast: {} and {}", op, a, b);
    out[out.rank() - i] = x == 1 ? y : x;
  }
  return out;
}

int normalize_axis(integer given, int rank, std::string_view op) {
  const std::int64_t axis = given;
  if (axis < -rank || axis >= rank)
    base::fail<index_error>("{}: axis {} is out of range for {} dimensions", op, axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

unsigned axis_list::mask(int rank, std::string_view op) const {
  if (!given_) return (1u << rank) - 1;
  unsigned out = 0;
  for (std::int64_t axis : axes_) {
    const unsigned bit = 1u << normalize_axis(axis, rank, op);
    if ((out & bit) != 0)
      base::fail<value_error>("{}: axis {} is named twice in {}", op, axis, axes_);
    out |= bit;
  }
  return out;
}

axis_index::axis_index(std::initializer_list<detail::slice_number> range) {
  const auto* number = range.begin();
  if (range.size() > 3)
    base::fail<value_error>("slice: {} numbers, at most start, stop and step are possible",
                            range.size());
  if (range.size() > 0) range_.start = number[0].value;
  if (range.size() > 1) range_.stop = number[1].value;
  if (range.size() < 3) return;
  if (!number[2].value) throw value_error("slice: the step must be a number");
  range_.step = *number[2].value;
}

}  // namespace tutti
