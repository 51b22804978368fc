// SPDX-License-Identifier: Apache-2.0
//
// Regression trees over binned features: complete binary trees as arrays. On devices whose values
// the host has at hand they are grown there, node by node; elsewhere level by level by whole-array
// operations, so that nobody waits for a level.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/export.hpp"

namespace tutti::ml {

/// Samples as numbers of bins. The key of bin b of feature f is f * bins + b.
struct binned_samples {
  array keys;                         ///< [rows, features] i32 or i64, evaluated
  std::vector<std::uint8_t> columns;  ///< instead of keys, on the host: bins [features, rows]
  std::vector<double> edge_values;    ///< with columns: those of `edges`
  array edges;  ///< [features * bins]: bin b has what is <= edge b; infinite for none
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t bins = 0;  ///< of each feature; the last has no edge
};
/// Up to max_bins bins a feature: one for each value where there are so few, else at quantiles, of
/// a part of the rows where there are many. Trees will have up to `leaves` leaves.
TUTTI_INTERNAL_API binned_samples binned(const array& x, int max_bins, std::int64_t leaves,
                                         bool on_host);
/// Whether trees for x are to be grown on the host.
bool is_grown_on_host(const array& x);

struct tree_options {
  int depth;
  double min_samples, l2, rate;
};

/// Nodes in the order of a heap.
struct tree {
  array features;    ///< i64 [2^depth - 1]
  array thresholds;  ///< [2^depth - 1], of samples; infinite where a node is not split
  array values;      ///< [2^depth] of the leaves, times the rate
  array fitted;      ///< [rows]: the value that each sample gets
};
/// The tree that lowers sum(g f + h f^2 / 2) most, split by split, for first and second derivatives
/// g and h [rows]; an invalid h stands for ones. Lazy where samples are not on the host.
TUTTI_INTERNAL_API tree grow(const binned_samples& x, const array& g, const array& h,
                             const tree_options& options);
tree grow_on_host(const binned_samples& x, const array& g, const array& h,
                  const tree_options& options);
/// Less curvature than this is no leaf.
constexpr double least_curvature = 1e-3;
/// A gain below this part of what it is a difference of is rounding.
double rounding_of_gains(dtype type);

/// The sum of values of the leaves of `outputs` interleaved families of trees: [rows, outputs]. The
/// features lie in [0, features of x). Lazy.
array sum_of_trees(const array& x, const array& features, const array& thresholds,
                   const array& values, std::int64_t outputs);

}  // namespace tutti::ml
