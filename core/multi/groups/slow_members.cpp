// SPDX-License-Identifier: Apache-2.0
//
// Members that slow a group down, found by measuring whole steps with and without them: a device
// with few rows still updates all parameters, and the others wait for it.
#include <algorithm>
#include <chrono>

#include "base/log.hpp"
#include "multi/groups/kinds.hpp"
#include "multi/groups/participants.hpp"
#include "tutti/multi.hpp"

namespace tutti {

multi::timed_kinds multi::fastest_kinds(
    std::size_t count, const std::function<double(const std::vector<std::size_t>&)>& seconds_of,
    const std::function<void(const timed_kinds&, const timed_kinds&)>& left_out) {
  timed_kinds kept;
  for (std::size_t k = 0; k < count; ++k) kept.kinds.push_back(k);
  if (count < 2) return kept;
  kept.seconds = seconds_of(kept.kinds);
  while (kept.kinds.size() > 1) {
    timed_kinds best = kept;
    for (const std::size_t k : kept.kinds) {
      if (k == 0) continue;
      timed_kinds rest = kept;
      std::erase(rest.kinds, k);
      rest.seconds = seconds_of(rest.kinds);
      if (rest.seconds < best.seconds) best = rest;
    }
    if (best.kinds.size() == kept.kinds.size()) break;
    left_out(kept, best);
    kept = best;
  }
  return kept;
}

device_group without_slow_members(const device_group& group, const step_maker& make) {
  constexpr const char* op = "without_slow_members";
  multi::require_function(make, op, "function that makes a step");
  std::vector<std::string> names;      // of kinds
  std::vector<std::size_t> kind_here;  // by member
  for (const device& member : group) {
    const auto at = std::find(names.begin(), names.end(), multi::kind_of(member));
    kind_here.push_back(static_cast<std::size_t>(at - names.begin()));
    if (at == names.end()) names.push_back(multi::kind_of(member));
  }
  const auto members_of = [&](const std::vector<std::size_t>& kinds) {
    std::vector<device> members;
    for (std::size_t m = 0; m < group.size(); ++m)
      if (std::find(kinds.begin(), kinds.end(), kind_here[m]) != kinds.end())
        members.push_back(group[m]);
    return device_group(members);
  };
  const auto seconds_of = [&](const std::vector<std::size_t>& kinds) {
    const std::function<void()> step = make(members_of(kinds));
    multi::require_function(step, op, "step");
    step();
    const auto start = std::chrono::steady_clock::now();
    step();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto say = [&](const multi::timed_kinds& before, const multi::timed_kinds& now) {
    std::vector<std::size_t> gone;
    std::set_difference(before.kinds.begin(), before.kinds.end(), now.kinds.begin(),
                        now.kinds.end(), std::back_inserter(gone));
    logging::warn("{}: {} is left out: a step takes {:.3g} s with it, {:.3g} s without", op,
                  members_of(gone).names(), before.seconds, now.seconds);
  };
  return members_of(multi::fastest_kinds(names.size(), seconds_of, say).kinds);
}

}  // namespace tutti
