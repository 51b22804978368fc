// SPDX-License-Identifier: Apache-2.0
//
// Launches that outlive the call that brought them: for plugins whose streams run work later, on a
// thread of their own.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// Owns a copy of a validated launch and of the arrays that it points to.
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

class owned_operator_launch {
 public:
  explicit owned_operator_launch(const tutti_operator_launch& given)
      : launch_(given), views_(given.views, given.views + given.view_count) {
    if (given.params == nullptr) return;
    uint64_t size = 0;  // the first member of every params struct
    std::memcpy(&size, given.params, sizeof size);
    params_.resize((size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    std::memcpy(params_.data(), given.params, size);
  }

  tutti_operator_launch get() const {
    tutti_operator_launch launch = launch_;
    launch.views = views_.data();
    launch.params = params_.empty() ? nullptr : params_.data();
    return launch;
  }

 private:
  tutti_operator_launch launch_;
  std::vector<tutti_view> views_;
  std::vector<std::max_align_t> params_;
};

}  // namespace tutti::sdk
