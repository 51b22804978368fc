// SPDX-License-Identifier: Apache-2.0
//
// Checks of application kernels and their launches.
#include "sdk/kernel_launch.hpp"

#include <algorithm>
#include <cstring>

#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

constexpr int32_t first_language = TUTTI_KERNEL_OPENCL_C, last_language = TUTTI_KERNEL_HOST;

std::string sizes_text(const uint64_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
         std::to_string(sizes[2]);
}

// False if the product exceeds 63 bits.
bool multiply(const uint64_t (&sizes)[3], uint64_t& product) {
  product = 1;
  for (const uint64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product) || product > INT64_MAX) return false;
  return true;
}

}  // namespace

std::string language_name(int32_t language) {
  switch (language) {
    case TUTTI_KERNEL_OPENCL_C:
      return "OpenCL C";
    case TUTTI_KERNEL_CUDA_CXX:
      return "CUDA C++";
    case TUTTI_KERNEL_PTX:
      return "PTX";
    case TUTTI_KERNEL_SPIRV:
      return "SPIR-V";
    case TUTTI_KERNEL_HOST:
      return "functions on the host";
    default:
      return "language " + std::to_string(language);
  }
}

std::string language_names(uint32_t set) {
  std::string names;
  for (int32_t l = first_language; l <= last_language; ++l)
    if ((set & TUTTI_KERNEL_LANGUAGE_BIT(l)) != 0)
      names += (names.empty() ? "" : ", ") + language_name(l);
  return names.empty() ? "no language" : names;
}

std::string label_of(const tutti_kernel_desc& desc) {
  if (desc.label != nullptr) return desc.label;
  return desc.entry != nullptr ? desc.entry : "kernel";
}

void validate_kernel(const tutti_kernel_desc& desc, uint32_t taken, const std::string& device) {
  const std::string label = label_of(desc);
  const bool known = desc.language >= first_language && desc.language <= last_language;
  if (!known || (taken & TUTTI_KERNEL_LANGUAGE_BIT(desc.language)) == 0) {
    throw_unsupported(label, ": ", device, " takes ", language_names(taken), ", not ",
                      language_name(desc.language));
  }
  if (desc.language == TUTTI_KERNEL_HOST) {
    if (desc.host == nullptr) throw_invalid(label, ": host is NULL");
    return;
  }
  if (desc.source == nullptr || desc.source_bytes == 0) throw_invalid(label, ": no source");
  if (desc.entry == nullptr || *desc.entry == 0) throw_invalid(label, ": no entry is named");
}

void validate_kernel_sizes(const tutti_kernel_launch& l, const kernel_limits& limits,
                           const char* label) {
  const auto refuse = [&](const std::string& why) { throw_invalid(label, ": ", why); };
  uint64_t items = 0, group = 0;
  if (!multiply(l.global, items) || items == 0)
    refuse("global size " + sizes_text(l.global) + " is zero or too large");
  const bool chosen = l.local[0] != 0 || l.local[1] != 0 || l.local[2] != 0;
  for (int i = 0; chosen && i < 3; ++i) {
    if (l.local[i] == 0 || l.global[i] % l.local[i] != 0)
      refuse("local size " + sizes_text(l.local) + " does not divide global size " +
             sizes_text(l.global));
  }
  if (chosen && (!multiply(l.local, group) || group > limits.work_group))
    refuse("work-groups of " + sizes_text(l.local) + " work-items, the device takes " +
           std::to_string(limits.work_group) + " of this kernel");
  if (l.shared_bytes > limits.shared_bytes)
    refuse(std::to_string(l.shared_bytes) + " bytes of shared memory, the device has " +
           std::to_string(limits.shared_bytes) + " for this kernel");
  if (l.argument_count > 0 && l.arguments == nullptr) refuse("arguments is NULL");
  constexpr uint32_t most = 4096, least_size = sizeof(int32_t);
  if (l.argument_count > most || (l.argument_count > 0 && l.argument_size < least_size))
    refuse(std::to_string(l.argument_count) + " arguments of " + std::to_string(l.argument_size) +
           " bytes");
}

tutti_kernel_argument kernel_argument_at(const tutti_kernel_launch& l, uint32_t n,
                                         const char* label) {
  tutti_kernel_argument a{};
  const auto* at = reinterpret_cast<const std::byte*>(l.arguments) + uint64_t{n} * l.argument_size;
  std::memcpy(&a, at, std::min<size_t>(sizeof a, l.argument_size));
  const std::string which = label + (": argument " + std::to_string(n));
  if (a.kind == TUTTI_KERNEL_BUFFER) {
    if (a.buffer == nullptr) throw_invalid(which, ": buffer is NULL");
  } else if (a.kind == TUTTI_KERNEL_SCALAR) {
    if (a.scalar == nullptr || a.bytes == 0 || a.bytes > sizeof(kernel_scalar_bytes))
      throw_invalid(which, ": a scalar of ", a.bytes, " bytes");
  } else {
    throw_invalid(which, ": of kind ", a.kind);
  }
  return a;
}

void validate_kernel_buffer(const tutti_kernel_argument& a, uint32_t alignment, uint64_t bytes,
                            const char* label) {
  if (a.offset > bytes)
    throw_invalid(label, ": offset ", a.offset, " of a buffer of ", bytes, " bytes");
  if (a.offset % alignment != 0)
    throw_invalid(label, ": offset ", a.offset, " is no multiple of the device's alignment, ",
                  alignment);
}

}  // namespace tutti::sdk
