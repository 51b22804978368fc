// SPDX-License-Identifier: Apache-2.0
//
// Snapshot and reset of the process-wide counters.
#include "base/counters.hpp"

namespace tutti {

namespace base {

counters& count() noexcept {
  static counters instance;
  return instance;
}

}  // namespace base

statistics stats() noexcept {
  const base::counters& c = base::count();
  statistics s;
  s.launches = c.launches.get();
  s.fallbacks = c.fallbacks.get();
  s.compiles = c.compiles.get();
  s.compile_seconds = static_cast<double>(c.compile_ns.get()) * 1e-9;
  s.memory_cache_hits = c.memory_cache_hits.get();
  s.disk_cache_hits = c.disk_cache_hits.get();
  s.disk_cache_misses = c.disk_cache_misses.get();
  s.bytes_written = c.bytes_written.get();
  s.bytes_read = c.bytes_read.get();
  s.bytes_copied = c.bytes_copied.get();
  s.pool_bytes_in_use = c.pool_bytes_in_use.get();
  s.pool_bytes_peak = c.pool_bytes_peak.get();
  s.pool_bytes_reserved = c.pool_bytes_reserved.get();
  s.pool_allocations = c.pool_allocations.get();
  s.pool_reuses = c.pool_reuses.get();
  return s;
}

void reset_stats() noexcept {
  base::counters& c = base::count();
  for (base::counter* each :
       {&c.launches, &c.fallbacks, &c.compiles, &c.compile_ns, &c.memory_cache_hits,
        &c.disk_cache_hits, &c.disk_cache_misses, &c.bytes_written, &c.bytes_read, &c.bytes_copied,
        &c.pool_allocations, &c.pool_reuses})
    each->set(0);
  c.pool_bytes_peak.set(c.pool_bytes_in_use.get());
}

}  // namespace tutti
