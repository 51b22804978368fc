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

// Below, `order` is 1 where nobody differentiates the cotangents again, and one more for each
// transform that may: products of zeros take more work then.

/// Of a cumulative operation over floats.
std::vector<array> scan_cotangents(const array& y, const array& g, int order);

/// Of both operands of a convolution.
std::vector<array> convolution_cotangents(const array& y, const array& g);
/// Of a Fourier transform.
std::vector<array> fourier_cotangents(const array& y, const array& g);

/// Of base, updates and index of a scatter.
std::vector<array> scatter_cotangents(const array& y, const array& g, int order);

/// Cotangents of the inputs of y, each in its input's shape and dtype; shorter than the inputs or
/// holding invalid arrays where the derivative is zero everywhere.
std::vector<array> input_cotangents(const array& y, const array& g, int order);

/// Cotangents of the inputs of a custom_rule from those of its values, of which invalid ones are
/// zero (custom_vjp.cpp).
std::vector<array> custom_cotangents(const detail::node_ref& rule,
                                     const std::vector<array>& cotangents, int order);

/// What product_of_others() needs to know of the product that each factor belongs to.
struct zero_aware_product {
  array rest;               // the product of the factors that are not 0
  array zeros;              // how many are
  std::vector<array> sums;  // of powers() of zero_factors(), the highest being order - 1
};

/// x where it is 0, and 0 elsewhere: not the same, once differentiated.
array zero_factors(const array& x);
/// x, x^2, ..., x^highest.
std::vector<array> powers(const array& x, int highest);

/// For each factor the product of the others. Products that zeros make vanish are written as the
/// elementary symmetric polynomials of these zeros, so that their derivatives are right as well.
array product_of_others(const array& x, const zero_aware_product& p);

}  // namespace tutti::autograd
