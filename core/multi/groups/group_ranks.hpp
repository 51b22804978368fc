// SPDX-License-Identifier: Apache-2.0
//
// Groups over the ranks of a job: what each rank knows of the devices of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/job.hpp"

namespace tutti::multi {

struct group_ranks {
  tutti::job job{nullptr};
  std::vector<std::string> names;    ///< "rank 1 cuda:0", of all devices
  std::vector<std::size_t> begins;   ///< position of each rank's first device, and the end
  std::vector<std::int64_t> places;  ///< of all devices (rank_devices.hpp)
};

}  // namespace tutti::multi
