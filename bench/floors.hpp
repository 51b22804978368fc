// SPDX-License-Identifier: Apache-2.0
//
// What this machine can do at most, measured by plain threads on all cores: memory bandwidth by
// access pattern (J. McCalpin's STREAM: bytes counted once per array, no write-allocate) and the
// rate of fused multiply-adds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace tutti::bench {

enum class floor_kind { none, copy, triad, triad_nt, read, fma_f32, fma_f64 };

/// "triad", "f32 fma", ...
std::string name(floor_kind kind);
/// "GB/s" or "GFLOP/s".
std::string unit(floor_kind kind);

/// Measures floors over arrays of its own, which it keeps.
class floor_meter {
 public:
  floor_meter();
  ~floor_meter();
  floor_meter(const floor_meter&) = delete;
  floor_meter& operator=(const floor_meter&) = delete;

  /// In the unit of `kind`, from passes that take 20 ms or more together. Bandwidths are those of
  /// arrays of `elements` f32 each: caches make small ones faster.
  double measure(floor_kind kind, std::size_t elements);

 private:
  struct arrays;
  std::unique_ptr<arrays> arrays_;
};

}  // namespace tutti::bench
