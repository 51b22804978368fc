// SPDX-License-Identifier: Apache-2.0
//
// The counters behind tutti::stats(). Relaxed atomics: each is exact, a snapshot of several is
// not taken at one instant.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/counters.hpp"

namespace tutti::base {

class counter {
 public:
  void add(uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  void subtract(uint64_t n) noexcept { value_.fetch_sub(n, std::memory_order_relaxed); }
  uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void set(uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  void raise_to(uint64_t n) noexcept {
    uint64_t seen = get();
    while (seen < n && !value_.compare_exchange_weak(seen, n, std::memory_order_relaxed)) {
    }
  }
  /// Adds and returns the new value.
  uint64_t add_get(uint64_t n) noexcept {
    return value_.fetch_add(n, std::memory_order_relaxed) + n;
  }

 private:
  std::atomic<uint64_t> value_{0};
};

struct counters {
  counter launches, fallbacks;
  counter compiles, compile_ns;
  counter memory_cache_hits, disk_cache_hits, disk_cache_misses;
  counter bytes_written, bytes_read, bytes_copied;
  counter pool_bytes_in_use, pool_bytes_peak, pool_bytes_reserved;
  counter pool_allocations, pool_reuses;

  void pool_take(uint64_t bytes) noexcept {
    pool_bytes_peak.raise_to(pool_bytes_in_use.add_get(bytes));
  }
  void pool_give_back(uint64_t bytes) noexcept { pool_bytes_in_use.subtract(bytes); }
};

TUTTI_INTERNAL_API counters& count() noexcept;

}  // namespace tutti::base
