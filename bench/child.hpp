// SPDX-License-Identifier: Apache-2.0
//
// Programs beside this one, run for what they print or for the time they take.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti::bench {

/// Environment variables and the values they get.
using environment = std::vector<std::pair<std::string, std::string>>;

/// What `program`, which lies beside this one, prints, run with these arguments and with these
/// environment variables changed. Throws where it cannot be started or fails.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments = {},
                      const environment& changes = {});

}  // namespace tutti::bench
