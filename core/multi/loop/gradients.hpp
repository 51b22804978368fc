// SPDX-License-Identifier: Apache-2.0
//
// Values that pass through the host have no history: a gradient would silently be zero.
#pragma once

#include <string>

#include "graph/build.hpp"
#include "tutti/error.hpp"

namespace tutti::multi {

/// Throws value_error with `what` if `a` is being differentiated. `remedy` is an alternative to
/// stop_gradient().
inline void require_no_gradient(const array& a, const std::string& label, const std::string& what,
                                const std::string& remedy) {
  if (!a.valid() || !graph::is_differentiated(a)) return;
  base::fail<value_error>(
      "{}: {} is being differentiated, and values that pass through the host have no "
      "gradient; stop_gradient() it, or {}",
      label, what, remedy);
}

}  // namespace tutti::multi
