// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/fused_loop.hpp"

#include <cstring>

namespace tutti::sdk {

// The last elements go through a copy, so that nothing beyond an array is accessed.
void fused_loop::run(const std::byte* const* inputs, std::byte* const* results,
                     const tutti_scalar* scalars, uint64_t count, bool streams,
                     uint64_t totals) const {
  const void* arrays[most_arrays];
  const uint64_t rest = count % lanes_, whole = count - rest;
  const auto at = [&](size_t n) { return n < inputs_ ? inputs[n] : results[n - inputs_]; };
  for (size_t n = 0; n < element_.size(); ++n) arrays[n] = at(n);
  for (size_t n = inputs_; n < element_.size() && streams; ++n)
    streams = reinterpret_cast<uintptr_t>(arrays[n]) % vector_bytes_ == 0;
  const uint64_t how = joined_ != none ? totals - 1 : streams ? 1 : 0;
  if (whole > 0) code_(arrays, scalars, whole, how);
  if (rest == 0) return;
  alignas(64) std::byte copies[most_arrays][128] = {};
  // Totals are input and result at the same address.
  const auto copy_of = [&](size_t n) {
    return copies[n < inputs_ || joined_ == none ? n : joined_];
  };
  for (size_t n = 0; n < element_.size(); ++n) {
    arrays[n] = copy_of(n);
    if (n < inputs_ && single_[n])
      arrays[n] = inputs[n];
    else if (n < inputs_)
      std::memcpy(copies[n], at(n) + whole * element_[n], rest * element_[n]);
  }
  code_(arrays, scalars, lanes_, 0);
  for (size_t n = inputs_; n < element_.size(); ++n)
    std::memcpy(results[n - inputs_] + whole * element_[n], copy_of(n), rest * element_[n]);
}

void fused_loop::end_streams() {
#ifdef __SSE2__
  __builtin_ia32_sfence();
#endif
}

#ifndef TUTTI_MACHINE_CODE
fused_loop::widened fused_loop::widens(const instruction&) { return widened::no; }
bool fused_loop::takes(const instruction&) { return false; }
uint32_t fused_loop::width(const instruction&) { return 0; }
uint32_t fused_loop::most_bits() { return 0; }
std::unique_ptr<fused_loop> fused_loop::make(const description&, uint32_t) { return nullptr; }
#endif

}  // namespace tutti::sdk
