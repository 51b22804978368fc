// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TIER and what use_tier() says instead, as plugins are told.
#pragma once

#include <optional>
#include <string>

namespace tutti::detail {

/// The setting for a plugin, which goes by it from now on. Thread-safe.
std::optional<std::string> tier_for_plugin();

}  // namespace tutti::detail
