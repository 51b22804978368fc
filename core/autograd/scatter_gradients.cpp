// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of scatters: gathers of the cotangent, weighted by the effect of each update.
#include "autograd/gradients.hpp"
#include "op/operands.hpp"

namespace tutti::autograd {
namespace {

struct operands {
  array base, updates, index;
  array at_updates(const array& rows) const { return op::take_rows(rows, index); }
  // The sum of a weight of base and the weights of the updates at each position.
  array total(const array& of_base, const array& of_updates) const {
    return op::scatter_into(of_base, of_updates, index, scatter_mode::add);
  }
};

// The cotangent goes to the last update of a position.
std::vector<array> of_set(const operands& x, const array& g) {
  const std::int64_t rows = x.base.dim(1), picks = x.index.size();
  const auto device = x.updates.node()->device;
  const array number = reshape(graph::iota({picks}, device), {1, picks, 1});
  const array last = op::scatter_into(op::zeros_on({1, rows, 1}, dtype::i64, device), number,
                                      x.index, scatter_mode::set);
  const array stays = x.at_updates(last) == number;
  return {op::scatter_into(g, zeros_like(x.updates), x.index, scatter_mode::set),
          where(stays, x.at_updates(g), 0)};
}

// Each factor gets the product of the others.
std::vector<array> of_multiply(const operands& x, const array& g, int order) {
  const array base_zero = x.base == 0, update_zero = x.updates == 0;
  zero_aware_product p;
  p.zeros = x.total(astype(base_zero, dtype::i32), astype(update_zero, dtype::i32));
  p.rest = op::scatter_into(where(base_zero, 1, x.base), where(update_zero, 1, x.updates), x.index,
                            scatter_mode::multiply);
  const std::vector<array> of_base = powers(zero_factors(x.base), order - 1);
  const std::vector<array> of_updates = powers(zero_factors(x.updates), order - 1);
  zero_aware_product at{x.at_updates(p.rest), x.at_updates(p.zeros), {}};
  for (std::size_t i = 0; i < of_base.size(); ++i) {
    p.sums.push_back(x.total(of_base[i], of_updates[i]));
    at.sums.push_back(x.at_updates(p.sums.back()));
  }
  return {g * product_of_others(x.base, p), x.at_updates(g) * product_of_others(x.updates, at)};
}

// Equal shares for all elements equal to the extremum.
std::vector<array> of_extrema(const operands& x, const array& y, const array& g) {
  const array base_wins = x.base == y, update_wins = x.updates == x.at_updates(y);
  const array winners =
      x.total(astype(base_wins, x.base.dtype()), astype(update_wins, x.base.dtype()));
  const array share = g / maximum(winners, 1);
  return {where(base_wins, share, 0), where(update_wins, x.at_updates(share), 0)};
}

}  // namespace

std::vector<array> scatter_cotangents(const array& y, const array& g, int order) {
  const graph::node& n = *y.node();
  const operands x{array(n.inputs[0]), array(n.inputs[1]), array(n.inputs[2])};
  if (n.is(TUTTI_OPERATOR_SCATTER_ADD)) return {g, x.at_updates(g)};
  const auto how = n.operation().get<tutti_scatter_params>().scatter;
  if (how == TUTTI_SCATTER_SET) return of_set(x, g);
  return how == TUTTI_SCATTER_MULTIPLY ? of_multiply(x, g, order) : of_extrema(x, y, g);
}

}  // namespace tutti::autograd
