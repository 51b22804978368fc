// SPDX-License-Identifier: Apache-2.0
//
// The application's own kernels (tutti_kernel_api): checks of descriptions and launches that do not
// depend on the backend. All throw TUTTI_ERROR_INVALID_ARGUMENT, or UNSUPPORTED where the device is
// what cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// "OpenCL C", "CUDA C++", ...; "language 9" for one that is not known.
std::string language_name(int32_t language);
/// Those of a TUTTI_KERNEL_LANGUAGE_BIT set: "CUDA C++, PTX".
std::string language_names(uint32_t set);

/// The label, or the entry's name where there is none.
std::string label_of(const tutti_kernel_desc& desc);

/// A description that has passed read_struct, for a device that takes the languages `taken` and
/// that messages call `device`.
void validate_kernel(const tutti_kernel_desc& desc, uint32_t taken, const std::string& device);

struct kernel_limits {
  uint64_t work_group;    // work-items
  uint64_t shared_bytes;  // of a launch
};

/// Sizes of a launch that has passed read_struct, and its list of arguments.
void validate_kernel_sizes(const tutti_kernel_launch& launch, const kernel_limits& limits,
                           const char* label);

/// Argument n, which is a buffer or a scalar of a size that there is.
tutti_kernel_argument kernel_argument_at(const tutti_kernel_launch& launch, uint32_t n,
                                         const char* label);

/// A buffer argument within a buffer of `bytes`.
void validate_kernel_buffer(const tutti_kernel_argument& argument, uint32_t alignment,
                            uint64_t bytes, const char* label);

/// Room for any scalar.
struct kernel_scalar_bytes {
  alignas(16) std::byte bytes[16] = {};
};

}  // namespace tutti::sdk
