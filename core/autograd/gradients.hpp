// SPDX-License-Identifier: Apache-2.0
//
// Local derivatives: the cotangents of a node's inputs from the cotangent of its value. They are
// ordinary arrays, so that gradients of gradients come for free.
#pragma once

#include <vector>

#include "graph/node.hpp"

namespace tutti::autograd {

/// Cotangents of the operands of an elementwise row, by the gradient column of op_table.def, in the
/// shape of the result; empty where the row has none. g: cotangent of the result y; a, b, c: its
/// operands (b and c invalid where the row has fewer).
std::vector<array> row_cotangents(std::uint16_t opcode, const array& g, const array& a,
                                  const array& b, const array& c, const array& y);

/// Of a cumulative operation over floats.
std::vector<array> scan_cotangents(const array& y, const array& g);

/// Of base, updates and index of a scatter.
std::vector<array> scatter_cotangents(const array& y, const array& g);

/// Cotangents of the inputs of y, each in its input's shape and dtype; shorter than the inputs or
/// holding invalid arrays where the derivative is zero everywhere.
std::vector<array> input_cotangents(const array& y, const array& g);

}  // namespace tutti::autograd
