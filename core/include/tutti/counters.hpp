// SPDX-License-Identifier: Apache-2.0
//
// Counters of the library, summed over all devices of this process: launches, compilations, cache
// hits, bytes moved, pool memory. Reading is cheap and possible from any thread.
#pragma once

#include <cstdint>

#include "tutti/export.hpp"

namespace tutti {

struct statistics {
  uint64_t launches = 0;   ///< kernels and operators enqueued
  uint64_t fallbacks = 0;  ///< operators that ran on the host instead

  uint64_t compiles = 0;  ///< programs built from source, without cache hits
  double compile_seconds = 0;
  uint64_t memory_cache_hits = 0;  ///< programs already available in this process
  uint64_t disk_cache_hits = 0;
  uint64_t disk_cache_misses = 0;

  uint64_t bytes_written = 0;  ///< host to device
  uint64_t bytes_read = 0;     ///< device to host
  uint64_t bytes_copied = 0;   ///< device to device

  uint64_t pool_bytes_in_use = 0;
  uint64_t pool_bytes_peak = 0;      ///< largest pool_bytes_in_use since the last reset
  uint64_t pool_bytes_reserved = 0;  ///< obtained from devices: in use and free
  uint64_t pool_allocations = 0;     ///< requests passed to a device
  uint64_t pool_reuses = 0;          ///< requests served from the pool
};

TUTTI_API statistics stats() noexcept;

/// Sets every counter to zero; bytes in use and reserved are kept, the peak starts again from them.
TUTTI_API void reset_stats() noexcept;

}  // namespace tutti
