// SPDX-License-Identifier: Apache-2.0
//
// `tutti doctor`: looks at everything that the library needs of this machine and says, for each
// problem, what to do about it.
#pragma once

#include <string>
#include <vector>

namespace tutti::tools {

struct finding {
  enum class grade { good, note, problem };
  grade how = grade::good;
  std::string section;  ///< "plugins", "devices", ...
  std::string subject;  ///< "opencl", "opencl:0", ...
  std::string text;
  std::string advice;  ///< what to do; never empty for a problem
};

/// Prints the findings, or JSON. Returns the exit status: 1 where there is a problem.
int print_doctor(bool json);

/// OpenCL's vendor files, for the plugin of that name.
std::vector<finding> examine_opencl_drivers();
/// Folder of compiled programs: permissions, size.
std::vector<finding> examine_cache();

}  // namespace tutti::tools
