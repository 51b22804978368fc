// SPDX-License-Identifier: Apache-2.0
//
// The steps of a sequence.
#pragma once

#include <vector>

#include "tutti/grad.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn::detail {

/// unstack() with a gradient that stacks the cotangents of all steps at once. The gradient of T
/// views would add up T arrays of zeros with one step each.
inline std::vector<array> steps_of(const array& sequence, int axis) {
  const vector_function forward = [axis](const std::vector<array>& of) {
    return unstack(of[0], axis);
  };
  const backward_function backward = [axis](const std::vector<array>&, const std::vector<array>&,
                                            const std::vector<array>& cotangents) {
    return std::vector<array>{stack(cotangents, axis)};
  };
  return custom_vjp(forward, backward)({sequence});
}

}  // namespace tutti::nn::detail
