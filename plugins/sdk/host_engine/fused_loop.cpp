// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/fused_loop.hpp"

#include <algorithm>
#include <cstring>

#include "sdk/op_info.hpp"

namespace tutti::sdk {

uint64_t fused_loop::row_totals(uint8_t dtype) {
  return !is_floating(dtype) ? 128 : dtype_size(dtype) >= 8 ? 32 : 64;
}

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
  if (rest > 0) run_last(inputs, results, scalars, count);
}

// The last elements that do not fill a register are computed with those before them, if there are
// enough, else with zeros, so that nothing beyond an array is accessed. The results go through a
// copy where those before them were changed: totals, and results that are inputs too.
void fused_loop::run_last(const std::byte* const* inputs, std::byte* const* results,
                          const tutti_scalar* scalars, uint64_t count) const {
  const void* arrays[most_arrays];
  const uint64_t rest = count % lanes_, before = count < lanes_ ? 0 : lanes_ - rest;
  const uint64_t first = count - rest - before;
  bool copies_results = joined_ != none || count < lanes_;
  for (size_t n = inputs_; n < element_.size(); ++n)
    copies_results = copies_results ||
                     std::find(inputs, inputs + inputs_, results[n - inputs_]) != inputs + inputs_;
  alignas(64) std::byte copies[most_arrays][128];
  for (size_t n = 0; n < inputs_; ++n) {
    const uint32_t element = element_[n];
    arrays[n] = inputs[n] + (single_[n] ? 0 : first * element);
    if (single_[n] || (count >= lanes_ && n != joined_)) continue;
    std::memset(copies[n], 0, size_t{lanes_} * element);
    std::memcpy(copies[n] + before * element, inputs[n] + (count - rest) * element, rest * element);
    arrays[n] = copies[n];
  }
  for (size_t n = inputs_; n < element_.size(); ++n) {
    // Totals are input and result at the same address.
    std::byte* const copy = copies[joined_ == none ? n : joined_];
    arrays[n] = copies_results ? copy : results[n - inputs_] + first * element_[n];
  }
  code_(arrays, scalars, lanes_, 0);
  for (size_t n = inputs_; n < element_.size() && copies_results; ++n) {
    const auto* copy = static_cast<const std::byte*>(arrays[n]) + before * element_[n];
    std::memcpy(results[n - inputs_] + (count - rest) * element_[n], copy, rest * element_[n]);
  }
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
