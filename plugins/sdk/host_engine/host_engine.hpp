// SPDX-License-Identifier: Apache-2.0
//
// The host engine runs the fused programs of the plugin ABI on the host processor without a
// compiler. It processes a program in blocks of a few hundred elements, with loops of machine code
// for several instructions (fused_loop.hpp) and a compiled, vectorised routine for each of the
// others. Both are generated from the device math source (kernels_cl/math_*) and op_table.def, and
// reductions follow the order of the CPU schedule (renderer_cpu.cpp, launch_plan.cpp), so that the
// results equal those of the rendered kernel bit by bit; docs/host-engine.md lists the exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "sdk/launch_plan.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// The instruction sets that the routines are compiled for. Not every build has all of them.
enum class host_routines { baseline, avx2, avx512 };

/// The best set that was built and that this processor supports. Thread-safe.
host_routines best_host_routines();
/// Whether a set was built (TUTTI_HOST_SETS of CMake) and this processor supports it.
bool has_host_routines(host_routines set);
/// "baseline", "avx2" (with FMA) or "avx512".
std::string_view name_of(host_routines set);

/// fused_loop::most_bits().
uint32_t most_loop_bits();

/// The addresses of the operands of a launch: inputs, then outputs, each including the operand's
/// offset. Aligned to the element size.
struct host_operands {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
};

/// Calls `work` once for each number below `count`, on any threads, and returns when all are done.
using host_parallel_for =
    std::function<void(uint64_t count, const std::function<void(uint64_t)>& work)>;

/// A compiled program. Immutable, so launches may run concurrently.
class host_program {
 public:
  /// Copies what it needs from `desc`, which must have passed validate_program. Throws
  /// plugin_error, TUTTI_ERROR_UNSUPPORTED, naming the opcode and the dtypes, for an instruction or
  /// reduction without a routine. `loop_bits`: the register width of machine code loops
  /// (fused_loop.hpp), 0 for none.
  explicit host_program(const tutti_program_desc& desc,
                        host_routines routines = best_host_routines(),
                        uint32_t loop_bits = most_loop_bits());
  ~host_program();
  host_program(host_program&&) noexcept;
  host_program& operator=(host_program&&) noexcept;

  /// Runs a launch that has passed validate_launch and whose ranges have been checked; it ignores
  /// `buffer` and `offset` of the operands and the workspace. `on` determines the number of parts
  /// of a reduction and thus the order of addition: pass the machine that the compiled kernel's
  /// launch is planned for. Returns when all is done: on the calling thread without `parallel`,
  /// else distributed through it. Throws plugin_error, TUTTI_ERROR_INVALID_ARGUMENT, for a kept
  /// extent of 0 or an iteration space of 2^63 points or more, and the exceptions of `parallel`.
  void run(const tutti_program_launch& launch, const host_operands& memory, const machine& on,
           const host_parallel_for& parallel = {}) const;

  /// Whether run_points() can do parts of the launch: of a map, or a reduction of lines none of
  /// which is divided.
  bool takes_points(const tutti_program_launch& launch, const machine& on) const;
  /// Computes kept points [first, last) as run() does, on the calling thread. `streams`: outputs
  /// may bypass the caches.
  void run_points(const tutti_program_launch& launch, const host_operands& memory,
                  const machine& on, uint64_t first, uint64_t last, bool streams) const;

 private:
  struct state;
  std::unique_ptr<const state> state_;
};

}  // namespace tutti::sdk
