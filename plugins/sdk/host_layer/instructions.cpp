// SPDX-License-Identifier: Apache-2.0
//
// One loop per row of op_table.def and dtype: the expression in the row's `host` column.
#include "sdk/host_layer/instructions.hpp"

#include <algorithm>
#include <type_traits>

#include "sdk/host_types.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

using enum op_kind;
using enum op_result;

// A row as a type with its name and expression. A is the type of the first operand.
#define TUTTI_OP(id, name, arity, kinds, result, float_text, int_text, expression, ...)      \
  struct name##_row {                                                                        \
    static constexpr op_kind kind = kinds;                                                   \
    static constexpr op_result result_kind = result;                                         \
    template <typename A, typename T>                                                        \
    static auto evaluate([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
      return expression;                                                                     \
    }                                                                                        \
  };
#include "tutti/op_table.def"
#undef TUTTI_OP

template <typename Row, typename First, typename T>
void run_row(const lanes& l) {
  using Result = host::row_result_t<Row::result_kind, T>;
  const auto* a = static_cast<const First*>(l.a);
  const auto* b = static_cast<const T*>(l.b);
  const auto* c = static_cast<const T*>(l.c);
  auto* result = static_cast<Result*>(l.result);
  for (size_t i = 0; i < l.count; ++i) {
    result[i] = static_cast<Result>(Row::evaluate(a[i], b[i], c[i]));
  }
}

template <typename Row>
instruction_fn find_row(const tutti_instruction&, const uint8_t* operand) {
  return with_register_type(operand[0], [](auto tag) -> instruction_fn {
    using T = typename decltype(tag)::type;
    if constexpr (host::takes<T>(Row::kind)) {
      return run_row<Row, T, T>;
    } else {
      throw_invalid("instruction is not defined for this dtype");
    }
  });
}

// ---- the rows of kind IR

template <>
instruction_fn find_row<where_row>(const tutti_instruction& instruction, const uint8_t*) {
  return with_register_type(instruction.dtype, [](auto tag) -> instruction_fn {
    return run_row<where_row, bool, typename decltype(tag)::type>;
  });
}

template <typename From, typename To>
void run_cast(const lanes& l) {
  const auto* a = static_cast<const From*>(l.a);
  auto* result = static_cast<To*>(l.result);
  for (size_t i = 0; i < l.count; ++i) result[i] = host::convert<To>(a[i]);
}

template <>
instruction_fn find_row<cast_row>(const tutti_instruction& instruction, const uint8_t* operand) {
  return with_register_type(operand[0], [to = instruction.dtype](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return with_register_type(to, [](auto to_tag) -> instruction_fn {
      using To = typename decltype(to_tag)::type;
      if constexpr (host::Complex<From> && !host::Complex<To> && !std::is_same_v<To, bool>) {
        throw_invalid("complex numbers become complex or bool only");
      } else {
        return run_cast<From, To>;
      }
    });
  });
}

void run_iota(const lanes& l) {
  auto* result = static_cast<int64_t*>(l.result);
  for (size_t i = 0; i < l.count; ++i) result[i] = l.first_index + static_cast<int64_t>(i);
}

template <>
instruction_fn find_row<iota_row>(const tutti_instruction&, const uint8_t*) {
  return run_iota;
}

void run_philox(const lanes& l) {
  const auto* index = static_cast<const int64_t*>(l.a);
  const auto* key = static_cast<const uint64_t*>(l.b);
  auto* result = static_cast<uint32_t*>(l.result);
  for (size_t i = 0; i < l.count; ++i) result[i] = host::philox(index[i], key[i]);
}

template <>
instruction_fn find_row<philox_row>(const tutti_instruction&, const uint8_t*) {
  return run_philox;
}

template <typename S>
void load(const std::byte* base, const int64_t* offset, size_t count, void* to) {
  auto* values = static_cast<typename S::value*>(to);
  for (size_t i = 0; i < count; ++i) {
    values[i] = S::load(base + offset[i] * S::bytes);
  }
}

template <typename S>
void store(std::byte* base, const int64_t* offset, size_t count, const void* from) {
  const auto* values = static_cast<const typename S::value*>(from);
  for (size_t i = 0; i < count; ++i) {
    S::store(base + offset[i] * S::bytes, values[i]);
  }
}

}  // namespace

instruction_fn find_instruction(const tutti_instruction& instruction, const uint8_t* operand) {
  switch (instruction.opcode) {
#define TUTTI_OP(id, name, ...) \
  case id:                      \
    return find_row<name##_row>(instruction, operand);
#include "tutti/op_table.def"
#undef TUTTI_OP
    default:
      throw_invalid("opcode ", instruction.opcode, " is unknown");
  }
}

load_fn find_load(uint8_t stored_dtype) {
  return with_stored_type(stored_dtype,
                          [](auto tag) -> load_fn { return load<typename decltype(tag)::type>; });
}

store_fn find_store(uint8_t stored_dtype) {
  return with_stored_type(stored_dtype,
                          [](auto tag) -> store_fn { return store<typename decltype(tag)::type>; });
}

void broadcast_scalar(uint8_t dtype, const tutti_scalar& scalar, void* to) {
  with_register_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = stored<T>::load(reinterpret_cast<const std::byte*>(&scalar));
    std::fill_n(static_cast<T*>(to), block_lanes, value);
  });
}

}  // namespace tutti::sdk
