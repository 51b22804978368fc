// SPDX-License-Identifier: Apache-2.0
//
// Constant folding and conversions of scalars.
#include "graph/fold.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "op/host_half.hpp"
#include "op/host_math.hpp"

namespace tutti::graph {
namespace {

template <class T>
T& field(tutti_scalar& s) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>)
    return reinterpret_cast<T&>(s.u8);
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return s.i8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return s.u16;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return s.i16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return s.u32;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return s.i32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return s.u64;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return s.i64;
  else if constexpr (std::is_same_v<T, float>)
    return s.f32;
  else
    return s.f64;
}

// Calls f with a value of the C++ type of compute_dtype(t).
template <class F>
auto with_type(dtype t, F&& f) {
  switch (compute_dtype(t)) {
    case dtype::boolean:
      return f(bool{});
    case dtype::i8:
      return f(std::int8_t{});
    case dtype::i16:
      return f(std::int16_t{});
    case dtype::i32:
      return f(std::int32_t{});
    case dtype::i64:
      return f(std::int64_t{});
    case dtype::u8:
      return f(std::uint8_t{});
    case dtype::u16:
      return f(std::uint16_t{});
    case dtype::u32:
      return f(std::uint32_t{});
    case dtype::u64:
      return f(std::uint64_t{});
    case dtype::f32:
      return f(float{});
    default:
      return f(double{});
  }
}

template <class From>
tutti_scalar from_value(dtype t, From value) {
  tutti_scalar s{};
  with_type(t, [&](auto to) {
    using T = decltype(to);
    T v = host::convert<T>(value);
    if constexpr (std::is_same_v<T, float>) {
      if (t == dtype::f16) v = host::half_to_float(host::float_to_half(v));
      if (t == dtype::bf16) v = host::bfloat16_to_float(host::float_to_bfloat16(v));
    }
    field<T>(s) = v;
  });
  return s;
}

// Rows of the table as functions of one type; `defined` tells where the expression has a meaning.
enum class kinds { NUMERIC, FLOATING, INTEGRAL, LOGICAL, ANY, IR };

template <class T>
constexpr bool defined(kinds k) {
  constexpr bool is_float = std::is_floating_point_v<T>;
  constexpr bool is_boolean = std::is_same_v<T, bool>;
  switch (k) {
    case kinds::NUMERIC:
      return !is_boolean;
    case kinds::FLOATING:
      return is_float;
    case kinds::INTEGRAL:
      return !is_float;
    case kinds::LOGICAL:
      return is_boolean;
    case kinds::ANY:
      return true;
    case kinds::IR:
      return false;
  }
  return false;
}

template <class T>
std::optional<tutti_scalar> fold_as(tutti_opcode opcode, dtype result, T a, T b) {
  switch (opcode) {
#define TUTTI_OP(id, name, arity, kind, result_rule, ft, it, expression, ...) \
  case TUTTI_OP_##name:                                                       \
    if constexpr (defined<T>(kinds::kind)) {                                  \
      [[maybe_unused]] const T c{};                                           \
      return from_value(result, (expression));                                \
    } else {                                                                  \
      return std::nullopt;                                                    \
    }
#include "tutti/op_table.def"
#undef TUTTI_OP
    default:
      return std::nullopt;
  }
}

}  // namespace

tutti_scalar scalar_from(dtype t, double value) { return from_value(t, value); }
tutti_scalar scalar_from(dtype t, std::int64_t value) { return from_value(t, value); }

double scalar_to_double(dtype t, tutti_scalar value) {
  return with_type(t, [&](auto to) { return static_cast<double>(field<decltype(to)>(value)); });
}

tutti_scalar convert_constant(const node& n, dtype t) {
  if (n.weak) {
    if (is_floating(n.type)) return from_value(t, n.value.f64);
    if (n.type == dtype::u64) return from_value(t, n.value.u64);
    return from_value(t, n.value.i64);
  }
  tutti_scalar value = n.value;
  return with_type(n.type, [&](auto from) { return from_value(t, field<decltype(from)>(value)); });
}

std::optional<tutti_scalar> fold(tutti_opcode opcode, dtype result, std::span<const array> inputs) {
  if (inputs.empty()) return std::nullopt;
  if (opcode == TUTTI_OP_cast) return convert_constant(*inputs[0].node(), result);
  if (opcode == TUTTI_OP_where) {
    tutti_scalar condition = convert_constant(*inputs[0].node(), dtype::boolean);
    return convert_constant(*inputs[condition.u8 != 0 ? 1 : 2].node(), result);
  }
  const dtype type = inputs[0].dtype();
  tutti_scalar a = convert_constant(*inputs[0].node(), type);
  tutti_scalar b = inputs.size() > 1 ? convert_constant(*inputs[1].node(), type) : a;
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    return fold_as<T>(opcode, result, field<T>(a), field<T>(b));
  });
}

std::optional<std::pair<std::int64_t, std::int64_t>> integer_range(const void* data, dtype t,
                                                                   std::int64_t count) {
  if (!is_integral(t) || count == 0) return std::nullopt;
  return with_type(t, [&](auto type) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
    using T = decltype(type);
    if constexpr (std::is_same_v<T, bool> || !std::is_integral_v<T>) {
      return std::nullopt;
    } else {
      const T* values = static_cast<const T*>(data);
      const auto [low, high] = std::minmax_element(values, values + count);
      if (!std::in_range<std::int64_t>(*high)) return std::nullopt;
      return std::pair{static_cast<std::int64_t>(*low), static_cast<std::int64_t>(*high)};
    }
  });
}

}  // namespace tutti::graph
