// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host, and where a buffer lies: a backend defines tutti_buffer as it likes and tells
// the layer by a function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::sdk {

struct host_block {
  std::byte* data;
  uint64_t bytes;
};

/// Throws plugin_error, TUTTI_ERROR_OUT_OF_MEMORY, where there is no room, at once where that is
/// more than the machine has: the system would grant it and fail at the first touch. `alignment` in
/// bytes, a power of two.
host_block allocate_block(uint64_t bytes, uint32_t alignment);
/// What allocate_block gave, with the same alignment.
void free_block(const host_block& block, uint32_t alignment);

using find_memory = host_block (*)(const tutti_buffer&);

}  // namespace tutti::sdk
