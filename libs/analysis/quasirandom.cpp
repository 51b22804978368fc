// SPDX-License-Identifier: Apache-2.0
//
// Sobol and Halton points, each computed from its index.
#include "tutti/analysis/quasirandom.hpp"

#include <array>
#include <bit>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/extension.hpp"
#include "tutti/movement.hpp"

namespace tutti::random {

using base::named;

namespace {

// Of a primitive polynomial of degree s over {0, 1} the coefficients between its ends, as bits, and
// the first s direction numbers (Joe and Kuo, 2008, table of new-joe-kuo-6). The first dimension is
// van der Corput's sequence.
struct sobol_row {
  unsigned degree, polynomial;
  std::array<std::uint32_t, 5> first;
};
constexpr sobol_row sobol_rows[] = {{1, 0, {1}},
                                    {2, 1, {1, 3}},
                                    {3, 1, {1, 3, 1}},
                                    {3, 2, {1, 1, 1}},
                                    {4, 1, {1, 1, 3, 3}},
                                    {4, 4, {1, 3, 5, 13}},
                                    {5, 2, {1, 1, 5, 5, 17}},
                                    {5, 4, {1, 1, 5, 5, 5}},
                                    {5, 7, {1, 1, 7, 11, 19}}};

// Direction numbers of a dimension, as fractions of 2^32, by Bratley and Fox' recurrence (1988).
std::array<std::uint32_t, 32> directions_of(std::int64_t dimension) {
  std::array<std::uint32_t, 32> v{};
  for (unsigned k = 0; k < 32; ++k) {
    if (dimension == 0) {
      v[k] = std::uint32_t{1} << (31 - k);
      continue;
    }
    const sobol_row& row = sobol_rows[static_cast<std::size_t>(dimension - 1)];
    if (k < row.degree) {
      v[k] = row.first[k] << (31 - k);
      continue;
    }
    v[k] = v[k - row.degree] ^ (v[k - row.degree] >> row.degree);
    for (unsigned i = 1; i < row.degree; ++i)
      if ((row.polynomial >> (row.degree - 1 - i) & 1) != 0) v[k] ^= v[k - i];
  }
  return v;
}

void check_points(std::int64_t count, std::int64_t dimensions, std::int64_t first,
                  std::int64_t most, dtype type, const char* op) {
  constexpr std::int64_t all = std::int64_t{1} << 32;
  if (dimensions < 1 || dimensions > most)
    base::fail<value_error>("{}: {} dimensions, must lie in [1, {}]", op, dimensions, most);
  if (count < 0 || first < 0 || first > all || count > all - first)
    base::fail<value_error>("{}: {} points from number {}, must lie within 2^32", op, count, first);
  if (type != dtype::f32 && type != dtype::f64)
    base::fail<dtype_error>("{}: the dtype is f32 or f64, not {}", op, type);
  graph::checked_elements({count, dimensions}, type, op);
}

}  // namespace

array sobol(std::int64_t count, std::int64_t dimensions, std::int64_t first,
            std::optional<key> shift, dtype type, const device& on) {
  return named("sobol", [&]() -> array {
    check_points(count, dimensions, first, most_sobol_dimensions, type, "sobol");
    if (count == 0) return zeros({0, dimensions}, type, on);
    const array index = arange(first, first + count, dtype::i64, on);
    const array gray = (index ^ right_shift(index, 1)).astype(dtype::u32);
    const int digits = std::bit_width(static_cast<std::uint64_t>(first + count - 1));
    std::vector<array> columns;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      const auto v = directions_of(d);
      array x = zeros({count}, dtype::u32, on);
      for (int k = 0; k < digits; ++k) {
        const array digit = bitwise_and(right_shift(gray, k), 1);
        x = x ^ (digit * v[static_cast<std::size_t>(k)]);
      }
      columns.push_back(x);
    }
    array points = stack(columns, 1);
    if (shift) points = points ^ bits(*shift, {dimensions}, on);
    if (type == dtype::f32) return right_shift(points, 8).astype(type) * 0x1p-24;
    return points.astype(type) * 0x1p-32;
  });
}

array halton(std::int64_t count, std::int64_t dimensions, std::int64_t first, dtype type,
             const device& on) {
  return named("halton", [&]() -> array {
    check_points(count, dimensions, first, 100, type, "halton");
    if (count == 0) return zeros({0, dimensions}, type, on);
    const array index = arange(first, first + count, dtype::i64, on);
    // Rounded to fewer digits, the last points would be 1.
    const double below_one = 1 - finfo(type).epsilon / 2;
    std::vector<array> columns;
    std::vector<std::int64_t> primes;
    for (std::int64_t base = 2; static_cast<std::int64_t>(primes.size()) < dimensions; ++base) {
      bool is_prime = true;
      for (const std::int64_t p : primes) is_prime = is_prime && base % p != 0;
      if (!is_prime) continue;
      primes.push_back(base);
      // The reversed digits, as an integer over a power of the base that f64 can represent.
      array rest = index, mirrored = zeros({count}, dtype::i64, on);
      double scale = 1;
      for (std::int64_t left = first + count - 1; left > 0; left /= base) {
        mirrored = mirrored * base + remainder(rest, base);
        rest = floor_divide(rest, base);
        scale *= static_cast<double>(base);
      }
      columns.push_back(minimum((mirrored.astype(dtype::f64) / scale).astype(type), below_one));
    }
    return stack(columns, 1);
  });
}

}  // namespace tutti::random
