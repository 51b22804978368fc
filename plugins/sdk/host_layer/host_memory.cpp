// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_layer/host_memory.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "sdk/host_layer/host_info.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

bool is_large(uint64_t bytes) { return bytes >= 2 * large_page; }

std::align_val_t aligned(uint64_t bytes, uint32_t alignment) {
  return std::align_val_t{is_large(bytes) ? std::max<uint64_t>(alignment, large_page) : alignment};
}

}  // namespace

host_block allocate_block(uint64_t bytes, uint32_t alignment) {
  if (bytes > physical_memory()) {
    throw plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, "allocate: " + std::to_string(bytes) +
                                                      " bytes of a host with " +
                                                      std::to_string(physical_memory()));
  }
  void* data = ::operator new(bytes > 0 ? bytes : 1, aligned(bytes, alignment), std::nothrow);
  if (data == nullptr) {
    throw plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                       "allocate: no room for " + std::to_string(bytes) + " bytes", 0, true);
  }
  if (is_large(bytes)) ask_for_large_pages(data, bytes);
  return {static_cast<std::byte*>(data), bytes};
}

void free_block(const host_block& block, uint32_t alignment) {
  ::operator delete(block.data, aligned(block.bytes, alignment));
}

}  // namespace tutti::sdk
