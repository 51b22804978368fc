// SPDX-License-Identifier: Apache-2.0
//
// A list of devices that work on one job, of any backends; used by sharded arrays, collectives,
// data-parallel training and parallel loops.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/device.hpp"
#include "tutti/export.hpp"

namespace tutti {

class TUTTI_API device_group {
 public:
  /// The devices of TUTTI_DEVICE, in order.
  device_group();
  /// Throws value_error for an empty list and for a repeated device, which it names.
  explicit device_group(std::vector<device> members);
  /// From a list in the TUTTI_DEVICE syntax: device_group("opencl:all,reference"). Throws as
  /// devices() does.
  explicit device_group(std::string_view list);
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
  /// "opencl:0, opencl:1, reference:0".
  std::string names() const;

  friend bool operator==(const device_group&, const device_group&) = default;

 private:
  std::vector<device> members_;
};

}  // namespace tutti
