// SPDX-License-Identifier: Apache-2.0
//
// Local derivatives: the cotangents of a node's inputs from the cotangent of its value. They are
// ordinary arrays, so that they can be differentiated again.
#pragma once

#include <vector>

#include "graph/node.hpp"

namespace tutti::autograd {

/// Cotangents of the operands of an elementwise row, by the gradient column of op_table.def, in the
/// shape of the result; empty if the row has none. g: cotangent of the result y; a, b, c: its
/// operands (b and c invalid if the row has fewer).
std::vector<array> row_cotangents(std::uint16_t opcode, const array& g, const array& a,
                                  const array& b, const array& c, const array& y);

// Below, `order` is 1 if the cotangents are not differentiated again, plus one for each transform
// that may do so: products of zeros then need more work.

/// For a cumulative operation over floats.
std::vector<array> scan_cotangents(const array& y, const array& g, int order);

/// For both operands of a convolution.
std::vector<array> convolution_cotangents(const array& y, const array& g);
/// For a Fourier transform.
std::vector<array> fourier_cotangents(const array& y, const array& g);

/// For base, updates and index of a scatter.
std::vector<array> scatter_cotangents(const array& y, const array& g, int order);

/// Cotangents of the inputs of y, each with its input's shape and dtype; fewer than the inputs or
/// invalid arrays where the derivative is zero everywhere.
std::vector<array> input_cotangents(const array& y, const array& g, int order);

/// Cotangents of the inputs of a custom_rule from those of its values, of which invalid ones are
/// zero (custom_vjp.cpp).
std::vector<array> custom_cotangents(const detail::node_ref& rule,
                                     const std::vector<array>& cotangents, int order);

/// The data that product_of_others() needs about the product of each factor.
struct zero_aware_product {
  array rest;               // the product of the factors that are not 0
  array zeros;              // number of zero factors
  std::vector<array> sums;  // of powers() of zero_factors(), the highest is order - 1
};

/// x where it is 0, and 0 elsewhere: not 0 when differentiated.
array zero_factors(const array& x);
/// x, x^2, ..., x^highest.
std::vector<array> powers(const array& x, int highest);

/// The product of the other factors for each factor. Products with zeros are written as elementary
/// symmetric polynomials of the zeros, so that their derivatives are correct as well.
array product_of_others(const array& x, const zero_aware_product& p);

}  // namespace tutti::autograd
