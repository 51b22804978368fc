// SPDX-License-Identifier: Apache-2.0
//
// Shares of an axis: weights to boundaries.

#include "multi/groups/participants.hpp"
#include "tutti/multi.hpp"

namespace tutti {

shares::shares(std::vector<double> weights) : rule_(rule::given), weights_(std::move(weights)) {
  multi::checked_sum(weights_, "shares");
}

std::vector<std::int64_t> shares::boundaries(std::int64_t extent, const device_group& group) const {
  if (extent < 0) base::fail<value_error>("shares: an extent of {}", extent);
  if (rule_ == rule::equal) return multi::equal_boundaries(extent, group.total());
  const std::vector<double> weights = rule_ == rule::given    ? weights_
                                      : rule_ == rule::memory ? weights_by_memory(group)
                                                              : weights_by_throughput(group);
  if (weights.size() != group.total())
    base::fail<value_error>("shares: {} weights for {} devices ({})", weights.size(), group.total(),
                            group.names());
  return multi::weighted_boundaries(extent, weights);
}

}  // namespace tutti
