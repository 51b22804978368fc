// SPDX-License-Identifier: Apache-2.0
//
// The rows of op_table.def as data: arity, operand kinds, result, test range, tolerance. For
// validation, interpreters and `tutti verify`.
#pragma once

#include <cstdint>
#include <span>

#include "semantics/row_kinds.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

using op_kind = host::row_kind;
using op_result = host::row_result;

struct op_info {
  uint16_t opcode;
  const char* name;
  uint8_t arity;
  op_kind kind;
  op_result result;
  double low, high, ulp;
};

// All rows, in table order.
std::span<const op_info> op_rows();

// NULL for a number that is not an opcode.
const op_info* find_op(uint16_t opcode);

// Whether operands of this register dtype are allowed; IR rows have their own rules.
bool accepts(op_kind kind, uint8_t dtype);

inline bool is_floating(uint8_t d) { return d == TUTTI_F32 || d == TUTTI_F64; }
inline bool is_complex(uint8_t d) { return d == TUTTI_C64 || d == TUTTI_C128; }
inline bool is_integer(uint8_t d) { return d >= TUTTI_I8 && d <= TUTTI_U64; }
inline bool is_storage_only(uint8_t d) { return d == TUTTI_F16 || d == TUTTI_BF16; }
// Whether instructions can produce the dtype.
inline bool is_register(uint8_t d) {
  return d == TUTTI_BOOL || is_integer(d) || is_floating(d) || is_complex(d);
}
// The dtype of the parts of a complex dtype; other dtypes are unchanged.
inline uint8_t part_dtype(uint8_t d) {
  if (d == TUTTI_C64) return TUTTI_F32;
  return d == TUTTI_C128 ? static_cast<uint8_t>(TUTTI_F64) : d;
}
// The result dtype of a row for operands of register dtype `d`.
uint8_t result_dtype(op_result rule, uint8_t d);
// The register dtype of an input of stored dtype `d`.
inline uint8_t register_dtype(uint8_t d) {
  return is_storage_only(d) ? static_cast<uint8_t>(TUTTI_F32) : d;
}

// Bytes per element, 0 for a number that is not a dtype.
uint32_t dtype_size(int32_t dtype);
// "f32", "i64", ...; "invalid" for a number that is not a dtype.
const char* dtype_name(int32_t dtype);

}  // namespace tutti::sdk
