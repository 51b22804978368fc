// SPDX-License-Identifier: Apache-2.0
//
// The host engine: fused programs of the plugin ABI on the processor that the library runs on,
// without a compiler. A program is run in blocks of some hundred elements, by loops of machine code
// for several instructions (fused_loop.hpp) and by a compiled and vectorised routine for each of
// the others. Both are made from the math source that devices compile (kernels_cl/math_*) and from
// the rows of op_table.def, and reductions go in the order of the CPU schedule (renderer_cpu.cpp,
// launch_plan.cpp), so that a result has the bits that the rendered kernel gives;
// docs/host-engine.md lists what may differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "sdk/launch_plan.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// Sets of instructions that the routines exist for. Not all are built for every machine.
enum class host_routines { baseline, avx2, avx512 };

/// The best set that was built and that this processor has. Thread-safe.
host_routines best_host_routines();
/// Whether a set was built (TUTTI_HOST_SETS of CMake) and this processor has it.
bool has_host_routines(host_routines set);
/// "baseline", "avx2" (with FMA) or "avx512".
std::string_view name_of(host_routines set);

/// What fused_loop::most_bits() says.
uint32_t most_loop_bits();

/// Where the operands of a launch lie: an address for each input, then for each output, each with
/// the operand's offset already added. Aligned to the element size.
struct host_operands {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
};

/// Calls `work` once with each number below `count`, on any threads, and returns when all are done.
using host_parallel_for =
    std::function<void(uint64_t count, const std::function<void(uint64_t)>& work)>;

/// A program ready to run. Immutable, so launches may run at once, from any threads.
class host_program {
 public:
  /// Copies what it needs of `desc`, which has passed validate_program. Throws plugin_error,
  /// TUTTI_ERROR_UNSUPPORTED, naming the opcode and the dtypes, for an instruction or a reduction
  /// that the table of routines lacks. `loop_bits`: the registers of loops of machine code
  /// (fused_loop.hpp), 0 for none.
  explicit host_program(const tutti_program_desc& desc,
                        host_routines routines = best_host_routines(),
                        uint32_t loop_bits = most_loop_bits());
  ~host_program();
  host_program(host_program&&) noexcept;
  host_program& operator=(host_program&&) noexcept;

  /// Runs a launch that has passed validate_launch and whose ranges have been checked; `buffer` and
  /// `offset` of its operands, and its workspace, are not looked at. `on` decides into how many
  /// parts a reduction is cut, and so its order of addition: give what the compiled kernel's launch
  /// is planned for. All is done on return: on the calling thread without `parallel`, else shared
  /// through it. Throws plugin_error, TUTTI_ERROR_INVALID_ARGUMENT, for a kept extent of 0 or an
  /// iteration space of 2^63 points or more, and what `parallel` throws.
  void run(const tutti_program_launch& launch, const host_operands& memory, const machine& on,
           const host_parallel_for& parallel = {}) const;

 private:
  struct state;
  std::unique_ptr<const state> state_;
};

}  // namespace tutti::sdk
