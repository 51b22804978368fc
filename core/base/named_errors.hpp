// SPDX-License-Identifier: Apache-2.0
//
// The names at the beginning of errors. A function that is composed of others uses its own name,
// which its caller wrote, instead of that of the step that found the invalid argument.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::base {

/// Throws the error being handled again, with `op` instead of the name before the first colon. Only
/// for errors of arguments: errors of a device refer to the step that it ran.
[[noreturn]] TUTTI_INTERNAL_API void rethrow_named(std::string_view op,
                                                   std::initializer_list<std::string_view> steps);

/// The result of compose(); errors of its arguments are attributed to `op`: all, or those named by
/// `steps` where `compose` calls functions of the application.
template <class F>
auto named(std::string_view op, F&& compose, std::initializer_list<std::string_view> steps = {}) {
  try {
    return std::forward<F>(compose)();
  } catch (const error&) {
    rethrow_named(op, steps);
  }
}

}  // namespace tutti::base
