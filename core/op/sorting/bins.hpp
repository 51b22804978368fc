// SPDX-License-Identifier: Apache-2.0
//
// Numbers of bins, and how often each occurs, for all kinds of histograms.
#pragma once

#include "op/operands.hpp"

namespace tutti::op {

/// The dtype in which elements are compared with edges: floats keep their dtype, integers use f64
/// if f32 cannot represent them and the device has f64.
dtype edge_type(const array& a);

struct binned {
  array bin;    // of each element; outside [0, bins) for elements in no bin
  array edges;  // [bins + 1]
};
/// Equal bins over [low, high], as for histogram(), and its errors.
binned equal_bins(const array& a, std::int64_t bins, double low, double high);

/// The bin of each element of x, -1 and the number of bins for those outside.
array bins_between(const array& x, const array& edges);

}  // namespace tutti::op
