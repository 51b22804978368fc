// SPDX-License-Identifier: Apache-2.0
//
// Numbers of bins, and how often each occurs: what histograms of all kinds are made of.
#pragma once

#include "op/operands.hpp"

namespace tutti::op {

/// The dtype in which elements are compared with edges: floats as they are, integers in f64 where
/// f32 does not hold them and the device has f64.
dtype edge_type(const array& a);

struct binned {
  array bin;    // of each element; not in [0, bins) for those in none
  array edges;  // [bins + 1]
};
/// Equal bins over [low, high], as histogram() tells, and its errors.
binned equal_bins(const array& a, std::int64_t bins, double low, double high);

/// The bin of each element of x, -1 and their number for those in none.
array bins_between(const array& x, const array& edges);

}  // namespace tutti::op
