// SPDX-License-Identifier: Apache-2.0
//
// The rows of op_table.def that machine code loops support.
#include "sdk/host_engine/traced_language.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {
namespace {

using namespace traced;

// Generated (write_traced_rows.cpp): functions, then the array `traced_rows`.
#include "traced_rows.inc"

}  // namespace

const traced_row* find_traced(uint16_t opcode, uint8_t of, uint8_t result) {
  for (const traced_row& row : traced_rows)
    if (row.opcode == opcode && row.of == of && row.result == result) return &row;
  return nullptr;
}

}  // namespace tutti::sdk
