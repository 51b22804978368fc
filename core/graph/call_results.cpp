// SPDX-License-Identifier: Apache-2.0
#include "graph/call_results.hpp"

#include "graph/node.hpp"

namespace tutti::graph {

void call_results::add(node& n, std::size_t index) {
  const std::lock_guard lock(mutex_);
  nodes_[index] = &n;
}

void call_results::forget(std::size_t index) noexcept {
  const std::lock_guard lock(mutex_);
  nodes_[index] = nullptr;
}

boost::container::small_vector<node_ref, 3> call_results::alive() {
  boost::container::small_vector<node_ref, 3> out(nodes_.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] != nullptr && try_retain(nodes_[i])) out[i] = node_ref(nodes_[i]);
  return out;
}

}  // namespace tutti::graph
