// SPDX-License-Identifier: Apache-2.0
//
// Random arrays: words of Philox by element index, converted to uniform and normal numbers by
// ordinary elementwise operations, so that every backend computes the same numbers.
#include "tutti/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include "op/operands.hpp"
#include "op/random/random_words.hpp"
#include "semantics/host_half.hpp"
#include "semantics/host_math.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::random {

array words(key from, const shape& extents, std::int64_t stride, std::int64_t first,
            const device& on) {
  const auto device = &detail::get(on);
  array index = graph::iota(extents, device);
  if (stride != 1) index = index * stride;
  if (first != 0) index = index + first;
  return graph::elementwise(
      TUTTI_OP_philox, dtype::u32,
      {index, graph::constant({}, dtype::u64, std::bit_cast<std::int64_t>(from.value), device)},
      "random");
}

void require_floating(dtype type, std::string_view op) {
  if (!is_floating(type)) base::fail<dtype_error>("{}: needs a floating dtype, got {}", op, type);
}

array wide_bits(key from, const shape& extents, std::int64_t stride, std::int64_t first,
                const device& on) {
  const array high = astype(right_shift(words(from, extents, stride, first, on), 5), dtype::u64);
  const array low = astype(right_shift(words(from, extents, stride, first + 1, on), 6), dtype::u64);
  return left_shift(high, 26) | low;
}

namespace {

int bits_of(dtype type) {
  return type == dtype::f16 ? 11 : type == dtype::bf16 ? 8 : type == dtype::f32 ? 24 : 53;
}

template <class T>
double below_in(double high) {
  const T rounded = static_cast<T>(high);
  return rounded < high ? rounded : std::nextafter(rounded, -std::numeric_limits<T>::infinity());
}

// The neighbour towards minus infinity of a number of 16 bits (sign and magnitude).
std::uint16_t previous(std::uint16_t bits) {
  if ((bits & 0x7fff) == 0) return 0x8001;
  return static_cast<std::uint16_t>((bits & 0x8000) != 0 ? bits + 1 : bits - 1);
}

// The largest number of `type` below `high`.
double below(double high, dtype type) {
  if (type == dtype::f64) return below_in<double>(high);
  if (type == dtype::f32) return below_in<float>(high);
  const bool half = type == dtype::f16;
  const auto widen = [&](std::uint16_t bits) {
    return half ? host::half_to_float(bits) : host::bfloat16_to_float(bits);
  };
  const float value = static_cast<float>(high);
  const std::uint16_t bits = half ? host::float_to_half(value) : host::float_to_bfloat16(value);
  return widen(bits) < high ? widen(bits) : widen(previous(bits));
}

double largest(dtype type) { return below(HUGE_VAL, type); }

}  // namespace

void require_held(std::string_view op, dtype type, std::initializer_list<double> values) {
  for (const double value : values)
    if (std::abs(value) > largest(type))
      base::fail<value_error>("{}: {} is out of the range of {}", op, value, type);
}

std::vector<key> split(key from, int count) {
  if (count < 0) base::fail<value_error>("split: the count {} is negative", count);
  const auto wanted = static_cast<std::uint64_t>(count);
  std::vector<key> out;
  detail::within_host_memory("split", wanted, sizeof(key), [&] { out.reserve(wanted); });
  for (int i = 0; i < count; ++i) out.push_back(fold_in(from, i));
  return out;
}

key fold_in(key from, std::int64_t index) {
  if (index < 0) base::fail<value_error>("fold_in: index {} is negative", index);
  const auto i = static_cast<std::uint64_t>(index);
  // The last word of the counter is 0 in all blocks used for arrays.
  const auto block = host::philox_block(
      {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), 0, 1},
      {static_cast<std::uint32_t>(from.value), static_cast<std::uint32_t>(from.value >> 32)});
  return {block[0] | std::uint64_t{block[1]} << 32};
}

array bits(key from, const shape& shape, const device& on) {
  require_size(shape, "bits");
  return words(from, shape, 1, 0, on);
}

array uniform(key from, const shape& shape, double low, double high, dtype type, const device& on) {
  require_floating(type, "uniform");
  require_size(shape, "uniform");
  if (!(low < high) || !std::isfinite(low) || !std::isfinite(high))
    base::fail<value_error>("uniform: needs finite low < high, got {} and {}", low, high);
  if (!std::isfinite(high - low))
    base::fail<value_error>("uniform: {} and {} are too far apart", low, high);
  require_held("uniform", type, {low, high});
  if (high - low > largest(graph::compute_dtype(type)))
    base::fail<value_error>("uniform: {} and {} are too far apart for {}", low, high, type);
  const int count = bits_of(type);
  const array integer = type == dtype::f64 ? wide_bits(from, shape, 2, 0, on)
                                           : right_shift(words(from, shape, 1, 0, on), 32 - count);
  const array unit = astype(integer, graph::compute_dtype(type)) * std::ldexp(1.0, -count);
  if (low == 0 && high == 1) return astype(unit, type);
  // Rounding must not reach high.
  return astype(minimum(unit * (high - low) + low, below(high, type)), type);
}

array normal(key from, const shape& shape, double mean, double deviation, dtype type,
             const device& on) {
  require_floating(type, "normal");
  require_size(shape, "normal");
  if (!std::isfinite(mean) || !std::isfinite(deviation) || deviation < 0)
    base::fail<value_error>("normal: needs a finite mean and finite deviation >= 0, got {} and {}",
                            mean, deviation);
  require_held("normal", type, {mean, deviation});
  const bool wide = type == dtype::f64;
  const double unit = std::ldexp(1.0, wide ? -53 : -24);
  const array first =
      wide ? wide_bits(from, shape, 4, 0, on) : right_shift(words(from, shape, 2, 0, on), 8);
  const array second =
      wide ? wide_bits(from, shape, 4, 2, on) : right_shift(words(from, shape, 2, 1, on), 8);
  const dtype compute = graph::compute_dtype(type);
  const array radius = sqrt(log((astype(first, compute) + 1) * unit) * -2);
  const array angle = astype(second, compute) * (2 * std::numbers::pi * unit);
  array out = radius * cos(angle);
  if (deviation != 1) out = out * deviation;
  if (mean != 0) out = out + mean;
  return astype(out, type);
}

std::int64_t swap_partner(key from, std::int64_t i) {
  // 64 bits reduced modulo i + 1: the probabilities of permutations differ by at most n / 2^64.
  // They are words 2i and 2i + 1, of one block.
  const auto place = static_cast<std::uint64_t>(i);
  const auto block = host::philox_block(
      {static_cast<std::uint32_t>(place / 2), static_cast<std::uint32_t>(place / 2 >> 32), 0, 0},
      {static_cast<std::uint32_t>(from.value), static_cast<std::uint32_t>(from.value >> 32)});
  const std::size_t low = place % 2 * 2;
  const std::uint64_t draw = block[low] | std::uint64_t{block[low + 1]} << 32;
  return static_cast<std::int64_t>(draw % (place + 1));
}

void require_size(const shape& extents, std::string_view op) {
  graph::checked_elements(extents, dtype::i64, op);
}

std::vector<std::int64_t> permutation(key from, std::int64_t n) {
  if (n < 0) base::fail<value_error>("permutation: the count {} is negative", n);
  auto order = detail::host_vector<std::int64_t>("permutation", static_cast<std::uint64_t>(n));
  for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  for (std::int64_t i = n - 1; i > 0; --i) {
    const std::int64_t j = swap_partner(from, i);
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
  }
  return order;
}

}  // namespace tutti::random
