// SPDX-License-Identifier: Apache-2.0
//
// Freezes the plugin ABI: every size, offset, enumerator and opcode of plugin.h as literal numbers
// (abi_rows.inc, which freeze.py writes). From the release of 2.0 on a failure here means that
// plugin.h changed in a way that breaks plugins that exist: new fields and opcodes get new rows
// then, and rows that are there do not change, but for the sizes of structs that grew. Until then
// the rows follow the header.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "tutti/plugin.h"

extern "C" int tutti_plugin_header_is_c(void);

namespace {

struct frozen {
  const char* name;
  uint64_t actual, expected;
};

void compare(const frozen& row) {
  BOOST_CHECK_MESSAGE(row.actual == row.expected,
                      row.name << " is " << row.actual << ", frozen as " << row.expected);
}

struct opcode_row {
  const char* name;
  uint64_t number;
};

// Each kind of row in turn.
// clang-format off
#define ABI_SIZE(type, size) {#type, sizeof(type), size},
#define ABI_FIELD(...)
#define ABI_CONSTANT(...)
#define ABI_OPCODE(...)
const frozen sizes[] = {
#include "abi_rows.inc"
};
#undef ABI_SIZE
#undef ABI_FIELD
#define ABI_SIZE(...)
#define ABI_FIELD(type, field, offset) {#type "." #field, offsetof(type, field), offset},
const frozen offsets[] = {
#include "abi_rows.inc"
};
#undef ABI_FIELD
#undef ABI_CONSTANT
#define ABI_FIELD(...)
#define ABI_CONSTANT(name, value) {#name, static_cast<uint64_t>(name), value},
const frozen constants[] = {
#include "abi_rows.inc"
};
#undef ABI_CONSTANT
#undef ABI_OPCODE
#define ABI_CONSTANT(...)
#define ABI_OPCODE(name, number) {#name, number},
const opcode_row opcodes[] = {
#include "abi_rows.inc"
};

const opcode_row table[] = {
#define TUTTI_OP(id, name, ...) {#name, id},
#include "tutti/op_table.def"
#undef TUTTI_OP
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_SUITE(plugin_abi)

BOOST_AUTO_TEST_CASE(sizes_are_frozen) {
  for (const frozen& row : sizes) compare(row);
}

BOOST_AUTO_TEST_CASE(offsets_are_frozen) {
  for (const frozen& row : offsets) compare(row);
}

BOOST_AUTO_TEST_CASE(enumerators_are_frozen) {
  for (const frozen& row : constants) compare(row);
}

BOOST_AUTO_TEST_CASE(opcodes_are_frozen) {
  BOOST_REQUIRE_GE(std::size(table), std::size(opcodes));
  for (const opcode_row& row : opcodes) {
    bool found = false;
    for (const opcode_row& now : table) {
      if (std::string(now.name) != row.name) continue;
      found = true;
      BOOST_CHECK_MESSAGE(now.number == row.number,
                          row.name << " is opcode " << now.number << ", frozen as " << row.number);
    }
    BOOST_CHECK_MESSAGE(found, "opcode " << row.name << " is gone");
  }
}

BOOST_AUTO_TEST_CASE(opcodes_are_unique_and_frozen_here) {
  std::set<uint64_t> numbers;
  std::set<std::string> known;
  for (const opcode_row& row : opcodes) known.insert(row.name);
  for (const opcode_row& now : table) {
    BOOST_CHECK_MESSAGE(numbers.insert(now.number).second, "opcode " << now.number << " twice");
    BOOST_CHECK_MESSAGE(now.number > 0 && now.number < 65536, now.name << " does not fit 16 bits");
    BOOST_CHECK_MESSAGE(known.count(now.name) == 1, now.name << " is not frozen here yet");
  }
}

// Every struct begins with its size, but for the elements of arrays.
BOOST_AUTO_TEST_CASE(structs_begin_with_their_size) {
  for (const frozen& row : offsets) {
    const std::string name = row.name;
    if (name.size() > 12 && name.substr(name.size() - 12) == ".struct_size") {
      BOOST_CHECK_MESSAGE(row.actual == 0, name << " is not first");
    }
  }
}

BOOST_AUTO_TEST_CASE(header_compiles_as_c99) { BOOST_CHECK_EQUAL(tutti_plugin_header_is_c(), 1); }

BOOST_AUTO_TEST_SUITE_END()
