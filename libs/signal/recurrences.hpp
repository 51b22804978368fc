// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences over lines of samples, as matrix products.
//
// A filter is a state s and a rule that processes one sample. Over a block of samples x both the
// outputs and the state after it are linear in x and s: y = x H + s O, s' = x K + s P
// (filter_blocks). The states between blocks follow a similar recurrence, s[k + 1] = s[k] P +
// c[k], so they are computed in a tree.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tutti/extension.hpp"

namespace tutti::op {

/// A filter: `step` takes a sample and the state of `order` numbers, updates the state and returns
/// the output. Linear in both.
struct linear_filter {
  std::int64_t order = 0;
  std::function<double(double sample, std::vector<double>& state)> step;
};

struct filtered_lines {
  array values;  // [rows, length]
  array state;   // [rows, order], at the end
};

/// Filters lines x [rows, length] from a state [rows, order], both of a floating or complex dtype
/// in which devices compute. Throws value_error with `op` if the impulse response of a block
/// overflows f64.
filtered_lines run_filter(const linear_filter& filter, const array& x, const array& state,
                          std::string_view op);

}  // namespace tutti::op
