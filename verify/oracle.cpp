// SPDX-License-Identifier: Apache-2.0
//
// The oracle, see oracle.hpp.
#include "oracle.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "sdk/host_types.hpp"
#include "semantics/host_math.hpp"

namespace tutti::conformance {
namespace {

using sdk::with_real_type;
using enum sdk::op_kind;
using enum sdk::op_result;

template <typename T>
T unpack(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <typename T>
uint64_t pack(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);  // sign extends
  }
}

// ---- the table

#define TUTTI_OP(id, name, arity, kinds, result, float_text, int_text, expression, gradient, low, \
                 high, ulp_, doc)                                                                 \
  struct name##_row {                                                                             \
    static constexpr sdk::op_kind kind = kinds;                                                   \
    static constexpr sdk::op_result rule = result;                                                \
    static constexpr bool boolean = result == BOOL;                                               \
    static constexpr bool exact = (ulp_) == 0;                                                    \
    template <typename A, typename T>                                                             \
    static auto evaluate([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) {      \
      return expression;                                                                          \
    }                                                                                             \
  };
#include "tutti/op_table.def"
#undef TUTTI_OP

template <typename T>
using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <typename Row, typename T>
uint64_t evaluate_row(uint64_t a, uint64_t b, uint64_t c) {
  if constexpr (std::is_same_v<Row, where_row>) {
    return a != 0 ? b : c;
  } else if constexpr (std::is_floating_point_v<T> && !Row::exact) {
    using W = wider<T>;
    return pack(
        static_cast<T>(Row::template evaluate<W, W>(unpack<T>(a), unpack<T>(b), unpack<T>(c))));
  } else {
    using Result = std::conditional_t<Row::boolean, bool, T>;
    return pack(static_cast<Result>(
        Row::template evaluate<T, T>(unpack<T>(a), unpack<T>(b), unpack<T>(c))));
  }
}

template <typename Row>
uint64_t evaluate_dtype(uint8_t dtype, uint64_t a, uint64_t b, uint64_t c) {
  return with_real_type(dtype, [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    // Complex numbers have a separate oracle: complex_groups.cpp.
    if constexpr (Row::rule != COMPLEX_OF && (host::takes<T>(Row::kind) || Row::kind == IR)) {
      return evaluate_row<Row, T>(a, b, c);
    }
    throw failure("the oracle has no such instruction");
  });
}

template <typename Row, typename T>
wide_complex evaluate_wide_row(T a, T b, T c) {
  if constexpr (Row::kind == IR) {
    return a != T(0) ? b : c;
  } else if constexpr (host::takes<T>(Row::kind)) {
    return host::convert<wide_complex>(Row::template evaluate<T, T>(a, b, c));
  } else {
    throw failure("the oracle has no such instruction on these numbers");
  }
}

template <typename T>
wide_complex evaluate_wide_as(uint16_t opcode, T a, T b, T c) {
  switch (opcode) {
#define TUTTI_OP(id, name, ...) \
  case id:                      \
    return evaluate_wide_row<name##_row, T>(a, b, c);
#include "tutti/op_table.def"
#undef TUTTI_OP
    default:
      fail("opcode {} is unknown", opcode);
  }
}

template <typename T>
std::vector<uint64_t> make_specials() {
  using limits = std::numeric_limits<T>;
  std::vector<T> list;
  if constexpr (std::is_same_v<T, bool>) {
    return {0, 1};
  } else if constexpr (std::is_floating_point_v<T>) {
    for (const double x : {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 100.25, 1e-5, 1e10})
      list.push_back(static_cast<T>(x));
    for (const T x : {limits::epsilon(), limits::min(), limits::denorm_min(), limits::min() / 4,
                      limits::max(), limits::infinity()})
      list.push_back(x);
    for (size_t i = list.size(); i-- > 0;) list.push_back(-list[i]);
    list.push_back(limits::quiet_NaN());
  } else {
    for (const int x : {0, 1, 2, 3, 7, 15, 31, 63, -1, -2, -7}) list.push_back(static_cast<T>(x));
    for (const int x : {0, 1}) {
      list.push_back(static_cast<T>(limits::max() - x));
      list.push_back(static_cast<T>(limits::min() + x));
    }
    list.push_back(limits::max() / 2);
  }
  std::vector<uint64_t> bits;
  for (const T value : list) bits.push_back(pack(value));
  return bits;
}

template <typename T, typename U>
uint64_t float_distance(uint64_t a, uint64_t b) {
  const T x = unpack<T>(a), y = unpack<T>(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? 0 : uint64_t{1} << 63;
  const auto steps = [](T value) {
    const auto magnitude = static_cast<__int128_t>(std::bit_cast<U>(std::fabs(value)));
    return std::signbit(value) ? -magnitude : magnitude;
  };
  const __int128_t difference = steps(x) - steps(y);
  return static_cast<uint64_t>(difference < 0 ? -difference : difference);
}

}  // namespace

