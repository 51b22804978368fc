// SPDX-License-Identifier: Apache-2.0
#include "plugin/bounded_steps.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "tutti/error.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

void bounded_steps::give_up(const char* step) const {
  records_->give_up(plugin_);
  const std::string text = fmt::format("{}: did not come back from {} within {} s (TUTTI_TIMEOUT)",
                                       plugin_.string(), step, limit_);
  logging::warn("{}", text);  // others than who named the plugin may go on without it
  throw device_error(text, TUTTI_ERROR_TIMEOUT);
}

}  // namespace tutti::detail
