// SPDX-License-Identifier: Apache-2.0
//
// `tutti doctor`: checks everything that the library needs on this machine and recommends a
// solution for each problem.
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
  std::string advice;  ///< recommended action; never empty for a problem
};

nlohmann::json to_json(const finding& f);
finding finding_of(const nlohmann::json& row);

/// One plugin and its devices, in this process; `on_step` receives the next step.
void examine_plugin_file(plugins::device_registry& registry, const plugins::plugin_file& file,
                         const std::function<void(const std::string&)>& on_step,
                         const std::function<void(const finding&)>& on_finding);

/// OpenCL's vendor files, for the opencl plugin.
std::vector<finding> examine_opencl_drivers();
/// The program that compiles beside applications.
finding examine_trial();
/// Folder of compiled programs: permissions, size.
std::vector<finding> examine_cache();

}  // namespace tutti::tools
