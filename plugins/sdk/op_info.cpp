// SPDX-License-Identifier: Apache-2.0
//
// The operator table and the dtypes as data.
#include "sdk/op_info.hpp"

#include <array>

namespace tutti::sdk {
namespace {

using enum op_kind;
using enum op_result;

constexpr op_info rows[] = {
#define TUTTI_OP(id, name, arity, kinds, result, ft, it, host, gradient, low, high, ulp, doc) \
  {id, #name, arity, kinds, result, low, high, ulp},
#include "tutti/op_table.def"
#undef TUTTI_OP
};

constexpr size_t largest_opcode() {
  size_t largest = 0;
  for (const op_info& row : rows) largest = row.opcode > largest ? row.opcode : largest;
  return largest;
}

constexpr auto by_opcode = [] {
  std::array<const op_info*, largest_opcode() + 1> table{};
  for (const op_info& row : rows) table[row.opcode] = &row;
  return table;
}();

struct dtype_row {
  const char* name;
  uint32_t size;
};

constexpr dtype_row dtypes[] = {{"invalid", 0}, {"bool", 1}, {"i8", 1},  {"i16", 2},
                                {"i32", 4},     {"i64", 8},  {"u8", 1},  {"u16", 2},
                                {"u32", 4},     {"u64", 8},  {"f16", 2}, {"bf16", 2},
                                {"f32", 4},     {"f64", 8},  {"c64", 8}, {"c128", 16}};

const dtype_row& row_of(int32_t dtype) {
  const bool known = dtype >= 0 && static_cast<size_t>(dtype) < std::size(dtypes);
  return dtypes[known ? dtype : 0];
}

}  // namespace

std::span<const op_info> op_rows() { return rows; }

const op_info* find_op(uint16_t opcode) {
  return opcode < by_opcode.size() ? by_opcode[opcode] : nullptr;
}

bool accepts(op_kind kind, uint8_t dtype) {
  switch (kind) {
    case NUMERIC:
      return is_register(dtype) && dtype != TUTTI_BOOL;
    case REAL:
      return is_integer(dtype) || is_floating(dtype);
    case FLOATING:
      return is_floating(dtype) || is_complex(dtype);
    case REAL_FLOATING:
      return is_floating(dtype);
    case INTEGRAL:
      return is_integer(dtype) || dtype == TUTTI_BOOL;
    case LOGICAL:
      return dtype == TUTTI_BOOL;
    case ANY:
      return is_register(dtype);
    case IR:
      break;
  }
  return false;
}

uint8_t result_dtype(op_result rule, uint8_t d) {
  switch (rule) {
    case BOOL:
      return TUTTI_BOOL;
    case REAL_OF:
      return part_dtype(d);
    case COMPLEX_OF:
      return static_cast<uint8_t>(part_dtype(d) == TUTTI_F64 ? TUTTI_C128 : TUTTI_C64);
    case SAME:
      break;
  }
  return d;
}

uint32_t dtype_size(int32_t dtype) { return row_of(dtype).size; }
const char* dtype_name(int32_t dtype) { return row_of(dtype).name; }

}  // namespace tutti::sdk
