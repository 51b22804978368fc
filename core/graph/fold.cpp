// SPDX-License-Identifier: Apache-2.0
//
// Constant folding and conversions of scalars.
#include "graph/fold.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "semantics/host_half.hpp"
#include "semantics/host_math.hpp"

namespace tutti::graph {
namespace {

template <class T>
T& field(tutti_scalar& s) {
  return *reinterpret_cast<T*>(&s);
}

template <class T>
T get(constant_value v) {
  if constexpr (host::Complex<T>) {
    using part = host::real_of_t<T>;
    return T(field<part>(v.real), field<part>(v.imaginary));
  } else {
    return field<T>(v.real);
  }
}

template <class T>
constant_value made_of(T value) {
  constant_value out;
  if constexpr (host::Complex<T>) {
    using part = host::real_of_t<T>;
    field<part>(out.real) = value.real();
    field<part>(out.imaginary) = value.imag();
  } else {
    field<T>(out.real) = value;
  }
  return out;
}

template <class From>
constant_value from_value(dtype t, From value) {
  return with_type(t, [&](auto to) {
    using T = decltype(to);
    if constexpr (host::Complex<From> && !host::Complex<T> && !std::is_same_v<T, bool>) {
      // The callers refuse this; zero constants need a real part.
      return made_of(host::convert<T>(value.real()));
    } else {
      T v = host::convert<T>(value);
      if constexpr (std::is_same_v<T, float>) {
        constexpr bool wider =
            std::is_same_v<From, double> || (std::is_integral_v<From> && sizeof(From) > 2);
        if constexpr (wider)
          if (is_floating(t) && t != dtype::f32) v = host::to_odd_float(value);
        if (t == dtype::f16) v = host::half_to_float(host::float_to_half(v));
        if (t == dtype::bf16) v = host::bfloat16_to_float(host::float_to_bfloat16(v));
      }
      return made_of(v);
    }
  });
}

template <class T>
std::optional<constant_value> fold_as(tutti_opcode opcode, dtype result, T a, T b) {
  switch (opcode) {
#define TUTTI_OP(id, name, arity, kind, result_rule, ft, it, expression, ...) \
  case TUTTI_OP_##name:                                                       \
    if constexpr (host::takes<T>(host::row_kind::kind)) {                     \
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

constant_value scalar_from(dtype t, double value) { return from_value(t, value); }
constant_value scalar_from(dtype t, std::int64_t value) { return from_value(t, value); }

double scalar_to_double(dtype t, tutti_scalar value) {
  return with_type(t, [&](auto to) {
    using T = decltype(to);
    return static_cast<double>(host::real(get<T>({value, {}})));
  });
}

constant_value convert_value(const constant_value& value, dtype from, dtype to) {
  return with_type(from, [&](auto type) { return from_value(to, get<decltype(type)>(value)); });
}

constant_value convert_constant(const node& n, dtype t) {
  if (!n.weak && n.type == t) return n.value();
  if (n.weak) {
    if (is_complex(n.type)) return from_value(t, get<std::complex<double>>(n.value()));
    if (is_floating(n.type)) return from_value(t, get<double>(n.value()));
    if (n.type == dtype::u64) return from_value(t, get<std::uint64_t>(n.value()));
    return from_value(t, get<std::int64_t>(n.value()));
  }
  return convert_value(n.value(), n.type, t);
}

std::optional<constant_value> fold(tutti_opcode opcode, dtype result, array_list inputs) {
  if (inputs.empty()) return std::nullopt;
  if (opcode == TUTTI_OP_cast) return convert_constant(*inputs[0].node(), result);
  if (opcode == TUTTI_OP_where) {
    const constant_value condition = convert_constant(*inputs[0].node(), dtype::boolean);
    return convert_constant(*inputs[condition.real.u8 != 0 ? 1 : 2].node(), result);
  }
  const dtype type = inputs[0].dtype();
  const constant_value a = convert_constant(*inputs[0].node(), type);
  const constant_value b = inputs.size() > 1 ? convert_constant(*inputs[1].node(), type) : a;
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    return fold_as<T>(opcode, result, get<T>(a), get<T>(b));
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
