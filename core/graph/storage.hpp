// SPDX-License-Identifier: Apache-2.0
//
// Memory shared by nodes, with reference counting. The executor, which derives from it, knows its
// contents and how it is released.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::graph {

class storage {
 public:
  storage(storage&&) = delete;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) dispose();
  }

 protected:
  storage() = default;
  ~storage() = default;
  /// After the last release.
  virtual void dispose() noexcept = 0;

  std::atomic<std::uint32_t> references_{1};
};

}  // namespace tutti::graph
