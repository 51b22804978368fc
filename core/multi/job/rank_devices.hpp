// SPDX-License-Identifier: Apache-2.0
//
// Devices of the ranks of a job that their plugin connects (NCCL in cuda).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "multi/job/job_state.hpp"
#include "tutti/array.hpp"
#include "tutti/plugin.h"

namespace tutti::runtime {
class rank_communicator;
}

namespace tutti::multi {

/// Number by which the ranks know the device of `values`; -1 if there is not exactly one, or if its
/// plugin has no collectives. Devices of different plugins differ in the bits from 16 on.
std::int64_t place_of(std::span<const array> values);

/// What connects one device of each rank.
class rank_devices {
 public:
  /// Called by all ranks, with the places of all. The first call for these places connects them; a
  /// failure on any rank is one of all, and stays.
  rank_devices(job_state& job, const device& own, const std::vector<std::int64_t>& places);

  /// Whether sums and so on of these arrays go through the devices: the same on all ranks that have
  /// arrays of the same dtype and size.
  bool reduces(const array& a, tutti_reduction with) const;
  /// Waits for the flat array of this rank, and launches the reduction of those of all.
  array start(const array& flat, tutti_reduction with);
  /// Returns when the result is available. A failure of start or finish ends the job for this rank.
  array finish(const array& result);

 private:
  job_state& job_;
  runtime::rank_communicator* all_ = nullptr;
  std::uint64_t offered_ = 0;
};

}  // namespace tutti::multi
