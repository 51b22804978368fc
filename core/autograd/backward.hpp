// SPDX-License-Identifier: Apache-2.0
//
// The reverse sweep over a recorded graph, and the end of a recording.
#pragma once

#include <span>
#include <vector>

#include "tutti/array.hpp"

namespace tutti::autograd {

/// Cotangents of `variables` (graph::tracer) for those of `results`; zeros for a variable that no
/// result depends on. `order` is 1, and one more for each transform that
/// may differentiate them again. Walks the graph without recursion, each node once.
std::vector<array> backward(std::span<const array> results, std::span<const array> cotangents,
                            std::span<const array> variables, int order);

/// Ends the recording behind `roots`: their nodes no longer keep inputs for gradients, and those
/// that are evaluated already drop them now.
void untrace(std::span<const array> roots);

}  // namespace tutti::autograd
