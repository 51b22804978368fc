// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent checks of programs, launches and views. Each failure throws plugin_error
// (TUTTI_ERROR_INVALID_ARGUMENT) naming the program, the location and the values.
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

// Checks a program: ranks, dtypes of all values, operand numbers, the rules of each opcode,
// reduction and accumulator. program_description calls this.
void validate_program(const tutti_program_desc& desc);

// Checks that a launch fits the program, after read_operands: no kept extent of 0, scalars and
// buffers present, offsets multiples of the element size, strides consistent with the access
// classes. Does not check buffer sizes.
void validate_launch(const tutti_program_desc& desc, const tutti_program_launch& launch);

// Checks an operator's view: buffer present (unless `shape_only`), known dtype, rank <= 8.
void validate_view(const tutti_view& view, const std::string& what, bool shape_only);

// Whether all elements are in the buffer, as far as 64 bits can tell; range_problem() tells more.
bool is_in_range(uint64_t offset, uint32_t element_size, uint32_t rank, const uint64_t* extent,
                 const int64_t* stride, uint64_t buffer_bytes);
// Describes an element reached by `extent` and `stride` outside `buffer_bytes`; empty if there is
// none. An extent of 0 reaches no element.
std::string range_problem(uint64_t offset, uint32_t element_size, uint32_t rank,
                          const uint64_t* extent, const int64_t* stride, uint64_t buffer_bytes);
// Throws the result of range_problem() if it is not empty.
void validate_range(const std::string& what, uint64_t offset, uint32_t element_size, uint32_t rank,
                    const uint64_t* extent, const int64_t* stride, uint64_t buffer_bytes);

// Checks `offset + bytes <= buffer_bytes` without overflow.
void validate_span(const std::string& what, uint64_t offset, uint64_t bytes, uint64_t buffer_bytes);

// Checks the host memory of a transfer: not NULL unless `bytes` is 0.
void validate_host(const std::string& what, const void* host, uint64_t bytes);

// Whether a stream records times. Throws TUTTI_ERROR_UNSUPPORTED for unknown flags.
bool wants_profile(const tutti_stream_desc* desc);

// The memory kind; throws TUTTI_ERROR_UNSUPPORTED for an unknown kind and for flags.
tutti_memory_kind memory_kind_of(const tutti_buffer_desc& desc);
// Checks a map request against a buffer of `buffer_bytes`.
void validate_map(uint64_t offset, uint64_t bytes, uint32_t flags, uint64_t buffer_bytes);

// "program `label`" or "program"; for messages.
std::string program_name(const tutti_program_desc& desc);

}  // namespace tutti::sdk
