// SPDX-License-Identifier: Apache-2.0
//
// Makes failing random programs small.
#pragma once

#include "expression.hpp"

namespace tutti_test {

/// A small program whose last step still fails: the shortest failing prefix without steps that the
/// last one does not need, steps replaced by inputs that hold their values or left out, extents and
/// inputs made smaller. `fails` tells whether a program's last step is wrong; it is true of a
/// prefix of `steps`.
program shrink(const program& steps, dtypes types,
               const std::function<bool(const program&)>& fails);

}  // namespace tutti_test
