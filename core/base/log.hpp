// SPDX-License-Identifier: Apache-2.0
//
// Logging to stderr through the spdlog logger "tutti", at the level of TUTTI_LOG (off, error, warn,
// info, debug; default warn). Messages are formatted only if they will be written.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "tutti/export.hpp"

namespace tutti::logging {

enum class level { off = 0, error = 1, warn = 2, info = 3, debug = 4 };

TUTTI_INTERNAL_API bool enabled(level at) noexcept;
TUTTI_INTERNAL_API void write(level at, std::string_view message) noexcept;
TUTTI_INTERNAL_API void set_level(level at) noexcept;

template <class... Args>
void message(level at, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(at)) write(at, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  message(level::error, format, std::forward<Args>(args)...);
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  message(level::warn, format, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  message(level::info, format, std::forward<Args>(args)...);
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  message(level::debug, format, std::forward<Args>(args)...);
}

}  // namespace tutti::logging
