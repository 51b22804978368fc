// SPDX-License-Identifier: Apache-2.0
//
// The functions that the core provides to a plugin (tutti_host): log, cache of compiled code,
// compilation reports.
#pragma once

#include <string>

#include "plugin/plugin.hpp"

namespace tutti::detail {
struct opened_device;
}

namespace tutti::plugins {

/// The plugin of a host table, for cache keys and log messages.
struct host_identity {
  tutti_host table{};
  std::string name = "plugin";  ///< for log lines
  std::string cache_prefix;     ///< ABI, plugin, version and build; empty: not known yet
};

/// A new table that exists until the process exits. The plugin's identity is set later, because it
/// is known only after the entry point has returned.
const tutti_host* make_host(host_identity** identity);
void identify_host(host_identity& identity, const plugin& of);

/// The beginning of every cache key: ABI, plugin, version and build.
std::string cache_prefix(const plugin& of);
/// The same for keys that depend on a device: also its driver and its kind of kernels.
std::string cache_prefix(const detail::opened_device& of);

}  // namespace tutti::plugins
