// SPDX-License-Identifier: Apache-2.0
//
// The results of an operator with several results. Each is a separate node, which references the
// node of the call; the call knows those that are still alive, so that one launch assigns memory to
// all of them.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "tutti/array.hpp"

namespace tutti::graph {

class node;

using detail::node_ref;

class call_results {
 public:
  struct result_type {
    dtype type;
    shape extents;
  };
  using types = std::vector<result_type>;

  explicit call_results(types all) : types_(std::move(all)), nodes_(types_.size(), nullptr) {}

  /// For all results, including unused ones: an operator writes them all.
  const types& all() const { return types_; }

  /// Any thread may call these.
  void add(node& n, std::size_t index);
  /// For a node that is being destroyed.
  void forget(std::size_t index) noexcept;
  /// The nodes that are still referenced, by index; null for others.
  boost::container::small_vector<node_ref, 3> alive();

 private:
  const types types_;
  std::mutex mutex_;
  boost::container::small_vector<node*, 3> nodes_;
};

}  // namespace tutti::graph
