// SPDX-License-Identifier: Apache-2.0
//
// The operators of the plugin ABI on the processor that the library runs on, without a compiler:
// the kernels that CPU devices compile (kernels_cl/*_cpu.cl and what they begin with) were compiled
// as C++ when the library was built, and are launched as the device layer plans it. So a result has
// the bits that the compiled kernels of the device give; docs/host-engine.md lists what may differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sdk/device_layer/description.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// An operator ready to run. Immutable, so launches may run at once, from any threads.
class host_operator_plan {
 public:
  /// Why no plan can be made for an operator that has passed check_operator, or null: a text that
  /// stays valid. Work is cut, and sums are ordered, as for the kernels of `device`, of whose
  /// description `kind` (schedule::cpu alone is served), `vector_bytes`, `compute_units` and
  /// `computed_dtypes` count. Products want the set of instructions whose vectors have
  /// `vector_bytes`: where `routines` is a better one, that is used in its place.
  static const char* against(const device_description& device, const operator_call& call,
                             host_routines routines = best_host_routines());

  /// Copies what it needs. Throws plugin_error, TUTTI_ERROR_UNSUPPORTED, with the reason that
  /// `against` gives where there is one.
  host_operator_plan(const device_description& device, const operator_call& call,
                     host_routines routines = best_host_routines());
  ~host_operator_plan();
  host_operator_plan(host_operator_plan&&) noexcept;
  host_operator_plan& operator=(host_operator_plan&&) noexcept;

  /// Bytes of memory that a run needs besides its operands, for as long as it runs.
  uint64_t workspace_bytes() const;

  /// Runs the operator on checked memory: `views` has an address for each view of the operator,
  /// outputs first, each with the operand's offset already added and aligned to the element size.
  /// `workspace` has workspace_bytes() bytes, aligned to 64; NULL: the run allocates them, and
  /// throws std::bad_alloc where it cannot. All is done on return: on the calling thread without
  /// `parallel`, else shared through it, whose exceptions are passed on.
  void run(std::byte* const* views, const host_parallel_for& parallel = {},
           void* workspace = nullptr) const;

 private:
  struct state;
  std::unique_ptr<const state> state_;
};

}  // namespace tutti::sdk
