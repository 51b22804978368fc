// SPDX-License-Identifier: Apache-2.0
//
// The order of groups around copies between devices. A device's compute stream runs in order, so a
// group that waits for a copy would delay everything after it.
#include <algorithm>
#include <numeric>

#include "fusion/plan.hpp"

namespace tutti::fusion {

void order_around_transfers(plan& p) {
  const auto is_transfer = [](const group& g) {
    const graph::kind kind = g.members.front()->kind;
    return kind == graph::kind::transfer || kind == graph::kind::collective;
  };
  if (std::none_of(p.groups.begin(), p.groups.end(), is_transfer)) return;

  // Number of consecutive copies on the path to each group.
  std::vector<int> group_of(p.nodes.size(), -1), level(p.groups.size(), 0);
  for (std::size_t i = 0; i < p.groups.size(); ++i)
    for (const node* m : p.groups[i].members)
      group_of[static_cast<std::size_t>(m->mark)] = static_cast<int>(i);
  for (std::size_t i = 0; i < p.groups.size(); ++i) {
    for (const node* m : p.groups[i].members)
      for (const auto& input : m->inputs) {
        const node& base = graph::base_of(*input);
        if (base.mark < 0) continue;
        const int from = group_of[static_cast<std::size_t>(p.canonical(base)->mark)];
        if (from < 0 || from == static_cast<int>(i)) continue;
        const auto producer = static_cast<std::size_t>(from);
        level[i] = std::max(level[i], level[producer] + (is_transfer(p.groups[producer]) ? 1 : 0));
      }
  }
  std::vector<std::size_t> order(p.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
  std::vector<group> sorted;
  sorted.reserve(p.groups.size());
  for (std::size_t i : order) sorted.push_back(std::move(p.groups[i]));
  p.groups = std::move(sorted);
}

}  // namespace tutti::fusion
