// SPDX-License-Identifier: Apache-2.0
//
// Data shared by the nodes of one call of a plugin's collective, one node per member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/arrival.hpp"
#include "graph/storage.hpp"
#include "tutti/plugin.h"

namespace tutti::runtime {
class rank_communicator;
}

namespace tutti::graph {

struct collective_kind {
  tutti_collective kind = TUTTI_COLLECTIVE_ALL_REDUCE;
  tutti_reduction reduction = TUTTI_REDUCE_NONE;
  double time_limit = 0;  // seconds; 0: none
  std::string label;
  runtime::rank_communicator* ranks = nullptr;  // null: all participants belong to this process
};

/// The first node to be evaluated launches the call for all; the results of the others are stored
/// here.
struct collective_call : collective_kind {
  std::vector<storage*> results;  // of each member, once launched; one reference each
  arrivals ends;                  // of each member

  collective_call() = default;
  collective_call(collective_call&&) = delete;
  ~collective_call() { drop_results(); }
  /// Releases the results that were not taken.
  void drop_results() {
    for (storage* result : results)
      if (result != nullptr) result->release();
    results.clear();
  }
};

}  // namespace tutti::graph
