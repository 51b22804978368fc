// SPDX-License-Identifier: Apache-2.0
//
// Freezes the plugin ABI: every size, offset, enumerator and opcode of plugin.h as literal numbers.
// The ABI is append-only, so a failure here means that plugin.h changed in a way that breaks
// plugins that exist. New fields and opcodes get new rows; rows that are here never change, but for
// the sizes of structs that grew.
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

// clang-format off
const frozen sizes[] = {
    {"tutti_status", sizeof(tutti_status), 40},
    {"tutti_scalar", sizeof(tutti_scalar), 8},
    {"tutti_host", sizeof(tutti_host), 80},
    {"tutti_device_properties", sizeof(tutti_device_properties), 152},
    {"tutti_device_api", sizeof(tutti_device_api), 48},
    {"tutti_memory_api", sizeof(tutti_memory_api), 40},
    {"tutti_event_times", sizeof(tutti_event_times), 24},
    {"tutti_stream_api", sizeof(tutti_stream_api), 96},
    {"tutti_profile_api", sizeof(tutti_profile_api), 24},
    {"tutti_transfer_api", sizeof(tutti_transfer_api), 32},
    {"tutti_instruction", sizeof(tutti_instruction), 16},
    {"tutti_program_operand", sizeof(tutti_program_operand), 8},
    {"tutti_program_desc", sizeof(tutti_program_desc), 80},
    {"tutti_operand", sizeof(tutti_operand), 80},
    {"tutti_program_launch", sizeof(tutti_program_launch), 120},
    {"tutti_program_api", sizeof(tutti_program_api), 48},
    {"tutti_view", sizeof(tutti_view), 152},
    {"tutti_matmul_params", sizeof(tutti_matmul_params), 16},
    {"tutti_range", sizeof(tutti_range), 16},
    {"tutti_view_desc", sizeof(tutti_view_desc), 152},
    {"tutti_operator_desc", sizeof(tutti_operator_desc), 48},
    {"tutti_operator_launch", sizeof(tutti_operator_launch), 56},
    {"tutti_operator_api", sizeof(tutti_operator_api), 72},
    {"tutti_scan_params", sizeof(tutti_scan_params), 24},
    {"tutti_scatter_params", sizeof(tutti_scatter_params), 16},
    {"tutti_sort_params", sizeof(tutti_sort_params), 16},
    {"tutti_search_params", sizeof(tutti_search_params), 16},
    {"tutti_partition_params", sizeof(tutti_partition_params), 16},
    {"tutti_collective_api", sizeof(tutti_collective_api), 96},
    {"tutti_native_api", sizeof(tutti_native_api), 48},
    {"tutti_plugin_api", sizeof(tutti_plugin_api), 112},
    {"tutti_buffer*", sizeof(tutti_buffer*), 8},
};

