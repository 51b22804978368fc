// SPDX-License-Identifier: Apache-2.0
#include "tutti/device_group.hpp"

#include <algorithm>

#include "plugin/registry.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

std::vector<device> listed(std::string_view list) {
  std::vector<device> members;
  for (detail::opened_device* d : plugins::registry().resolve(list, "device_group"))
    members.emplace_back(d);
  return members;
}

}  // namespace

device_group::device_group() : device_group(devices()) {}

device_group::device_group(std::string_view list) : device_group(listed(list)) {}

device_group::device_group(std::vector<device> members) : members_(std::move(members)) {
  if (members_.empty()) throw value_error("device_group: no devices");
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (std::find(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(i),
                  members_[i]) != members_.begin() + static_cast<std::ptrdiff_t>(i))
      throw value_error("device_group: " + members_[i].name() + " is in the list twice (" +
                        names() + ")");
}

std::size_t device_group::index_of(const device& member, std::string_view op) const {
  const auto found = std::find(members_.begin(), members_.end(), member);
  if (found == members_.end())
    throw value_error(std::string(op) + ": " + member.name() + " is not one of " + names());
  return static_cast<std::size_t>(found - members_.begin());
}

std::string device_group::names() const {
  std::string text;
  for (const device& d : members_) text += (text.empty() ? "" : ", ") + d.name();
  return text;
}

}  // namespace tutti
