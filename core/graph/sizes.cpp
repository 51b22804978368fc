// SPDX-License-Identifier: Apache-2.0
//
// Checked products and sums of extents.
#include "graph/sizes.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "tutti/error.hpp"

namespace tutti::graph {

std::int64_t checked_elements(const shape& extents, dtype type, std::string_view op) {
  if (!is_dtype(type))
    base::fail<dtype_error>("{}: {} is the number of no dtype", op, static_cast<int>(type));
  std::int64_t bytes = static_cast<std::int64_t>(size_of(type)), elements = 1;
  bool fits = true;
  for (std::int64_t e : extents) {
    if (e < 0) base::fail<shape_error>("{}: negative extent in {}", op, extents);
    fits = fits && !__builtin_mul_overflow(bytes, std::max<std::int64_t>(e, 1), &bytes);
    elements = fits ? elements * e : 0;
  }
  if (!fits)
    base::fail<shape_error>("{}: an array of shape {} and dtype {} is too large", op, extents,
                            type);
  return elements;
}

shape reshaped_extents(const shape& from, const shape& to, std::string_view op) {
  const auto fail = [&]() { base::fail<shape_error>("{}: cannot make {} of {}", op, to, from); };
  shape out = to;
  int open = -1;
  std::int64_t known = 1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == -1 && open < 0)
      open = i;
    else if (to[i] < 0)
      fail();
    else if (__builtin_mul_overflow(known, to[i], &known))
      fail();
  }
  const std::int64_t elements = from.size();
  if (open >= 0) {
    if (known == 0 || elements % known != 0) fail();
    out[open] = elements / known;
  } else if (known != elements) {
    fail();
  }
  return out;
}

std::int64_t extent_sum(std::int64_t a, std::int64_t b, std::string_view op) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    base::fail<shape_error>("{}: an extent of {} + {} is too large", op, a, b);
  return sum;
}

std::int64_t extent_product(std::int64_t a, std::int64_t b, std::string_view op) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    base::fail<shape_error>("{}: an extent of {} x {} is too large", op, a, b);
  return product;
}

}  // namespace tutti::graph
