// SPDX-License-Identifier: Apache-2.0
//
// A list of devices that work together, of any backends, of one process or of all ranks of a job;
// used by sharded arrays, collectives, data-parallel training and parallel loops.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/device.hpp"
#include "tutti/export.hpp"

namespace tutti {

class job;
namespace multi {
struct group_ranks;
}  // namespace multi

class TUTTI_API device_group {
 public:
  /// The devices of TUTTI_DEVICE, in order.
  device_group();
  /// Throws value_error for an empty list and for a repeated device, which it names.
  explicit device_group(std::vector<device> members);
  /// From a list in the TUTTI_DEVICE syntax: device_group("opencl:all,reference"). Throws as
  /// devices() does.
  explicit device_group(std::string_view list);
  /// The devices of all ranks of a job, in the order of the ranks. Each rank calls this with its
  /// own `members`, by default those of its TUTTI_DEVICE, and only those are elements of the group;
  /// what is computed over the group extends over all of them, and all ranks call it
  /// (docs/multi-machine.md).
  /// Make it once: when a rank is lost, loops go on, but no new group can be made.
  explicit device_group(const tutti::job& ranks);
  device_group(std::vector<device> members, const tutti::job& ranks);
  // Copies only, so that no group is empty: a moved-from group keeps its members.
  device_group(const device_group&) = default;
  device_group& operator=(const device_group&) = default;

  std::size_t size() const { return members_.size(); }
  const device& operator[](std::size_t i) const { return members_[i]; }
  std::vector<device>::const_iterator begin() const { return members_.begin(); }
  std::vector<device>::const_iterator end() const { return members_.end(); }
  const std::vector<device>& members() const { return members_; }
  /// Position of a member. Throws value_error with `op`, the device and the group if it is not a
  /// member.
  std::size_t index_of(const device& member, std::string_view op = "device_group") const;
  /// "opencl:0, opencl:1, reference:0"; with several ranks "rank 0 cpu:0, rank 1 cpu:0".
  std::string names() const;

  /// The job whose ranks the group extends over; nullptr for devices of this process only.
  const tutti::job* ranks() const;
  /// Devices of all ranks: size() without a job.
  std::size_t total() const;
  /// Position of the first member among the devices of all ranks: 0 without a job.
  std::size_t first() const;
  const multi::group_ranks& all_ranks() const { return *ranks_; }  ///< for internal use
  /// The same members without the job.
  device_group local() const;

  friend TUTTI_API bool operator==(const device_group& a, const device_group& b);

 private:
  std::vector<device> members_;
  std::shared_ptr<const multi::group_ranks> ranks_;  // nullptr: of this process
};

}  // namespace tutti
