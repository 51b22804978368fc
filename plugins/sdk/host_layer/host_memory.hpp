// SPDX-License-Identifier: Apache-2.0
//
// Host memory and the address of a buffer. A backend defines tutti_buffer and passes a function
// that returns its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::sdk {

struct host_block {
  std::byte* data;
  uint64_t bytes;
};

/// Throws plugin_error, TUTTI_ERROR_OUT_OF_MEMORY, on failure. More than the machine's memory fails
/// immediately, because the system would grant it and fail on first access. `alignment` in bytes, a
/// power of two.
host_block allocate_block(uint64_t bytes, uint32_t alignment);
/// `block`: from allocate_block, with the same alignment.
void free_block(const host_block& block, uint32_t alignment);

using find_memory = host_block (*)(const tutti_buffer&);

}  // namespace tutti::sdk