#define FIELD(type, field, offset) {#type "." #field, offsetof(type, field), offset}
const frozen offsets[] = {
    FIELD(tutti_status, struct_size, 0),
    FIELD(tutti_status, code, 8),
    FIELD(tutti_status, vendor_code, 12),
    FIELD(tutti_status, retryable, 16),
    FIELD(tutti_status, reserved, 20),
    FIELD(tutti_status, message, 24),
    FIELD(tutti_status, release, 32),
    FIELD(tutti_scalar, u8, 0),
    FIELD(tutti_scalar, i8, 0),
    FIELD(tutti_scalar, u16, 0),
    FIELD(tutti_scalar, i16, 0),
    FIELD(tutti_scalar, u32, 0),
    FIELD(tutti_scalar, i32, 0),
    FIELD(tutti_scalar, u64, 0),
    FIELD(tutti_scalar, i64, 0),
    FIELD(tutti_scalar, f32, 0),
    FIELD(tutti_scalar, f64, 0),
    FIELD(tutti_host, struct_size, 0),
    FIELD(tutti_host, abi_major, 8),
    FIELD(tutti_host, abi_minor, 12),
    FIELD(tutti_host, context, 16),
    FIELD(tutti_host, log, 24),
    FIELD(tutti_host, cache_load, 32),
    FIELD(tutti_host, cache_store, 40),
    FIELD(tutti_host, compiled, 48),
    FIELD(tutti_host, driver_folder, 56),
    FIELD(tutti_host, compile_begin, 64),
    FIELD(tutti_host, compile_end, 72),
    FIELD(tutti_device_properties, struct_size, 0),
    FIELD(tutti_device_properties, type, 8),
    FIELD(tutti_device_properties, compute_units, 12),
    FIELD(tutti_device_properties, name, 16),
    FIELD(tutti_device_properties, vendor, 24),
    FIELD(tutti_device_properties, driver, 32),
    FIELD(tutti_device_properties, cache_key, 40),
    FIELD(tutti_device_properties, memory_bytes, 48),
    FIELD(tutti_device_properties, max_allocation_bytes, 56),
    FIELD(tutti_device_properties, stored_dtypes, 64),
    FIELD(tutti_device_properties, computed_dtypes, 68),
    FIELD(tutti_device_properties, uuid, 72),
    FIELD(tutti_device_properties, has_uuid, 88),
    FIELD(tutti_device_properties, has_pci, 92),
    FIELD(tutti_device_properties, pci_domain, 96),
    FIELD(tutti_device_properties, pci_bus, 100),
    FIELD(tutti_device_properties, pci_device, 104),
    FIELD(tutti_device_properties, pci_function, 108),
    FIELD(tutti_device_properties, unified_memory, 112),
    FIELD(tutti_device_properties, max_inputs, 116),
    FIELD(tutti_device_properties, max_outputs, 120),
    FIELD(tutti_device_properties, max_instructions, 124),
    FIELD(tutti_device_properties, max_argument_bytes, 128),
    FIELD(tutti_device_properties, max_work_group_size, 132),
    FIELD(tutti_device_properties, alignment, 136),
    FIELD(tutti_device_properties, schedule, 144),
    FIELD(tutti_device_api, struct_size, 0),
    FIELD(tutti_device_api, count, 8),
    FIELD(tutti_device_api, properties, 16),
    FIELD(tutti_device_api, open, 24),
    FIELD(tutti_device_api, release, 32),
    FIELD(tutti_device_api, memory_available, 40),
    FIELD(tutti_memory_api, struct_size, 0),
    FIELD(tutti_memory_api, allocate, 8),
    FIELD(tutti_memory_api, release, 16),
    FIELD(tutti_memory_api, allocate_host, 24),
    FIELD(tutti_memory_api, release_host, 32),
    FIELD(tutti_event_times, struct_size, 0),
    FIELD(tutti_event_times, begin_ns, 8),
    FIELD(tutti_event_times, end_ns, 16),
    FIELD(tutti_stream_api, struct_size, 0),
    FIELD(tutti_stream_api, create, 8),
    FIELD(tutti_stream_api, release, 16),
    FIELD(tutti_stream_api, flush, 24),
    FIELD(tutti_stream_api, synchronize, 32),
    FIELD(tutti_stream_api, record, 40),
    FIELD(tutti_stream_api, wait, 48),
    FIELD(tutti_stream_api, event_wait, 56),
    FIELD(tutti_stream_api, event_query, 64),
    FIELD(tutti_stream_api, event_release, 72),
    FIELD(tutti_stream_api, create_host_event, 80),
    FIELD(tutti_stream_api, event_signal, 88),
    FIELD(tutti_profile_api, struct_size, 0),
    FIELD(tutti_profile_api, event_times, 8),
    FIELD(tutti_profile_api, clock, 16),
    FIELD(tutti_transfer_api, struct_size, 0),
    FIELD(tutti_transfer_api, write, 8),
    FIELD(tutti_transfer_api, read, 16),
    FIELD(tutti_transfer_api, copy, 24),
    FIELD(tutti_instruction, opcode, 0),
    FIELD(tutti_instruction, dtype, 2),
    FIELD(tutti_instruction, operand_count, 3),
    FIELD(tutti_instruction, operand, 4),
    FIELD(tutti_program_operand, dtype, 0),
    FIELD(tutti_program_operand, access, 1),
    FIELD(tutti_program_operand, reserved, 2),
    FIELD(tutti_program_operand, value, 4),
    FIELD(tutti_program_desc, struct_size, 0),
    FIELD(tutti_program_desc, ir_version, 8),
    FIELD(tutti_program_desc, kept_rank, 12),
    FIELD(tutti_program_desc, reduced_rank, 16),
    FIELD(tutti_program_desc, reduction, 20),
    FIELD(tutti_program_desc, reduce_layout, 21),
    FIELD(tutti_program_desc, accumulator, 22),
    FIELD(tutti_program_desc, wide_index, 23),
    FIELD(tutti_program_desc, input_count, 24),
    FIELD(tutti_program_desc, scalar_count, 28),
    FIELD(tutti_program_desc, instruction_count, 32),
    FIELD(tutti_program_desc, output_count, 36),
    FIELD(tutti_program_desc, inputs, 40),
    FIELD(tutti_program_desc, scalar_dtypes, 48),
    FIELD(tutti_program_desc, instructions, 56),
    FIELD(tutti_program_desc, outputs, 64),
    FIELD(tutti_program_desc, label, 72),
    FIELD(tutti_operand, buffer, 0),
    FIELD(tutti_operand, offset, 8),
    FIELD(tutti_operand, stride, 16),
    FIELD(tutti_program_launch, struct_size, 0),
    FIELD(tutti_program_launch, extent, 8),
    FIELD(tutti_program_launch, inputs, 72),
    FIELD(tutti_program_launch, scalars, 80),
    FIELD(tutti_program_launch, outputs, 88),
    FIELD(tutti_program_launch, workspace, 96),
    FIELD(tutti_program_launch, workspace_offset, 104),
    FIELD(tutti_program_launch, workspace_bytes, 112),
    FIELD(tutti_program_api, struct_size, 0),
    FIELD(tutti_program_api, create, 8),
    FIELD(tutti_program_api, release, 16),
    FIELD(tutti_program_api, workspace, 24),
    FIELD(tutti_program_api, launch, 32),
    FIELD(tutti_program_api, source, 40),
    FIELD(tutti_view, buffer, 0),
    FIELD(tutti_view, offset, 8),
    FIELD(tutti_view, dtype, 16),
    FIELD(tutti_view, rank, 20),
    FIELD(tutti_view, extent, 24),
    FIELD(tutti_view, stride, 88),
    FIELD(tutti_matmul_params, struct_size, 0),
    FIELD(tutti_matmul_params, activation, 8),
    FIELD(tutti_matmul_params, has_bias, 12),
    FIELD(tutti_operator_launch, struct_size, 0),
    FIELD(tutti_operator_launch, operand_size, 8),
    FIELD(tutti_operator_launch, operand_count, 16),
    FIELD(tutti_operator_launch, reserved, 20),
    FIELD(tutti_operator_launch, operands, 24),
    FIELD(tutti_operator_launch, workspace, 32),
    FIELD(tutti_operator_launch, workspace_bytes, 48),
    FIELD(tutti_range, buffer, 0),
    FIELD(tutti_range, offset, 8),
    FIELD(tutti_view_desc, dtype, 0),
    FIELD(tutti_view_desc, rank, 4),
    FIELD(tutti_view_desc, layout, 8),
    FIELD(tutti_view_desc, storage, 12),
    FIELD(tutti_view_desc, extent, 16),
    FIELD(tutti_view_desc, stride, 80),
    FIELD(tutti_view_desc, format, 144),
    FIELD(tutti_operator_desc, struct_size, 0),
    FIELD(tutti_operator_desc, kind, 8),
    FIELD(tutti_operator_desc, output_count, 12),
    FIELD(tutti_operator_desc, input_count, 16),
    FIELD(tutti_operator_desc, reserved, 20),
    FIELD(tutti_operator_desc, view_size, 24),
    FIELD(tutti_operator_desc, views, 32),
    FIELD(tutti_operator_desc, params, 40),
    FIELD(tutti_scan_params, struct_size, 0),
    FIELD(tutti_scan_params, scan, 8),
    FIELD(tutti_scan_params, exclusive, 12),
    FIELD(tutti_scan_params, reverse, 16),
    FIELD(tutti_scan_params, reserved, 20),
    FIELD(tutti_scatter_params, struct_size, 0),
    FIELD(tutti_scatter_params, scatter, 8),
    FIELD(tutti_scatter_params, reserved, 12),
    FIELD(tutti_sort_params, struct_size, 0),
    FIELD(tutti_sort_params, descending, 8),
    FIELD(tutti_sort_params, reserved, 12),
    FIELD(tutti_search_params, struct_size, 0),
    FIELD(tutti_search_params, right, 8),
    FIELD(tutti_search_params, reserved, 12),
    FIELD(tutti_partition_params, struct_size, 0),
    FIELD(tutti_partition_params, kth, 8),
    FIELD(tutti_operator_api, struct_size, 0),
    FIELD(tutti_operator_api, supports, 8),
    FIELD(tutti_operator_api, create, 16),
    FIELD(tutti_operator_api, release, 24),
    FIELD(tutti_operator_api, workspace, 32),
    FIELD(tutti_operator_api, launch, 40),
    FIELD(tutti_operator_api, packed, 48),
    FIELD(tutti_operator_api, pack, 56),
    FIELD(tutti_operator_api, measure, 64),
    FIELD(tutti_collective_api, struct_size, 0),
    FIELD(tutti_collective_api, create, 8),
    FIELD(tutti_collective_api, release, 16),
    FIELD(tutti_collective_api, all_reduce, 24),
    FIELD(tutti_collective_api, reduce, 32),
    FIELD(tutti_collective_api, broadcast, 40),
    FIELD(tutti_collective_api, reduce_scatter, 48),
    FIELD(tutti_collective_api, all_gather, 56),
    FIELD(tutti_collective_api, all_to_all, 64),
    FIELD(tutti_collective_api, send, 72),
    FIELD(tutti_collective_api, receive, 80),
    FIELD(tutti_collective_api, abort, 88),
    FIELD(tutti_native_api, struct_size, 0),
    FIELD(tutti_native_api, kind, 8),
    FIELD(tutti_native_api, device, 16),
    FIELD(tutti_native_api, stream, 24),
    FIELD(tutti_native_api, buffer, 32),
    FIELD(tutti_native_api, wrap, 40),
    FIELD(tutti_plugin_api, struct_size, 0),
    FIELD(tutti_plugin_api, abi_major, 8),
    FIELD(tutti_plugin_api, abi_minor, 12),
    FIELD(tutti_plugin_api, name, 16),
    FIELD(tutti_plugin_api, version, 24),
    FIELD(tutti_plugin_api, build_id, 32),
    FIELD(tutti_plugin_api, device, 40),
    FIELD(tutti_plugin_api, memory, 48),
    FIELD(tutti_plugin_api, stream, 56),
    FIELD(tutti_plugin_api, transfer, 64),
    FIELD(tutti_plugin_api, program, 72),
    FIELD(tutti_plugin_api, op, 80),
    FIELD(tutti_plugin_api, profile, 88),
    FIELD(tutti_plugin_api, collective, 96),
    FIELD(tutti_plugin_api, native, 104),
};
#undef FIELD

