// SPDX-License-Identifier: Apache-2.0
//
// `tutti doctor`: looks at everything that the library needs of this machine and says, for each
// problem, what to do about it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plugin/registry.hpp"

namespace tutti::tools {

struct finding {
  enum class grade { good, note, problem };
  grade how = grade::good;
  std::string section;  ///< "plugins", "devices", ...
  std::string subject;  ///< "opencl", "opencl:0", ...
  std::string text;
  std::string advice;  ///< what to do; never empty for a problem
};

nlohmann::json to_json(const finding& f);
finding finding_of(const nlohmann::json& row);

/// One plugin and its devices, in this process; `on_step` is told what is tried next.
void examine_plugin_file(detail::device_registry& registry, const detail::plugin_file& file,
                         const std::function<void(const std::string&)>& on_step,
                         const std::function<void(const finding&)>& on_finding);

/// OpenCL's vendor files, for the plugin of that name.
std::vector<finding> examine_opencl_drivers();
/// The program that compiles beside applications.
finding examine_trial();
/// Folder of compiled programs: permissions, size.
std::vector<finding> examine_cache();

}  // namespace tutti::tools
