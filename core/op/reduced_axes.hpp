// SPDX-License-Identifier: Apache-2.0
//
// The axes that a reduction or a similar function removes.
#pragma once

#include <optional>
#include <string_view>

#include "tutti/ops.hpp"

namespace tutti::op {

/// Which axes a reduction removes, and the two shapes of its result.
struct reduced_axes {
  std::uint8_t mask = 0;
  std::int64_t count = 1;  // elements behind each result
  shape kept;              // without the reduced axes
  shape kept_dims;         // with extent 1 in their place
};

/// Throws index_error and value_error with `op` for axes that a does not have, or that are
/// repeated.
reduced_axes resolve(const array& a, const reduce_options& options, std::string_view op);

/// One axis or all, and whether they are kept.
reduce_options options_of(std::optional<integer> axis, bool keepdims);

}  // namespace tutti::op
