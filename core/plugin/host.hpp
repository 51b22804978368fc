// SPDX-License-Identifier: Apache-2.0
//
// What the core offers to a plugin (tutti_host): log, cache of compiled code, compile reports.
#pragma once

#include <string>

#include "plugin/plugin.hpp"

namespace tutti::detail {

struct opened_device;

/// Whose host table it is; cache keys and log lines carry it.
struct host_identity {
  tutti_host table{};
  std::string name = "plugin";  ///< for log lines
  std::string cache_prefix;     ///< ABI, plugin, version and build; empty: not negotiated yet
};

/// A new table that lives until the process exits. The plugin's identity follows later, since it is
/// known only once the entry has returned.
const tutti_host* make_host(host_identity** identity);
void identify_host(host_identity& identity, const plugin& of);

/// What every key of the cache begins with: ABI, plugin, version and build.
std::string cache_prefix(const plugin& of);
/// The same for what goes by a device: its driver and its kind of kernels as well.
std::string cache_prefix(const opened_device& of);

}  // namespace tutti::detail
