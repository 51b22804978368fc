// SPDX-License-Identifier: Apache-2.0
//
// Application kernels (tutti_kernel_api): backend-independent checks of descriptions and launches.
// They throw TUTTI_ERROR_INVALID_ARGUMENT, or UNSUPPORTED if the device lacks a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// "OpenCL C", "CUDA C++", ...; "language 9" for an unknown one.
std::string language_name(int32_t language);
/// The names in a TUTTI_KERNEL_LANGUAGE_BIT set: "CUDA C++, PTX".
std::string language_names(uint32_t set);

/// The label, or the name of the entry without one.
std::string label_of(const tutti_kernel_desc& desc);

/// Checks a description that has passed read_struct for a device that supports the languages
/// `taken`; messages call it `device`.
void validate_kernel(const tutti_kernel_desc& desc, uint32_t taken, const std::string& device);

struct kernel_limits {
  uint64_t work_group;    // work-items
  uint64_t shared_bytes;  // per launch
};

/// Checks the sizes and the argument list of a launch that has passed read_struct.
void validate_kernel_sizes(const tutti_kernel_launch& launch, const kernel_limits& limits,
                           const char* label);

/// Argument n, a buffer or a scalar of a valid size.
tutti_kernel_argument kernel_argument_at(const tutti_kernel_launch& launch, uint32_t n,
                                         const char* label);

/// Checks that a buffer argument lies within a buffer of `bytes`.
void validate_kernel_buffer(const tutti_kernel_argument& argument, uint32_t alignment,
                            uint64_t bytes, const char* label);

/// Storage for any scalar.
struct kernel_scalar_bytes {
  alignas(16) std::byte bytes[16] = {};
};

}  // namespace tutti::sdk
