// SPDX-License-Identifier: Apache-2.0
//
// Collectives that a plugin offers between its own devices (NCCL in cuda): one call of all members,
// whose results are nodes of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/execute/launch.hpp"
#include "runtime/transfer/arrival.hpp"

namespace tutti::runtime {

enum class collective_kind : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all };

/// What the nodes of one call share. The first of them to be evaluated launches it for all; the
/// results of the others wait here.
struct collective_call {
  collective_kind kind = collective_kind::all_reduce;
  tutti_reduction reduction = TUTTI_REDUCE_SUM;
  double time_limit = 0;  // seconds; 0: none
  std::string label;

  std::vector<buffer_block*> results;  // of each member, once launched; one reference each
  arrivals ends;                       // of each member

  collective_call() = default;
  /// Gives the results back that nobody took.
  void drop_results();
  collective_call(const collective_call&) = delete;
  collective_call& operator=(const collective_call&) = delete;
  ~collective_call() { drop_results(); }
};

/// Whether the members are devices of one plugin that runs collectives between them. The first
/// question sets up what the answer needs, and a refusal is logged once.
bool offers_collectives(std::span<const detail::opened_device* const> members);

/// Launches the call of n, a node of kind collective, on the copy streams of all members, unless
/// that has happened, and publishes n's result. The caller holds the executor's lock.
void launch_collective(graph::node& n);

}  // namespace tutti::runtime
