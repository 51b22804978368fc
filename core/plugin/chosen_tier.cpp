// SPDX-License-Identifier: Apache-2.0
#include "plugin/chosen_tier.hpp"

#include <fmt/format.h>

#include <mutex>

#include "base/env.hpp"
#include "tutti/error.hpp"
#include "tutti/tier.hpp"

namespace tutti {
namespace {

struct choice {
  std::mutex mutex;
  std::optional<std::string> chosen;  // by the application
  std::optional<std::string> taken;   // by a plugin
};

choice& the_choice() {
  static auto* const made = new choice;
  return *made;
}

}  // namespace

namespace detail {

std::optional<std::string> tier_for_plugin() {
  choice& c = the_choice();
  const std::lock_guard lock(c.mutex);
  const std::optional<std::string> now = c.chosen ? c.chosen : env("TUTTI_TIER");
  c.taken = now.value_or(std::string(to_string(tier::automatic)));
  return now;
}

}  // namespace detail

std::string_view to_string(tier which) noexcept {
  switch (which) {
    case tier::host:
      return "host";
    case tier::compiled:
      return "compiled";
    default:
      return "auto";
  }
}

void use_tier(tier which) {
  const std::string wanted(to_string(which));
  choice& c = the_choice();
  const std::lock_guard lock(c.mutex);
  if (c.taken && *c.taken != wanted)
    throw value_error(fmt::format(
        "use_tier: {} is asked for, but a plugin has been loaded that runs by {}; call it before "
        "the first use of a device, or set TUTTI_TIER={}",
        wanted, *c.taken, wanted));
  c.chosen = wanted;
}

}  // namespace tutti
