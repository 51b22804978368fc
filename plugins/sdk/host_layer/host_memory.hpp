// SPDX-License-Identifier: Apache-2.0
//
// Where a buffer lies: a backend of the host defines tutti_buffer as it likes and tells the layer
// by a function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::sdk {

struct host_block {
  std::byte* data;
  uint64_t bytes;
};

using find_memory = host_block (*)(const tutti_buffer&);

}  // namespace tutti::sdk
