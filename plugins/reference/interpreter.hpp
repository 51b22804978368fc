// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of the ABI over its iteration space, a block of lanes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/instructions.hpp"
#include "sdk/program_description.hpp"
#include "tutti/plugin.h"

namespace tutti::reference {

// A program ready to run. Immutable, so launches may run at once.
class interpreter {
 public:
  explicit interpreter(sdk::program_description&& description);
  interpreter(const interpreter&) = delete;
  interpreter& operator=(const interpreter&) = delete;

  const tutti_program_desc& desc() const { return description_.desc(); }

  // The launch has been validated. Throws plugin_error where an operand leaves its buffer or the
  // space has too many points.
  void run(const tutti_program_launch& launch) const;

 private:
  struct step {
    instruction_fn run;
    uint32_t operand[3];
    uint32_t result;
  };
  struct run_state;

  void check_ranges(const tutti_program_launch& launch) const;
  void load_inputs(run_state& state, uint64_t first, size_t count) const;
  void run_steps(run_state& state, uint64_t first, size_t count) const;
  void store_outputs(run_state& state, uint64_t first, size_t count) const;
  void run_elementwise(run_state& state, uint64_t points) const;
  void run_reduction(run_state& state, uint64_t kept, uint64_t reduced) const;

  sdk::program_description description_;
  const tutti_program_desc& desc_ = description_.desc();
  std::span<const tutti_program_operand> inputs_, outputs_;
  std::span<const uint8_t> scalar_dtypes_;
  std::span<const tutti_instruction> instructions_;
  std::vector<load_fn> loads_;
  std::vector<store_fn> stores_;
  std::vector<step> steps_;
};

}  // namespace tutti::reference
