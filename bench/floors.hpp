// SPDX-License-Identifier: Apache-2.0
//
// The limits of this machine, measured with OpenMP threads on all cores: memory bandwidth by access
// pattern (J. McCalpin's STREAM: bytes counted once per array, no write-allocate) and the rate of
// fused multiply-adds.
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

/// Measures floors with its own arrays, which it keeps.
class floor_meter {
 public:
  floor_meter();
  ~floor_meter();
  floor_meter(const floor_meter&) = delete;
  floor_meter& operator=(const floor_meter&) = delete;

  /// In the unit of `kind`, from passes that take at least 20 ms in total. Bandwidths are for
  /// arrays of `elements` f32 each: small ones are faster because of caches.
  double measure(floor_kind kind, std::size_t elements);

 private:
  struct arrays;
  std::unique_ptr<arrays> arrays_;
};

}  // namespace tutti::bench