long double real_of(uint8_t dtype, uint64_t bits) {
  return with_real_type(dtype, [&](auto tag) {
    return static_cast<long double>(unpack<typename decltype(tag)::type>(bits));
  });
}

uint64_t bits_of(uint8_t dtype, long double value) {
  return dtype == TUTTI_F32 ? pack(static_cast<float>(value)) : pack(static_cast<double>(value));
}

uint64_t from_storage(uint8_t dtype, uint64_t raw) {
  const auto half = static_cast<uint16_t>(raw);
  if (dtype == TUTTI_F16) return pack(host::half_to_float(half));
  if (dtype == TUTTI_BF16) return pack(host::bfloat16_to_float(half));
  return with_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return pack(unpack<T>(raw));
  });
}

uint64_t to_storage(uint8_t dtype, uint64_t register_bits) {
  if (dtype == TUTTI_F16) return host::float_to_half(unpack<float>(register_bits));
  if (dtype == TUTTI_BF16) return host::float_to_bfloat16(unpack<float>(register_bits));
  return register_bits;
}

uint64_t convert(uint8_t from, uint8_t to, uint64_t bits) {
  if (to == TUTTI_BOOL) return real_of(from, bits) != 0 ? 1 : 0;
  if (!sdk::is_floating(to) && !sdk::is_floating(from)) return from_storage(to, bits);
  if (sdk::is_floating(to)) {
    // Directly from an integer or a wider float: one rounding, since long double represents both.
    return bits_of(to, real_of(from, bits));
  }
  const long double value = real_of(from, bits);
  if (std::isnan(value)) return 0;
  return with_real_type(to, [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    const long double low = static_cast<long double>(std::numeric_limits<T>::min());
    const long double high = static_cast<long double>(std::numeric_limits<T>::max());
    return pack(static_cast<T>(std::trunc(std::min(std::max(value, low), high))));
  });
}

uint64_t evaluate(uint16_t opcode, uint8_t dtype, uint64_t a, uint64_t b, uint64_t c) {
  switch (opcode) {
#define TUTTI_OP(id, name, ...) \
  case id:                      \
    return evaluate_dtype<name##_row>(dtype, a, b, c);
#include "tutti/op_table.def"
#undef TUTTI_OP
    default:
      fail("opcode {} is unknown", opcode);
  }
}

wide_complex evaluate_wide(uint16_t opcode, long double a, long double b, long double c) {
  return evaluate_wide_as(opcode, a, b, c);
}

wide_complex evaluate_wide(uint16_t opcode, wide_complex a, wide_complex b) {
  return evaluate_wide_as(opcode, a, b, wide_complex());
}

uint64_t ulp_distance(uint8_t dtype, uint64_t a, uint64_t b) {
  return dtype == TUTTI_F32 ? float_distance<float, uint32_t>(a, b)
                            : float_distance<double, uint64_t>(a, b);
}

std::string value_text(uint8_t dtype, uint64_t bits) {
  char text[96];
  if (sdk::is_floating(dtype)) {
    const auto value = static_cast<double>(real_of(dtype, bits));
    std::snprintf(text, sizeof text, "%.17g (%a)", value, value);
    return text;
  }
  if (dtype >= TUTTI_I8 && dtype <= TUTTI_I64) return std::to_string(static_cast<int64_t>(bits));
  return std::to_string(bits);
}

uint64_t random_value(uint8_t dtype, double low, double high, generator& random) {
  if (dtype == TUTTI_BOOL) return random() & 1u;
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  const double value = low + (high - low) * unit;
  if (sdk::is_floating(dtype)) return bits_of(dtype, value);
  const bool is_unsigned = dtype >= TUTTI_U8;
  const double rounded = std::nearbyint(is_unsigned ? std::fabs(value) : value);
  return from_storage(dtype, static_cast<uint64_t>(static_cast<int64_t>(rounded)));
}

uint64_t random_bits(uint8_t dtype, generator& random) {
  const uint64_t bits = random();
  return dtype == TUTTI_BOOL ? bits & 1u : from_storage(dtype, bits);
}

const std::vector<uint64_t>& special_values(uint8_t register_dtype) {
  static std::map<uint8_t, std::vector<uint64_t>> lists;
  auto& list = lists[register_dtype];
  if (list.empty()) {
    list = with_real_type(register_dtype,
                          [](auto tag) { return make_specials<typename decltype(tag)::type>(); });
  }
  return list;
}

}  // namespace tutti::conformance
