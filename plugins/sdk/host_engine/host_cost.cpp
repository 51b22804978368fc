// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/host_cost.hpp"

#include <algorithm>

namespace tutti::sdk {

void host_cost::add(double units, uint64_t ns) {
  if (units < 1) return;
  // Runs longer than expected count only up to this factor: they may have been interrupted.
  constexpr double most_longer = 1.25;
  const auto took = static_cast<double>(ns);
  const double before = ns_per_unit_.load(std::memory_order_relaxed);
  // If the fixed cost dominates, the run only gives an upper bound for the cost of a unit.
  const bool tells_more = took > 2 * ns_of_any;
  const double now = (tells_more ? took - ns_of_any : took) / units;
  if (now > before && !tells_more) return;
  const bool is_guess = !has_run_.exchange(true, std::memory_order_relaxed);
  const double next =
      is_guess || now < before ? 0.5 * (before + now) : std::min(now, most_longer * before);
  ns_per_unit_.store(next, std::memory_order_relaxed);
}

}  // namespace tutti::sdk
