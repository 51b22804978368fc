// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/fused_loop.hpp"

#include <cstring>

namespace tutti::sdk {

// The last elements go through a copy, so that nothing beyond an array is touched.
void fused_loop::run(const std::byte* const* inputs, std::byte* const* results,
                     const tutti_scalar* scalars, uint64_t count, bool streams) const {
  const void* arrays[most_arrays];
  const uint64_t rest = count % lanes_, whole = count - rest;
  const auto at = [&](size_t n) { return n < inputs_ ? inputs[n] : results[n - inputs_]; };
  for (size_t n = 0; n < element_.size(); ++n) arrays[n] = at(n);
  for (size_t n = inputs_; n < element_.size() && streams; ++n)
    streams = reinterpret_cast<uintptr_t>(arrays[n]) % vector_bytes_ == 0;
  if (whole > 0) code_(arrays, scalars, whole, streams ? 1 : 0);
  if (rest == 0) return;
  alignas(64) std::byte copies[most_arrays][64] = {};
  for (size_t n = 0; n < element_.size(); ++n) {
    arrays[n] = copies[n];
    if (n < inputs_ && single_[n])
      arrays[n] = inputs[n];
    else if (n < inputs_)
      std::memcpy(copies[n], at(n) + whole * element_[n], rest * element_[n]);
  }
  code_(arrays, scalars, lanes_, 0);
  for (size_t n = inputs_; n < element_.size(); ++n)
    std::memcpy(results[n - inputs_] + whole * element_[n], copies[n], rest * element_[n]);
}

#ifndef TUTTI_MACHINE_CODE
bool fused_loop::takes(const instruction&) { return false; }
uint32_t fused_loop::width(const instruction&) { return 0; }
void fused_loop::end_streams() {}
uint32_t fused_loop::most_bits() { return 0; }
std::unique_ptr<fused_loop> fused_loop::make(const description&, uint32_t) { return nullptr; }
#endif

}  // namespace tutti::sdk
