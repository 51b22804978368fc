// SPDX-License-Identifier: Apache-2.0
//
// A plugin looked at in a process of its own: one that crashes, exits or hangs costs that process
// alone, and is named.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "command.hpp"
#include "doctor.hpp"
#include "plugin/loader.hpp"

namespace tutti::tools {

/// How far the child goes: to the list of devices, to the first use of one as `auto` begins it, or
/// to all known answers.
enum class depth { devices, first_use, known_answers };

/// Seconds that a single function of a plugin may take before it counts as hung.
struct time_limits {
  double listing = 20;     ///< it may wait for a driver
  double computing = 120;  ///< it may compile kernels
};

/// The option --time-limit, which sets both.
void add_time_limit(CLI::App& parser, time_limits& limits);

struct probe_result {
  std::string failure;  ///< "ended its process by signal 11 (...) within device.count"; else empty
  /// Whether `auto` had better pass over it. Many a driver does not survive the end of its process,
  /// and computes well until then.
  bool is_lasting = true;
  std::string remark;  ///< what else is wrong with it: "writes to ..."; else empty
};

/// Examines the plugin in a child; its findings go to `on_finding` as they arrive. `device`: which
/// one is used. `linger`: for how many seconds the child stays when it is done, for what the plugin
/// has left running.
probe_result probe(const detail::plugin_file& file, depth how, const time_limits& limits,
                   const std::function<void(finding)>& on_finding, uint32_t device = 0,
                   double linger = 0);

/// Until it goes away, `auto` chooses in this process without opening a device in it: that happens
/// to children. Plugins that fail there lose their devices at the end, and devices that cannot be
/// used are left out.
class choice_in_children {
 public:
  explicit choice_in_children(const time_limits& limits);
  ~choice_in_children();
  choice_in_children(const choice_in_children&) = delete;
  choice_in_children& operator=(const choice_in_children&) = delete;

 private:
  std::string judge(detail::opened_device& d);

  const time_limits limits_;
  std::map<std::string, std::string> failures_;     // by plugin
  std::map<std::string, std::string> passed_over_;  // by device
};

/// Keeps a plugin that failed out of this process and, where that lasts, out of the choice of
/// `auto` in others.
void shut_out(const detail::plugin_file& file, const probe_result& result);

}  // namespace tutti::tools
