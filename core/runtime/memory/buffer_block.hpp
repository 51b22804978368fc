// SPDX-License-Identifier: Apache-2.0
//
// A counted piece of device memory: out of a device's pool, or foreign (foreign_memory.hpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::runtime {

class memory_pool;

enum class ownership : bool { pooled, foreign };

class buffer_block {
 public:
  buffer_block(memory_pool& owner, tutti_buffer* handle, std::uint64_t bytes,
               ownership whose = ownership::pooled)
      : owner_(owner), handle_(handle), bytes_(bytes), whose_(whose) {}

  tutti_buffer* handle() const { return handle_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Whether others would see it change; always so for foreign memory.
  bool is_shared() const {
    return whose_ == ownership::foreign || references_.load(std::memory_order_acquire) > 1;
  }

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  /// The last release returns the block to its pool, foreign memory to its owner.
  void release() noexcept;

  /// Position on the compute stream of the last work that touches this block.
  std::uint64_t last_use = 0;

 private:
  friend class memory_pool;
  memory_pool& owner_;
  tutti_buffer* const handle_;
  const std::uint64_t bytes_;
  const ownership whose_;
  std::atomic<std::uint32_t> references_{1};
};

}  // namespace tutti::runtime
