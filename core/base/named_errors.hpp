// SPDX-License-Identifier: Apache-2.0
//
// The names that errors begin with. A function that is composed of others says its own, which its
// caller wrote, instead of that of the step which found the argument wrong.
#pragma once

#include <string_view>
#include <utility>

#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::detail {

/// Throws the error that is being handled once more, with `op` in the place of the name before the
/// first colon. Only errors of arguments: what a device says is about the step that it ran.
[[noreturn]] TUTTI_INTERNAL_API void rethrow_named(std::string_view op);

/// What compose() returns; errors of its arguments are said to be those of `op`.
template <class F>
auto named(std::string_view op, F&& compose) {
  try {
    return std::forward<F>(compose)();
  } catch (const error&) {
    rethrow_named(op);
  }
}

}  // namespace tutti::detail
