// SPDX-License-Identifier: Apache-2.0
//
// Checks of what the core hands over, the same for every backend. Each failure throws
// plugin_error (TUTTI_ERROR_INVALID_ARGUMENT) that names the program, the place and the values.
#pragma once

#include <string>

#include "sdk/op_info.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

struct program_limits {
  uint32_t inputs;
  uint32_t outputs;
  uint32_t instructions;
};

// A well-formed program: ranks, dtypes of every value, operand numbers, the rules of each opcode,
// reduction and accumulator. `desc` comes from program_description, which calls this.
void validate_program(const tutti_program_desc& desc);

// A launch that fits the program, after read_operands: no extent 0 among the kept ones, scalars and
// buffers present, offsets multiples of the element size, strides as the access classes promise.
// Says nothing of buffer sizes.
void validate_launch(const tutti_program_desc& desc, const tutti_program_launch& launch);

// A view as operators take it: buffer present (unless `shape_only`), known dtype, rank <= 8.
void validate_view(const tutti_view& view, const std::string& what, bool shape_only);

// Which element that `extent` and `stride` reach lies outside `buffer_bytes`; empty: none. An
// extent of 0 reaches nothing.
std::string range_problem(uint64_t offset, uint32_t element_size, uint32_t rank,
                          const uint64_t* extent, const int64_t* stride, uint64_t buffer_bytes);
// Throws what range_problem() finds.
void validate_range(const std::string& what, uint64_t offset, uint32_t element_size, uint32_t rank,
                    const uint64_t* extent, const int64_t* stride, uint64_t buffer_bytes);

// `offset + bytes <= buffer_bytes`, without overflow.
void validate_span(const std::string& what, uint64_t offset, uint64_t bytes, uint64_t buffer_bytes);

// The caller's memory of a transfer: present, unless there are no bytes.
void validate_host(const std::string& what, const void* host, uint64_t bytes);

// Whether a stream is to tell times. Throws TUTTI_ERROR_UNSUPPORTED for flags that nobody knows.
bool wants_profile(const tutti_stream_desc* desc);

// The kind of memory; throws TUTTI_ERROR_UNSUPPORTED for one that is not known, and for flags.
tutti_memory_kind memory_kind_of(const tutti_buffer_desc& desc);
// What map asks for, against a buffer of `buffer_bytes`.
void validate_map(uint64_t offset, uint64_t bytes, uint32_t flags, uint64_t buffer_bytes);

// "program `label`" or "program"; for messages.
std::string program_name(const tutti_program_desc& desc);

}  // namespace tutti::sdk
