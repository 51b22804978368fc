// SPDX-License-Identifier: Apache-2.0
//
// Groups over the ranks of a job: what each rank knows of the devices of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "multi/job/job_state.hpp"
#include "tutti/device_group.hpp"
#include "tutti/job.hpp"

namespace tutti::multi {

struct group_ranks {
  tutti::job job{nullptr};
  std::vector<std::string> names;    ///< "rank 1 cuda:0", of all devices
  std::vector<std::size_t> begins;   ///< position of each rank's first device, and the end
  std::vector<std::int64_t> places;  ///< of all devices (rank_devices.hpp)
};

/// f(), the function `op` that the application has called with this group: see job_state::call.
template <class F>
auto called(const device_group& group, std::string_view op, F&& f) {
  return group.ranks() ? group.ranks()->state()->call(op, f) : f();
}

}  // namespace tutti::multi
