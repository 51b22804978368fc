// SPDX-License-Identifier: Apache-2.0
//
// Device memory by size class: freed blocks are kept for later requests of about their size, up to
// a cap (TUTTI_POOL_MB), and given back to the driver when it runs out.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "plugin/raii.hpp"
#include "runtime/memory/buffer_block.hpp"

namespace tutti::runtime {

class memory_pool {
 public:
  explicit memory_pool(const detail::opened_device& device);

  /// A block of at least `bytes`, with one reference. A reused block may still be in use by work up
  /// to its last_use; with `idle_before` only blocks whose last_use is at most that are reused.
  /// Throws out_of_memory after trim() did not help; `settle` is called before memory is given
  /// back.
  buffer_block* allocate(std::uint64_t bytes, std::uint64_t idle_before, void (*settle)(void*),
                         void* settle_context);
  /// Gives free blocks back to the driver. No work may be using them.
  void trim();

 private:
  friend class buffer_block;
  void take_back(buffer_block* block) noexcept;
  buffer_block* find(std::uint64_t bytes, std::uint64_t idle_before);
  buffer_block* request(std::uint64_t bytes);

  const detail::opened_device& device_;
  std::uint64_t cap_;
  std::mutex mutex_;
  std::multimap<std::uint64_t, buffer_block*> free_;
  std::uint64_t reserved_ = 0;
};

}  // namespace tutti::runtime
