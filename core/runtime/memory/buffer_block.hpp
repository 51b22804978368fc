// SPDX-License-Identifier: Apache-2.0
//
// A reference-counted block of device memory: from a device's pool, or foreign
// (foreign_memory.hpp).
#pragma once

#include <cstdint>
#include <map>

#include "graph/node.hpp"
#include "graph/storage.hpp"
#include "tutti/plugin.h"

namespace tutti::runtime {

class memory_pool;

enum class ownership : bool { pooled, foreign };

class buffer_block final : public graph::storage {
 public:
  buffer_block(memory_pool& owner, tutti_buffer* handle, std::uint64_t bytes,
               ownership whose = ownership::pooled)
      : owner_(owner), handle_(handle), bytes_(bytes), whose_(whose) {}

  tutti_buffer* handle() const { return handle_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Whether others would see a change of it; always true for foreign memory.
  bool is_shared() const {
    return whose_ == ownership::foreign || references_.load(std::memory_order_acquire) > 1;
  }

  /// Position on the compute stream of the last work that touches this block.
  std::uint64_t last_use = 0;

  /// While it waits to be released (foreign_memory.cpp): the next one.
  buffer_block* next_returned = nullptr;
  const detail::opened_device& device() const;

 private:
  friend class memory_pool;
  /// Returns the block to its pool, foreign memory to its owner.
  void dispose() noexcept override;

  memory_pool& owner_;
  // Its entry in the free list of its pool while it is in use, so that releasing it needs no
  // memory.
  std::multimap<std::uint64_t, buffer_block*>::node_type place_when_free_;
  // While the pool keeps it: since when, by the pool's counters of operations and time.
  struct {
    std::uint64_t operation = 0, epoch = 0;
  } free_since;
  tutti_buffer* const handle_;
  const std::uint64_t bytes_;
  const ownership whose_;
};

/// The memory of n; null if it has none.
inline buffer_block* block_of(const graph::node& n) {
  return static_cast<buffer_block*>(n.storage);
}

}  // namespace tutti::runtime