const frozen constants[] = {
    {"TUTTI_ABI_MAJOR", TUTTI_ABI_MAJOR, 1},
    {"TUTTI_MAX_RANK", TUTTI_MAX_RANK, 8},
    {"TUTTI_OK", TUTTI_OK, 0},
    {"TUTTI_ERROR_INTERNAL", TUTTI_ERROR_INTERNAL, 1},
    {"TUTTI_ERROR_INVALID_ARGUMENT", TUTTI_ERROR_INVALID_ARGUMENT, 2},
    {"TUTTI_ERROR_UNSUPPORTED", TUTTI_ERROR_UNSUPPORTED, 3},
    {"TUTTI_ERROR_OUT_OF_MEMORY", TUTTI_ERROR_OUT_OF_MEMORY, 4},
    {"TUTTI_ERROR_DEVICE_LOST", TUTTI_ERROR_DEVICE_LOST, 5},
    {"TUTTI_ERROR_COMPILE", TUTTI_ERROR_COMPILE, 6},
    {"TUTTI_ERROR_DRIVER", TUTTI_ERROR_DRIVER, 7},
    {"TUTTI_ERROR_TIMEOUT", TUTTI_ERROR_TIMEOUT, 8},
    {"TUTTI_ERROR_NO_DRIVER", TUTTI_ERROR_NO_DRIVER, 9},
    {"TUTTI_INVALID", TUTTI_INVALID, 0},
    {"TUTTI_BOOL", TUTTI_BOOL, 1},
    {"TUTTI_I8", TUTTI_I8, 2},
    {"TUTTI_I16", TUTTI_I16, 3},
    {"TUTTI_I32", TUTTI_I32, 4},
    {"TUTTI_I64", TUTTI_I64, 5},
    {"TUTTI_U8", TUTTI_U8, 6},
    {"TUTTI_U16", TUTTI_U16, 7},
    {"TUTTI_U32", TUTTI_U32, 8},
    {"TUTTI_U64", TUTTI_U64, 9},
    {"TUTTI_F16", TUTTI_F16, 10},
    {"TUTTI_BF16", TUTTI_BF16, 11},
    {"TUTTI_F32", TUTTI_F32, 12},
    {"TUTTI_F64", TUTTI_F64, 13},
    {"TUTTI_C64", TUTTI_C64, 14},
    {"TUTTI_C128", TUTTI_C128, 15},
    {"TUTTI_LOG_ERROR", TUTTI_LOG_ERROR, 1},
    {"TUTTI_LOG_WARN", TUTTI_LOG_WARN, 2},
    {"TUTTI_LOG_INFO", TUTTI_LOG_INFO, 3},
    {"TUTTI_LOG_DEBUG", TUTTI_LOG_DEBUG, 4},
    {"TUTTI_DEVICE_CPU", TUTTI_DEVICE_CPU, 1},
    {"TUTTI_DEVICE_GPU", TUTTI_DEVICE_GPU, 2},
    {"TUTTI_DEVICE_ACCELERATOR", TUTTI_DEVICE_ACCELERATOR, 3},
    {"TUTTI_STREAM_PROFILE", TUTTI_STREAM_PROFILE, 1},
    {"TUTTI_ACCESS_UNIT", TUTTI_ACCESS_UNIT, 0},
    {"TUTTI_ACCESS_ZERO", TUTTI_ACCESS_ZERO, 1},
    {"TUTTI_ACCESS_STRIDED", TUTTI_ACCESS_STRIDED, 2},
    {"TUTTI_REDUCE_NONE", TUTTI_REDUCE_NONE, 0},
    {"TUTTI_REDUCE_SUM", TUTTI_REDUCE_SUM, 1},
    {"TUTTI_REDUCE_PROD", TUTTI_REDUCE_PROD, 2},
    {"TUTTI_REDUCE_MIN", TUTTI_REDUCE_MIN, 3},
    {"TUTTI_REDUCE_MAX", TUTTI_REDUCE_MAX, 4},
    {"TUTTI_REDUCE_ANY", TUTTI_REDUCE_ANY, 5},
    {"TUTTI_REDUCE_ALL", TUTTI_REDUCE_ALL, 6},
    {"TUTTI_REDUCE_ARGMIN", TUTTI_REDUCE_ARGMIN, 7},
    {"TUTTI_REDUCE_ARGMAX", TUTTI_REDUCE_ARGMAX, 8},
    {"TUTTI_REDUCE_INNER", TUTTI_REDUCE_INNER, 0},
    {"TUTTI_REDUCE_OUTER", TUTTI_REDUCE_OUTER, 1},
    {"TUTTI_ACTIVATION_NONE", TUTTI_ACTIVATION_NONE, 0},
    {"TUTTI_ACTIVATION_RELU", TUTTI_ACTIVATION_RELU, 1},
    {"TUTTI_OPERATOR_MATMUL", TUTTI_OPERATOR_MATMUL, 1},
    {"TUTTI_OPERATOR_TAKE", TUTTI_OPERATOR_TAKE, 2},
    {"TUTTI_OPERATOR_SCATTER_ADD", TUTTI_OPERATOR_SCATTER_ADD, 3},
    {"TUTTI_OPERATOR_SCAN", TUTTI_OPERATOR_SCAN, 4},
    {"TUTTI_OPERATOR_SORT", TUTTI_OPERATOR_SORT, 5},
    {"TUTTI_OPERATOR_ARGSORT", TUTTI_OPERATOR_ARGSORT, 6},
    {"TUTTI_OPERATOR_SEARCH", TUTTI_OPERATOR_SEARCH, 7},
    {"TUTTI_OPERATOR_COUNT", TUTTI_OPERATOR_COUNT, 8},
    {"TUTTI_OPERATOR_SELECT", TUTTI_OPERATOR_SELECT, 9},
    {"TUTTI_OPERATOR_TOPK", TUTTI_OPERATOR_TOPK, 10},
    {"TUTTI_OPERATOR_PARTITION", TUTTI_OPERATOR_PARTITION, 11},
    {"TUTTI_OPERATOR_SCATTER", TUTTI_OPERATOR_SCATTER, 12},
    {"TUTTI_SCATTER_SET", TUTTI_SCATTER_SET, 0},
    {"TUTTI_SCATTER_MULTIPLY", TUTTI_SCATTER_MULTIPLY, 1},
    {"TUTTI_SCATTER_MIN", TUTTI_SCATTER_MIN, 2},
    {"TUTTI_SCATTER_MAX", TUTTI_SCATTER_MAX, 3},
    {"TUTTI_SCAN_SUM", TUTTI_SCAN_SUM, 0},
    {"TUTTI_SCAN_PROD", TUTTI_SCAN_PROD, 1},
    {"TUTTI_SCAN_MIN", TUTTI_SCAN_MIN, 2},
    {"TUTTI_SCAN_MAX", TUTTI_SCAN_MAX, 3},
    {"TUTTI_SCAN_LOGSUMEXP", TUTTI_SCAN_LOGSUMEXP, 4},
    {"TUTTI_SUPPORT_NO", TUTTI_SUPPORT_NO, 0},
    {"TUTTI_SUPPORT_YES", TUTTI_SUPPORT_YES, 1},
    {"TUTTI_LAYOUT_STRIDED", TUTTI_LAYOUT_STRIDED, 0},
    {"TUTTI_LAYOUT_PACKED", TUTTI_LAYOUT_PACKED, 1},
    {"TUTTI_EXTENT_UNKNOWN", TUTTI_EXTENT_UNKNOWN, ~uint64_t{0}},
    {"TUTTI_NATIVE_OPENCL", TUTTI_NATIVE_OPENCL, 1},
    {"TUTTI_NATIVE_CUDA", TUTTI_NATIVE_CUDA, 2},
    {"TUTTI_NATIVE_HOST", TUTTI_NATIVE_HOST, 3},
};

