// SPDX-License-Identifier: Apache-2.0
//
// Launches that outlive the call, for plugins whose streams run work later on their own threads.
#pragma once

#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// Owns a copy of a validated launch and its arrays.
class owned_program_launch {
 public:
  owned_program_launch(const tutti_program_desc& desc, const tutti_program_launch& given)
      : launch_(given),
        inputs_(given.inputs, given.inputs + desc.input_count),
        outputs_(given.outputs, given.outputs + desc.output_count),
        scalars_(given.scalars, given.scalars + desc.scalar_count) {}

  tutti_program_launch get() const {
    tutti_program_launch launch = launch_;
    launch.inputs = inputs_.data();
    launch.outputs = outputs_.data();
    launch.scalars = scalars_.data();
    return launch;
  }

 private:
  tutti_program_launch launch_;
  std::vector<tutti_operand> inputs_, outputs_;
  std::vector<tutti_scalar> scalars_;
};

}  // namespace tutti::sdk
