// SPDX-License-Identifier: Apache-2.0
//
// The steps of a sequence, one by one.
#pragma once

#include <vector>

#include "tutti/grad.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn::detail {

/// unstack(), but that the cotangents of all steps are put together at once. Those of T views would
/// be T arrays of zeros, each with one step in it, to add up.
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
