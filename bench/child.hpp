// SPDX-License-Identifier: Apache-2.0
//
// Programs beside this one, run for what they print or for the time they take.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti::bench {

/// What `program`, which lies beside this one, prints, run with these arguments and with these
/// environment variables changed. Throws where it cannot be started or fails.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments = {},
                      const std::vector<std::pair<std::string, std::string>>& changes = {});

}  // namespace tutti::bench
