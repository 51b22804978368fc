// SPDX-License-Identifier: Apache-2.0
//
// The plan of one evaluation: pending nodes in dependency order, duplicates merged, grouped into
// kernels. A group is one fused program (elementwise nodes with an optional reduction at its end)
// or one node that is a separate operator.
#pragma once

#include <boost/container/small_vector.hpp>
#include <functional>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace tutti::fusion {

using graph::node;

/// Operations that a product or a convolution applies to its result before it is stored:
/// activation(product + bias).
struct epilogue {
  const node* bias = nullptr;  // one value for each column, contiguous; or for each channel
  tutti_activation activation = TUTTI_ACTIVATION_NONE;
  std::vector<node*> members;  // the product, then the nodes that it includes
};

struct kept_program;

struct group {
  boost::container::small_vector<node*, 8> members;  // dependency order
  boost::container::small_vector<node*, 2> outputs;  // members whose values are stored
  const node* reduction = nullptr;                   // the last member, if it reduces
  const fusion::epilogue* epilogue = nullptr;        // of a product with additional operations
  kept_program* kept = nullptr;                      // that of the plan_cache, if it has one
  bool fused = false;                                // a program; otherwise a single operator
};

/// An element for each node of a plan: small evaluations, which are to be quick, allocate nothing.
template <class T>
using plan_list = boost::container::small_vector<T, 16>;

struct plan {
  plan_list<node*> nodes;    // dependency order, duplicates included; node::mark indexes it
  plan_list<node*> same_as;  // the node that computes the same value: itself or an earlier one
  plan_list<char> stored;    // must have its value in memory afterwards
  std::vector<fusion::epilogue> epilogues;
  std::vector<group> groups;          // execution order
  std::vector<graph::node_ref> held;  // results of calls, which may have no other references

  node* canonical(const node& n) const { return same_as[static_cast<std::size_t>(n.mark)]; }
};

/// Requests a device whose nodes are to be planned, until the plan has been executed; false if
/// other threads use it.
using device_claim = std::function<bool(const graph::opened_device&)>;

/// Fills an empty plan with the pending nodes below the roots. Sets node::mark, which the owner of
/// the plan resets: with release_marks(), or node by node as they are done. False, with no mark
/// set, if `claim` refused a device.
bool collect(plan& p, std::span<const node* const> roots, const device_claim& claim);
void release_marks(const plan& p) noexcept;
/// Merges nodes that compute the same value (common subexpressions).
void merge_duplicates(plan& p);
/// Finds elementwise nodes that products and convolutions can include, for which `supported` is
/// true (epilogue.cpp). Fills in p.epilogues.
void find_epilogues(plan& p, const std::function<bool(const epilogue&)>& supported);
/// Fills in p.groups.
void partition(plan& p);
/// Orders p.groups so that groups that wait for a copy from another device come after all others:
/// copies overlap with computation.
void order_around_transfers(plan& p);

/// Whether n is a constant 0 of a real dtype of its own.
bool is_zero(const node& n);

/// The node whose value an elementwise reader of `input` reads at the same positions: skips views
/// that change nothing.
inline node* look_through(const node& input) {
  const node* n = &input;
  if (!n->is_view()) return const_cast<node*>(n);
  const graph::view_params& view = n->view();
  if (n->extents == view.base->extents && view.where.offset == 0 &&
      graph::is_contiguous(n->extents, view.where.strides))
    n = view.base.get();
  return const_cast<node*>(n);
}

}  // namespace tutti::fusion
