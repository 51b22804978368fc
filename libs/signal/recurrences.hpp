// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences over lines of samples, as matrix products.
//
// A filter is a state s and a rule that takes one sample. Over a block of samples x both the
// outputs and the state behind it are linear in x and s: y = x H + s O, s' = x K + s P
// (filter_blocks.hpp). The states between blocks obey a recurrence of the same kind, s[k + 1] =
// s[k] P + c[k], so they are found in a tree.
#pragma once

#include <string_view>

#include "signal/filter_blocks.hpp"

namespace tutti::op {

struct filtered_lines {
  array values;  // [rows, length]
  array state;   // [rows, order], at the end
};

/// Lines x [rows, length] from a state [rows, order], both of a floating or complex dtype that
/// devices compute in. Throws value_error naming `op` where what a block answers to an impulse
/// overflows f64.
filtered_lines run_filter(const linear_filter& filter, const array& x, const array& state,
                          std::string_view op);

}  // namespace tutti::op
