// SPDX-License-Identifier: Apache-2.0
//
// A plugin looked at in a process of its own: one that crashes, exits or hangs costs that process
// alone, and is named.
#pragma once

#include <functional>
#include <string>

#include "doctor.hpp"
#include "plugin/loader.hpp"

namespace tutti::tools {

/// How far the child goes.
enum class depth { devices, known_answers };

struct probe_result {
  std::string failure;  ///< "ended its process by signal 11 (...) within device.count"; else empty
  /// Whether `auto` had better pass over it. Many a driver does not survive the end of its process,
  /// and computes well until then.
  bool is_lasting = true;
};

/// Examines the plugin in a child; its findings go to `on_finding` as they arrive. `seconds`: how
/// long a single function of the plugin may take.
probe_result probe(const detail::plugin_file& file, depth how, double seconds,
                   const std::function<void(finding)>& on_finding);

/// Keeps a plugin that failed out of this process and, where that lasts, out of the choice of
/// `auto` in others.
void shut_out(const detail::plugin_file& file, const probe_result& result);

/// The child: `tutti probe PATH`. Returns the exit status.
int run_probe(const std::string& path, depth how, int report_to);

}  // namespace tutti::tools
