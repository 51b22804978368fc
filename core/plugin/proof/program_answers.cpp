// SPDX-License-Identifier: Apache-2.0
//
// Fused programs whose results are known: one for each class of numbers, with the instructions that
// drivers have got wrong, and reductions of small integers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugin/proof/known_answer.hpp"
#include "tutti/dtype.hpp"

namespace tutti::detail {
namespace {

using numbers = std::vector<double>;
using kinds = kernel_family::kinds;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string type_name(std::uint8_t type) { return std::string(name(static_cast<dtype>(type))); }

tensor row(std::int32_t type, const numbers& values) {
  return make_tensor(type, {values.size()}, values);
}

// ---- real floats: which of three results is stored is told by a third operand

enum class pick { fused = 0, product = 1, quotient = 2 };

/// Operands a and b, what is done to them, and the result.
struct real_rows {
  numbers a, b, what, right;
  std::vector<bool> tiny;

  void add(double x, double y, pick p, bool is_tiny = false) {
    a.push_back(x);
    b.push_back(y);
    what.push_back(static_cast<int>(p));
    right.push_back(p == pick::product    ? x * y
                    : p == pick::quotient ? x / y
                                          : std::tanh(x) + x * y);
    tiny.push_back(is_tiny);
  }
};

constexpr std::size_t each = 331;  // no multiple of any vector's width
constexpr std::size_t first_tiny = 3 * each, tiny_count = 4;

real_rows rows_of_reals(std::uint8_t type) {
  real_rows r;
  const numbers x = whole_numbers(each, 1, -1000, 1000), y = whole_numbers(each, 2, 1, 97);
  for (std::size_t i = 0; i < each; ++i) r.add(x[i], y[i], pick::product);
  for (std::size_t i = 0; i < each; ++i) r.add(x[i], y[i], pick::quotient);
  for (std::size_t i = 0; i < each; ++i) r.add(std::fabs(x[i]) / 256, y[i], pick::fused);
  const double least = finfo(static_cast<dtype>(type)).smallest_normal;
  r.add(least, 0.5, pick::product, true);
  r.add(least / 4, 8, pick::product, true);
  r.add(least, 4, pick::quotient, true);
  r.add(least / 8, 0.0625, pick::quotient, true);
  for (const double special : {infinity, -infinity, nan, 0.0}) {
    r.add(special, 0, pick::product);
    r.add(special, 2, pick::product);
    r.add(special, 2, pick::quotient);
    r.add(1, special, pick::quotient);
  }
  r.add(0, 0, pick::quotient);
  return r;
}

program_question reals(std::uint8_t type) {
  const real_rows rows = rows_of_reals(type);
  program_question q{"proof of " + type_name(type)};
  const std::uint32_t a = q.input(row(type, rows.a));
  const std::uint32_t b = q.input(row(type, rows.b));
  const std::uint32_t what = q.input(row(type, rows.what));
  const std::uint32_t one = q.scalar(type, 1), two = q.scalar(type, 2);
  const std::uint32_t times = q.op(TUTTI_OP_multiply, type, {a, b});
  const std::uint32_t over = q.op(TUTTI_OP_divide, type, {a, b});
  const std::uint32_t both = q.op(TUTTI_OP_add, type, {q.op(TUTTI_OP_tanh, type, {a}), times});
  const std::uint32_t is_one = q.op(TUTTI_OP_equal, TUTTI_BOOL, {what, one});
  const std::uint32_t is_two = q.op(TUTTI_OP_equal, TUTTI_BOOL, {what, two});
  const std::uint32_t other = q.op(TUTTI_OP_where, type, {is_two, over, both});
  q.result = q.op(TUTTI_OP_where, type, {is_one, times, other});
  // tanh may be 5 ulp off, the sum half of one more.
  q.known = {row(type, rows.right), 8 * finfo(static_cast<dtype>(type)).epsilon, rows.tiny};
  return q;
}

/// 16-bit floats: widened, computed in f32, rounded to nearest even and stored.
program_question halves(std::uint8_t type) {
  numbers a = whole_numbers(each, 3, -60, 60), b = whole_numbers(each, 4, -60, 60);
  std::vector<bool> tiny(each, false);
  const double least = finfo(static_cast<dtype>(type)).smallest_normal;
  const double more[][2] = {{least / 4, 1}, {least / 2, 7}, {256, 256},
                            {infinity, 1},  {-infinity, 2}, {nan, 1}};
  for (const auto& [x, y] : more) {
    a.push_back(x);
    b.push_back(y);
    tiny.push_back(x < least && x > 0);
  }
  numbers right(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) right[i] = a[i] * b[i] + a[i];
  program_question q{"proof of " + type_name(type)};
  const std::uint32_t x = q.input(row(type, a)), y = q.input(row(type, b));
  q.result = q.op(TUTTI_OP_add, TUTTI_F32, {q.op(TUTTI_OP_multiply, TUTTI_F32, {x, y}), x});
  q.known = {row(type, right), 0, std::move(tiny)};
  return q;
}

// ---- integers: a hash of what each dtype makes of two numbers

constexpr std::int64_t hash_factor = 31;

/// Full 64 bits without a pattern (splitmix64: Steele, Lea and Flood, OOPSLA 2014).
std::vector<std::int64_t> words(std::size_t n, std::uint64_t state) {
  std::vector<std::int64_t> v(n);
  for (std::int64_t& x : v) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    x = static_cast<std::int64_t>(z ^ (z >> 31));
  }
  return v;
}

template <class T>
void hash(std::int64_t& held, std::int64_t a, std::int64_t b) {
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  const auto wide = [](auto v) { return static_cast<std::uint64_t>(v); };
  const T sum = static_cast<T>(wide(x) * wide(y) + wide(x));
  const T value = x < y ? sum : static_cast<T>(x ^ y);
  held = static_cast<std::int64_t>(wide(held) * hash_factor + wide(value));
}

program_question integers() {
  const std::vector<std::int64_t> a = words(each, 1), b = words(each, 2);
  program_question q{"proof of integers"};
  const std::uint32_t x = q.input(make_tensor(a)), y = q.input(make_tensor(b));
  const std::uint32_t factor = q.scalar(TUTTI_I64, hash_factor);
  const auto narrowed = [&](std::uint8_t type, std::uint32_t v) {
    return type == TUTTI_I64 ? v : q.op(TUTTI_OP_cast, type, {v});
  };
  std::uint32_t held = x;
  for (const std::uint8_t type :
       {TUTTI_I8, TUTTI_I16, TUTTI_I32, TUTTI_I64, TUTTI_U8, TUTTI_U16, TUTTI_U32, TUTTI_U64}) {
    const std::uint32_t p = narrowed(type, x), s = narrowed(type, y);
    const std::uint32_t sum = q.op(TUTTI_OP_add, type, {q.op(TUTTI_OP_multiply, type, {p, s}), p});
    const std::uint32_t value = q.op(
        TUTTI_OP_where, type,
        {q.op(TUTTI_OP_less, TUTTI_BOOL, {p, s}), sum, q.op(TUTTI_OP_bitwise_xor, type, {p, s})});
    const std::uint32_t wide = type == TUTTI_I64 ? value : q.op(TUTTI_OP_cast, TUTTI_I64, {value});
    held =
        q.op(TUTTI_OP_add, TUTTI_I64, {q.op(TUTTI_OP_multiply, TUTTI_I64, {held, factor}), wide});
  }
  q.result = held;
  std::vector<std::int64_t> right(each);
  for (std::size_t i = 0; i < each; ++i) {
    std::int64_t h = a[i];
    hash<std::int8_t>(h, a[i], b[i]);
    hash<std::int16_t>(h, a[i], b[i]);
    hash<std::int32_t>(h, a[i], b[i]);
    hash<std::int64_t>(h, a[i], b[i]);
    hash<std::uint8_t>(h, a[i], b[i]);
    hash<std::uint16_t>(h, a[i], b[i]);
    hash<std::uint32_t>(h, a[i], b[i]);
    hash<std::uint64_t>(h, a[i], b[i]);
    right[i] = h;
  }
  q.known = {make_tensor(right)};
  return q;
}

/// The first block of Philox4x32-10 under key 0, as published with it (Salmon et al., SC 2011).
program_question random_words() {
  constexpr double block[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  numbers index(each), right(each);
  for (std::size_t i = 0; i < each; ++i) {
    index[i] = static_cast<double>(i % 4);
    right[i] = block[i % 4];
  }
  program_question q{"proof of random bits"};
  const std::uint32_t at = q.input(row(TUTTI_I64, index)), key = q.scalar(TUTTI_U64, 0);
  q.result = q.op(TUTTI_OP_philox, TUTTI_U32, {at, key});
  q.known = {row(TUTTI_U32, right)};
  return q;
}

/// Numbers whose real and imaginary parts alternate.
tensor complex_row(std::uint8_t type, const numbers& parts) {
  const auto part = static_cast<std::int32_t>(real_dtype(static_cast<dtype>(type)));
  tensor t = make_tensor(part, {parts.size() / 2}, parts);
  t.type = type;
  return t;
}

program_question complex_numbers(std::uint8_t type) {
  const numbers a = whole_numbers(2 * each, 5, -9, 9), b = whole_numbers(2 * each, 6, -9, 9);
  numbers right(2 * each);
  for (std::size_t i = 0; i < right.size(); i += 2) {
    right[i] = a[i] * b[i] - a[i + 1] * b[i + 1] + a[i];
    right[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i] - a[i + 1];
  }
  program_question q{"proof of " + type_name(type)};
  const std::uint32_t x = q.input(complex_row(type, a)), y = q.input(complex_row(type, b));
  q.result = q.op(TUTTI_OP_add, type,
                  {q.op(TUTTI_OP_multiply, type, {x, y}), q.op(TUTTI_OP_conj, type, {x})});
  q.known = {complex_row(type, right)};
  return q;
}

// ---- reductions

/// Of [rows, columns] numbers: f(result, number, place among the reduced ones) for each.
template <class F>
numbers reduced_values(const tensor& x, bool along_columns, F&& f) {
  const std::uint64_t rows = x.extents[0], columns = x.extents[1];
  numbers out(along_columns ? columns : rows);
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < columns; ++c)
      f(out[along_columns ? c : r], r * columns + c, along_columns ? r : c);
  return out;
}

program_question reduction(reduced what, std::uint8_t type, bool along_columns) {
  const std::uint64_t rows = along_columns ? 67 : 7, columns = along_columns ? 41 : 501;
  const bool truths = what == reduced::truths;
  const numbers values =
      truths ? whole_numbers(rows * columns, 8, 0, 400) : whole_numbers(rows * columns, 8, -3, 3);
  tensor x = make_tensor(truths ? std::int32_t{TUTTI_I32} : type, {rows, columns}, values);
  program_question q{"proof of reductions"};
  q.along_columns = along_columns;
  const auto stored = [&](std::int32_t as, const numbers& right) { return row(as, right); };
  if (what == reduced::values) {
    q.known = {stored(type, reduced_values(x, along_columns, [&](double& sum, auto i, auto) {
                        sum += values[i] * values[i];
                      }))};
    const std::uint32_t in = q.input(std::move(x));
    q.result = q.op(TUTTI_OP_multiply, type, {in, in});
    q.reduction = TUTTI_REDUCE_SUM;
    q.accumulator = type;
  } else if (truths) {
    q.known = {stored(TUTTI_BOOL, reduced_values(x, along_columns, [&](double& any, auto i, auto) {
                        if (values[i] == 0) any = 1;
                      }))};
    const std::uint32_t in = q.input(std::move(x)), zero = q.scalar(TUTTI_I32, 0);
    q.result = q.op(TUTTI_OP_equal, TUTTI_BOOL, {in, zero});
    q.reduction = TUTTI_REDUCE_ANY;
    q.accumulator = TUTTI_BOOL;
  } else {
    numbers best(along_columns ? columns : rows, -infinity);
    numbers right(best.size());
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::uint64_t kept = along_columns ? i % columns : i / columns;
      if (values[i] <= best[kept]) continue;
      best[kept] = values[i];
      right[kept] = static_cast<double>(along_columns ? i / columns : i % columns);
    }
    q.known = {stored(TUTTI_I64, right)};
    q.result = q.input(std::move(x));
    q.reduction = TUTTI_REDUCE_ARGMAX;
    q.accumulator = type;
  }
  return q;
}

}  // namespace

