// SPDX-License-Identifier: Apache-2.0
//
// The operators of the plugin ABI on the host processor without a compiler. The kernels of CPU
// devices (kernels_cl/*_cpu.cl and the files they include) are compiled as C++ with the library and
// launched according to the plans of the device layer. The results equal those of the compiled
// device kernels bit by bit; docs/host-engine.md lists the exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sdk/device_layer/description.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// A planned operator. Immutable, so launches may run concurrently.
class host_operator_plan {
 public:
  /// The reason why an operator that has passed check_operator is unsupported, as static text, or
  /// null. Work is divided and sums are ordered as for the kernels of `device`; of its description,
  /// `kind` (only schedule::cpu is supported), `vector_bytes`, `compute_units` and
  /// `computed_dtypes` count. Products use the instruction set with vectors of `vector_bytes`, even
  /// if `routines` is a better one.
  static const char* against(const device_description& device, const operator_call& call,
                             host_routines routines = best_host_routines());

  /// Copies what it needs. Throws plugin_error, TUTTI_ERROR_UNSUPPORTED, with the reason of
  /// `against` if there is one.
  host_operator_plan(const device_description& device, const operator_call& call,
                     host_routines routines = best_host_routines());
  ~host_operator_plan();
  host_operator_plan(host_operator_plan&&) noexcept;
  host_operator_plan& operator=(host_operator_plan&&) noexcept;

  /// The size of the workspace of a run in bytes.
  uint64_t workspace_bytes() const;

  /// Runs the operator on checked memory. `views` has an address for each view, outputs first,
  /// including the operand's offset and aligned to the element size. `workspace` has
  /// workspace_bytes() bytes, aligned to 64; NULL: the run allocates them and throws std::bad_alloc
  /// on failure. Returns when all is done: on the calling thread without `parallel`, else
  /// distributed through it. Exceptions of `parallel` are propagated.
  void run(std::byte* const* views, const host_parallel_for& parallel = {},
           void* workspace = nullptr) const;

 private:
  struct state;
  std::unique_ptr<const state> state_;
};

}  // namespace tutti::sdk
