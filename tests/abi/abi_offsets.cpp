// SPDX-License-Identifier: Apache-2.0
//
// Freezes the plugin ABI: every size, offset, enumerator and opcode of plugin.h as literal numbers
// (abi_rows.inc, which freeze.py writes). From the release of 2.0 on a failure here means that
// plugin.h changed in a way that breaks plugins that exist: new fields and opcodes get new rows
// then, and rows that are there do not change, but for the sizes of structs that grew. Until then
// the rows follow the header. The structs of DLPack are as its specification lays them out.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "tutti/dlpack_structs.h"
#include "tutti/plugin.h"

extern "C" int tutti_plugin_header_is_c(void);

namespace {

struct frozen {
  const char* name;
  uint64_t actual, expected;
};

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

#define FIELD(type, field, offset) \
  { #type "." #field, offsetof(type, field), offset }
const frozen dlpack[] = {
    {"DLTensor", sizeof(DLTensor), 48},
    FIELD(DLTensor, data, 0),
    FIELD(DLTensor, device.device_type, 8),
    FIELD(DLTensor, device.device_id, 12),
    FIELD(DLTensor, ndim, 16),
    FIELD(DLTensor, dtype.code, 20),
    FIELD(DLTensor, dtype.bits, 21),
    FIELD(DLTensor, dtype.lanes, 22),
    FIELD(DLTensor, shape, 24),
    FIELD(DLTensor, strides, 32),
    FIELD(DLTensor, byte_offset, 40),
    {"DLManagedTensor", sizeof(DLManagedTensor), 64},
    FIELD(DLManagedTensor, dl_tensor, 0),
    FIELD(DLManagedTensor, manager_ctx, 48),
    FIELD(DLManagedTensor, deleter, 56),
    {"DLManagedTensorVersioned", sizeof(DLManagedTensorVersioned), 80},
    FIELD(DLManagedTensorVersioned, version.major, 0),
    FIELD(DLManagedTensorVersioned, version.minor, 4),
    FIELD(DLManagedTensorVersioned, manager_ctx, 8),
    FIELD(DLManagedTensorVersioned, deleter, 16),
    FIELD(DLManagedTensorVersioned, flags, 24),
    FIELD(DLManagedTensorVersioned, dl_tensor, 32),
    {"kDLCPU", kDLCPU, 1}, {"kDLCUDA", kDLCUDA, 2}, {"kDLCUDAHost", kDLCUDAHost, 3},
    {"kDLOpenCL", kDLOpenCL, 4}, {"kDLCUDAManaged", kDLCUDAManaged, 13},
    {"kDLInt", kDLInt, 0}, {"kDLUInt", kDLUInt, 1}, {"kDLFloat", kDLFloat, 2},
    {"kDLBfloat", kDLBfloat, 4}, {"kDLComplex", kDLComplex, 5}, {"kDLBool", kDLBool, 6},
    {"READ_ONLY", DLPACK_FLAG_BITMASK_READ_ONLY, 1},
    {"IS_COPIED", DLPACK_FLAG_BITMASK_IS_COPIED, 2},
    {"major", DLPACK_MAJOR_VERSION, 1},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_SUITE(plugin_abi)

BOOST_AUTO_TEST_CASE(sizes_offsets_and_enumerators_are_frozen) {
  for (const std::span<const frozen> rows :
       {std::span<const frozen>(sizes), {offsets}, {constants}, {dlpack}})
    for (const frozen& row : rows)
      BOOST_CHECK_MESSAGE(row.actual == row.expected,
                          row.name << " is " << row.actual << ", frozen as " << row.expected);
}

BOOST_AUTO_TEST_CASE(opcodes_are_unique_and_frozen) {
  std::map<std::string, uint64_t> recorded;
  for (const opcode_row& row : opcodes) recorded[row.name] = row.number;
  std::set<uint64_t> numbers;
  for (const opcode_row& now : table) {
    BOOST_CHECK_MESSAGE(numbers.insert(now.number).second, "opcode " << now.number << " twice");
    BOOST_CHECK_MESSAGE(now.number > 0 && now.number < 65536, now.name << " does not fit 16 bits");
    const auto row = recorded.find(now.name);
    BOOST_REQUIRE_MESSAGE(row != recorded.end(), now.name << " is not frozen here yet");
    BOOST_CHECK_MESSAGE(now.number == row->second,
                        now.name << " is opcode " << now.number << ", frozen as " << row->second);
    recorded.erase(row);
  }
  for (const auto& [name, number] : recorded) BOOST_ERROR("opcode " << name << " is gone");
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
