// SPDX-License-Identifier: Apache-2.0
//
// Devices of the ranks of a job that their plugin connects (NCCL in cuda).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "multi/job/job_state.hpp"
#include "tutti/array.hpp"
#include "tutti/device_group.hpp"
#include "tutti/plugin.h"

namespace tutti::runtime {
class rank_communicator;
}

namespace tutti::multi {

/// Number by which the ranks know a device; -1 if its plugin has no collectives. Devices of
/// different plugins differ in the bits from 16 on.
std::int64_t place_of(const device& on);

/// Arrays by reduction and device.
using reductions_of_devices = std::vector<std::vector<array>>;

/// What connects devices of all ranks.
class rank_devices {
 public:
  /// Called by all ranks, which have agreed on the call, with the places of all devices, and the
  /// positions of each rank's first one and of the end. The first call for these connects them; a
  /// failure on any rank is one of all, and stays.
  rank_devices(job_state& job, const std::vector<device>& own,
               const std::vector<std::int64_t>& places, const std::vector<std::size_t>& begins);

  /// Whether these reductions go through the devices: the same on all ranks that have arrays of the
  /// same dtypes and sizes.
  bool reduce(const reductions_of_devices& values, collective::reduction with) const;
  /// Reduces over all devices at once. Returns when the results are available. A failure ends the
  /// job for this rank.
  reductions_of_devices all_reduce(reductions_of_devices values, collective::reduction with);

 private:
  job_state& job_;
  double count_;  // of all devices
  runtime::rank_communicator* all_ = nullptr;
  std::uint64_t offered_ = 0;
};

}  // namespace tutti::multi