std::optional<program_question> question_of_program(const kernel_family& f) {
  if (f.kind == kinds::random_bits) return random_words();
  if (f.kind == kinds::reductions)
    return reduction(static_cast<reduced>(f.variant % 3), f.type, f.variant >= 3);
  if (f.kind != kinds::arithmetic) return std::nullopt;
  switch (f.type) {
    case TUTTI_F32:
    case TUTTI_F64:
      return reals(f.type);
    case TUTTI_F16:
    case TUTTI_BF16:
      return halves(f.type);
    case TUTTI_C64:
    case TUTTI_C128:
      return complex_numbers(f.type);
    default:
      return integers();
  }
}

void add_facts(const kernel_family& f, const tensor& got, device_facts& facts) {
  if (f.kind != kinds::arithmetic) return;
  const auto type = static_cast<dtype>(f.type);
  const std::string of = std::string(name(type));
  if (!is_floating(type)) return;
  const bool is_real = type == dtype::f32 || type == dtype::f64;
  const std::size_t first = is_real ? first_tiny : each, count = is_real ? tiny_count : 2;
  std::size_t kept = 0;
  for (std::size_t i = first; i < first + count; ++i) kept += element(got, i) != 0 ? 1 : 0;
  facts["denormals of " + of] = kept == count ? "kept"
                                : kept == 0   ? "flushed to zero"
                                              : "flushed to zero by some operations";
  if (!is_real) return;
  const answer known = reals(f.type).known;
  double worst = 0;
  for (std::size_t i = each; i < 2 * each; ++i) {
    const double right = element(known.right, i);
    if (right == 0) continue;
    const double ulp = std::ldexp(finfo(type).epsilon, std::ilogb(right));
    worst = std::max(worst, std::fabs(element(got, i) - right) / ulp);
  }
  facts["division of " + of] =
      worst == 0 ? "correctly rounded" : fmt::format("within {:.1f} ulp", worst + 0.5);
}

}  // namespace tutti::detail
