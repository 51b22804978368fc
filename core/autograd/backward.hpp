// SPDX-License-Identifier: Apache-2.0
//
// The backward pass over a recorded graph.
#pragma once

#include <span>
#include <vector>

#include "graph/gradient_trace.hpp"
#include "tutti/array.hpp"

namespace tutti::autograd {

/// Cotangents of `variables` (graph::tracer of `trace`, which is active) for those of `results`;
/// zeros for a variable that no result depends on. Visits each node of the trace once, without
/// recursion.
std::vector<array> backward(array_list results, array_list cotangents, array_list variables,
                            graph::gradient_trace& trace);

}  // namespace tutti::autograd
