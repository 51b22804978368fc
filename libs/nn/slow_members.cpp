// SPDX-License-Identifier: Apache-2.0
//
// Members that slow a group down, found by measuring whole steps with and without them: a device
// with few rows still updates all parameters, and the others wait for it.
#include "nn/slow_members.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "tutti/nn/trainer.hpp"

namespace tutti::nn {

kinds fastest_kinds(kinds kept, const std::function<double(const kinds&)>& seconds_of) {
  if (kept.size() < 2) return kept;
  double seconds = seconds_of(kept);
  for (kinds before; before != kept;) {
    before = kept;
    for (const std::size_t k : before) {
      if (k == before[0]) continue;
      kinds rest = before;
      std::erase(rest, k);
      if (const double without = seconds_of(rest); without < seconds) {
        seconds = without;
        kept = rest;
      }
    }
  }
  return kept;
}

device_group without_slow_members(const device_group& group, const step_maker& make) {
  if (!make) throw value_error("without_slow_members: there is no function that makes a step");
  if (group.ranks())
    base::fail<value_error>("without_slow_members: a group over several ranks: {}", group.names());
  std::vector<device> first;  // of each kind
  kinds all, kind;            // kind: by member
  for (const device& member : group) {
    const auto at = std::find_if(first.begin(), first.end(), [&](const device& d) {
      return d == member || compute_alike(device_group({d, member}));
    });
    kind.push_back(static_cast<std::size_t>(at - first.begin()));
    if (at != first.end()) continue;
    all.push_back(first.size());
    first.push_back(member);
  }
  const auto members_of = [&](const kinds& some, bool are_in) {
    std::vector<device> members;
    for (std::size_t m = 0; m < group.size(); ++m)
      if ((std::find(some.begin(), some.end(), kind[m]) != some.end()) == are_in)
        members.push_back(group[m]);
    return device_group(members);
  };
  std::map<kinds, double> seconds;  // of a step
  const kinds kept = fastest_kinds(all, [&](const kinds& some) {
    const std::function<void()> step = make(members_of(some, true));
    if (!step) throw value_error("without_slow_members: there is no step");
    step();
    const auto start = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return seconds[some] = taken.count();
  });
  if (kept == all) return group;
  logging::warn(
      "without_slow_members: {} is left out: a step takes {:.3g} s with it, {:.3g} s without",
      members_of(kept, false).names(), seconds.at(all), seconds.at(kept));
  return members_of(kept, true);
}

}  // namespace tutti::nn
