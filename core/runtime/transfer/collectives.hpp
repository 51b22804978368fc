// SPDX-License-Identifier: Apache-2.0
//
// Collectives that a plugin provides between its own devices (NCCL in cuda): one call for all
// members, whose results are separate nodes.
#pragma once

#include <span>

#include "graph/node.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::runtime {

/// Whether the members are devices of one plugin that supports these collectives between them. The
/// first call creates the group, and a refusal is logged once.
bool offers_collectives(std::span<const detail::opened_device* const> members,
                        tutti_collective kind, dtype type, tutti_reduction reduction);

/// Launches the call of n, a node of kind collective, on the copy streams of all members, unless it
/// was launched before, and publishes n's result. The caller holds all members' devices.
void launch_collective(graph::node& n);

}  // namespace tutti::runtime
