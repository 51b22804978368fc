// SPDX-License-Identifier: Apache-2.0
//
// What was found about a device, as it is kept between processes: a text in the cache of compiled
// programs, for one driver, one build of the plugin and one version of the library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

struct verdicts {
  std::map<std::string, std::string>
      families;  ///< by name: what is wrong, empty where all is right
  std::map<std::string, std::string> facts;
};

TUTTI_INTERNAL_API std::string to_text(const verdicts& v);
/// Nothing for a text that to_text() did not write: then everything is asked again.
TUTTI_INTERNAL_API std::optional<verdicts> parse_verdicts(std::string_view text);

}  // namespace tutti::detail
