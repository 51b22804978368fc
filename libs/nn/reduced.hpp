// SPDX-License-Identifier: Apache-2.0
//
// Reduction of the losses of all elements.
#pragma once

#include "tutti/nn/losses.hpp"

namespace tutti::nn::detail {

/// Throws shape_error for the mean of no elements.
array reduced(const char* op, const array& losses, reduction how);

}  // namespace tutti::nn::detail
