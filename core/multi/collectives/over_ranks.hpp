// SPDX-License-Identifier: Apache-2.0
//
// The collectives of tutti/collective.hpp for groups over the ranks of a job: within each rank as
// for its devices alone, between the ranks by the job; or over all devices at once (rank_devices).
#pragma once

#include <string_view>
#include <vector>

#include "multi/groups/group_ranks.hpp"
#include "tutti/array.hpp"
#include "tutti/collective.hpp"

namespace tutti::multi::over_ranks {

using collective::options;
using collective::reduction;

/// f(group, arguments...), one of the functions below, as the call `op` of the application.
template <class F, class... A>
auto call(F* f, std::string_view op, const device_group& group, const A&... arguments) {
  return called(group, op, [&] { return f(group, arguments...); });
}

std::vector<array> broadcast(const device_group& group, const array& value, const options& how);
std::vector<array> all_reduce(const device_group& group, const std::vector<array>& values,
                              reduction with, const options& how);
/// The sums of several lists of flat arrays at once, values[list][member].
std::vector<std::vector<array>> sums(const device_group& group,
                                     const std::vector<std::vector<array>>& values,
                                     const options& how);
std::vector<array> reduce_scatter(const device_group& group, const std::vector<array>& values,
                                  reduction with, int axis, const options& how);
std::vector<array> all_gather(const device_group& group, const std::vector<array>& values,
                              integer axis, const options& how);
array gather(const device_group& group, const std::vector<array>& values, const device& root,
             integer axis, const options& how);
std::vector<array> scatter(const device_group& group, const array& value, integer axis,
                           const options& how);
std::vector<array> all_to_all(const device_group& group, const std::vector<array>& values,
                              integer axis, const options& how);
void barrier(const device_group& group, const options& how);

}  // namespace tutti::multi::over_ranks
