// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of the ABI over its iteration space in host memory, a block of lanes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/host_layer/host_memory.hpp"
#include "sdk/host_layer/instructions.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/program_description.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// A compiled program. Immutable, so launches may run concurrently.
class program_interpreter {
 public:
  /// Throws plugin_error if the description contains something that is undefined for its dtype.
  explicit program_interpreter(program_description&& description);
  program_interpreter(program_interpreter&&) = delete;

  const tutti_program_desc& desc() const { return description_.desc(); }

  /// The launch must have been validated. Results do not depend on the number of threads, because a
  /// single thread computes each reduction. Throws plugin_error if an operand exceeds its buffer or
  /// the space has too many points.
  void run(const tutti_program_launch& launch, find_memory memory, thread_team& team) const;

  /// Throws plugin_error if an operand exceeds its buffer.
  void check_ranges(const tutti_program_launch& launch, find_memory memory) const;

 private:
  struct step {
    instruction_fn run;
    uint32_t operand[3];
    uint32_t result;
  };
  struct operands;
  struct run_state;

  void load_inputs(run_state& state, uint64_t first, size_t count) const;
  void run_steps(run_state& state, uint64_t first, size_t count) const;
  void store_outputs(run_state& state, uint64_t first, size_t count) const;
  void run_elementwise(run_state& state, uint64_t begin, uint64_t end) const;
  void run_reduction(run_state& state, uint64_t begin, uint64_t end, uint64_t reduced) const;

  program_description description_;
  const tutti_program_desc& desc_ = description_.desc();
  std::span<const tutti_program_operand> inputs_, outputs_;
  std::span<const uint8_t> scalar_dtypes_;
  std::span<const tutti_instruction> instructions_;
  std::vector<load_fn> loads_;
  std::vector<store_fn> stores_;
  std::vector<step> steps_;
};

}  // namespace tutti::sdk
