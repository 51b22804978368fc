// SPDX-License-Identifier: Apache-2.0
//
// Regression trees over binned features: complete binary trees as arrays. If the host can read the
// device's values, trees are grown on the host, node by node; otherwise level by level with
// whole-array operations, without waiting for a level.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/export.hpp"

namespace tutti::ml {

/// Samples as bin numbers. The key of bin b of feature f is f * bins + b.
struct binned_samples {
  array keys;                         ///< [rows, features] i32 or i64, evaluated
  std::vector<std::uint8_t> columns;  ///< replaces keys on the host: bins [features, rows]
  std::vector<double> edge_values;    ///< with columns: the values of `edges`
  array edges;  ///< [features * bins]: bin b has values <= edge b; infinite for none
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t bins = 0;  ///< of each feature; the last has no edge
};
/// Up to max_bins bins per feature: one per value if there are few values, else divided at
/// quantiles, of a subset if there are many rows. Trees have up to `leaves` leaves.
TUTTI_INTERNAL_API binned_samples binned(const array& x, int max_bins, std::int64_t leaves,
                                         bool on_host);
/// Whether trees for x are grown on the host.
bool is_grown_on_host(const array& x);

struct tree_options {
  int depth;
  double min_samples, l2, rate;
};

/// Nodes in heap order.
struct tree {
  array features;    ///< i64 [2^depth - 1]
  array thresholds;  ///< [2^depth - 1], of samples; infinite if the node is not split
  array values;      ///< [2^depth] of the leaves, times the rate
  array fitted;      ///< [rows]: the value of each sample
};
/// The tree that lowers sum(g f + h f^2 / 2) most, split by split, for first and second derivatives
/// g and h [rows]; an invalid h means ones. Lazy if samples are not on the host.
TUTTI_INTERNAL_API tree grow(const binned_samples& x, const array& g, const array& h,
                             const tree_options& options);
tree grow_on_host(const binned_samples& x, const array& g, const array& h,
                  const tree_options& options);
/// The minimum curvature of a leaf.
constexpr double least_curvature = 1e-3;
/// Relative gains below this are rounding errors.
double rounding_of_gains(dtype type);

/// The sum of leaf values of `outputs` interleaved families of trees: [rows, outputs]. `features`
/// must be in [0, features of x). Lazy.
array sum_of_trees(const array& x, const array& features, const array& thresholds,
                   const array& values, std::int64_t outputs);

}  // namespace tutti::ml
