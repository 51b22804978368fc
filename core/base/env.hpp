// SPDX-License-Identifier: Apache-2.0
//
// The one way in which environment variables are read. An empty variable counts as unset.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tutti::detail {

inline std::optional<std::string> env(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

}  // namespace tutti::detail
