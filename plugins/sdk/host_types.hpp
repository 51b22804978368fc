// SPDX-License-Identifier: Apache-2.0
//
// Maps dtype numbers to C++ types for computing on the host; also used by `tutti verify`.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "semantics/host_half.hpp"

namespace tutti::sdk {

template <typename T>
struct type_tag {
  using type = T;
};

// Calls `f` with the tag of a real register dtype: bool, the integers, float, double.
template <typename F>
decltype(auto) with_real_type(uint8_t dtype, F&& f) {
  switch (dtype) {
    // clang-format off
    case TUTTI_BOOL: return f(type_tag<bool>{});
    case TUTTI_I8: return f(type_tag<int8_t>{});
    case TUTTI_I16: return f(type_tag<int16_t>{});
    case TUTTI_I32: return f(type_tag<int32_t>{});
    case TUTTI_I64: return f(type_tag<int64_t>{});
    case TUTTI_U8: return f(type_tag<uint8_t>{});
    case TUTTI_U16: return f(type_tag<uint16_t>{});
    case TUTTI_U32: return f(type_tag<uint32_t>{});
    case TUTTI_U64: return f(type_tag<uint64_t>{});
    case TUTTI_F32: return f(type_tag<float>{});
    case TUTTI_F64: return f(type_tag<double>{});
    // clang-format on
    default:
      throw_invalid("dtype ", dtype, " has no register type of this kind");
  }
}

// The same, including complex numbers.
template <typename F>
decltype(auto) with_register_type(uint8_t dtype, F&& f) {
  if (dtype == TUTTI_C64) return f(type_tag<std::complex<float>>{});
  if (dtype == TUTTI_C128) return f(type_tag<std::complex<double>>{});
  return with_real_type(dtype, f);
}

// The storage format of an element; `value` is its register type.
template <typename T>
struct stored {
  using value = T;
  static constexpr int64_t bytes = sizeof(T);
  static T load(const std::byte* from) {
    T result;
    std::memcpy(&result, from, sizeof(T));
    return result;
  }
  static void store(std::byte* to, T element) { std::memcpy(to, &element, sizeof(T)); }
};

// Any nonzero byte is true, only 1 is written.
template <>
struct stored<bool> {
  using value = bool;
  static constexpr int64_t bytes = 1;
  static bool load(const std::byte* from) { return *from != std::byte{0}; }
  static void store(std::byte* to, bool element) { *to = std::byte{element}; }
};

template <float (*Widen)(uint16_t), uint16_t (*Narrow)(float)>
struct stored_half {
  using value = float;
  static constexpr int64_t bytes = 2;
  static float load(const std::byte* from) { return Widen(stored<uint16_t>::load(from)); }
  static void store(std::byte* to, float element) { stored<uint16_t>::store(to, Narrow(element)); }
};

using stored_f16 = stored_half<host::half_to_float, host::float_to_half>;
using stored_bf16 = stored_half<host::bfloat16_to_float, host::float_to_bfloat16>;

// Calls `f` with the storage tag (stored<T>, stored_f16, stored_bf16) of a real stored dtype.
template <typename F>
decltype(auto) with_real_stored_type(uint8_t dtype, F&& f) {
  if (dtype == TUTTI_F16) return f(type_tag<stored_f16>{});
  if (dtype == TUTTI_BF16) return f(type_tag<stored_bf16>{});
  return with_real_type(dtype, [&](auto tag) -> decltype(auto) {
    return f(type_tag<stored<typename decltype(tag)::type>>{});
  });
}

// The same, including complex numbers.
template <typename F>
decltype(auto) with_stored_type(uint8_t dtype, F&& f) {
  if (dtype == TUTTI_C64) return f(type_tag<stored<std::complex<float>>>{});
  if (dtype == TUTTI_C128) return f(type_tag<stored<std::complex<double>>>{});
  return with_real_stored_type(dtype, f);
}

}  // namespace tutti::sdk