struct opcode_row {
  const char* name;
  uint64_t number;
};
const opcode_row opcodes[] = {
    {"add", 1},
    {"subtract", 2},
    {"multiply", 3},
    {"divide", 4},
    {"floor_divide", 5},
    {"remainder", 6},
    {"fmod", 7},
    {"minimum", 8},
    {"maximum", 9},
    {"negative", 10},
    {"abs", 11},
    {"sign", 12},
    {"square", 13},
    {"hypot", 14},
    {"power", 15},
    {"atan2", 16},
    {"equal", 20},
    {"not_equal", 21},
    {"less", 22},
    {"less_equal", 23},
    {"greater", 24},
    {"greater_equal", 25},
    {"logical_and", 26},
    {"logical_or", 27},
    {"logical_xor", 28},
    {"logical_not", 29},
    {"bitwise_and", 30},
    {"bitwise_or", 31},
    {"bitwise_xor", 32},
    {"bitwise_not", 33},
    {"left_shift", 34},
    {"right_shift", 35},
    {"where", 36},
    {"exp", 40},
    {"exp2", 41},
    {"expm1", 42},
    {"log", 43},
    {"log2", 44},
    {"log10", 45},
    {"log1p", 46},
    {"sqrt", 47},
    {"rsqrt", 48},
    {"cbrt", 49},
    {"sin", 50},
    {"cos", 51},
    {"tan", 52},
    {"asin", 53},
    {"acos", 54},
    {"atan", 55},
    {"sinh", 56},
    {"cosh", 57},
    {"tanh", 58},
    {"asinh", 59},
    {"acosh", 60},
    {"atanh", 61},
    {"erf", 62},
    {"erfc", 63},
    {"floor", 70},
    {"ceil", 71},
    {"trunc", 72},
    {"round", 73},
    {"isnan", 74},
    {"isinf", 75},
    {"isfinite", 76},
    {"signbit", 77},
    {"copysign", 78},
    {"nextafter", 79},
    {"logaddexp", 80},
    {"complex", 81},
    {"real", 82},
    {"imag", 83},
    {"conj", 84},
    {"cast", 100},
    {"iota", 101},
    {"philox", 102},
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
