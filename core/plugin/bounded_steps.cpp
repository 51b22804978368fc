// SPDX-License-Identifier: Apache-2.0
#include "plugin/bounded_steps.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/process.hpp"
#include "tutti/error.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

void bounded_steps::give_up(const char* step) const {
  // Who exits waits no longer than that either, and what is left behind is not to blame.
  if (is_exiting()) require_computing(step);
  records_->give_up(plugin_);
  const std::string text = fmt::format("{}: did not come back from {} within {} s (TUTTI_TIMEOUT)",
                                       plugin_.string(), step, limit_);
  logging::warn("{}", text);  // others than who named the plugin may go on without it
  throw device_error(text, TUTTI_ERROR_TIMEOUT);
}

}  // namespace tutti::detail
