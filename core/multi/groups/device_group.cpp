// SPDX-License-Identifier: Apache-2.0
#include "tutti/device_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "multi/groups/group_ranks.hpp"
#include "multi/job/rank_devices.hpp"
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

// The members' names are what all ranks know of each other's devices.
std::shared_ptr<const multi::group_ranks> meet(const device_group& own, const job& ranks) {
  if (ranks.size() == 1) return nullptr;
  std::string text;
  for (const device& d : own) text += fmt::format("rank {} {}\n", ranks.rank(), d.name());
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  const std::vector<std::uint8_t> all =
      ranks.all_gather(array::from(bytes, own[0])).to_vector<std::uint8_t>();
  auto out = std::make_shared<multi::group_ranks>();
  out->job = ranks;
  out->begins = {0};
  std::vector<std::int64_t> counts =
      ranks.all_gather(array::from({static_cast<std::int64_t>(own.size())}, own[0]))
          .to_vector<std::int64_t>();
  for (const std::int64_t n : counts)
    out->begins.push_back(out->begins.back() + static_cast<std::size_t>(n));
  std::vector<std::int64_t> places;
  for (const device& d : own) places.push_back(multi::place_of(d));
  out->places = ranks.all_gather(array::from(places, own[0])).to_vector<std::int64_t>();
  for (auto at = all.begin(); at != all.end();) {
    const auto end = std::find(at, all.end(), '\n');
    out->names.emplace_back(at, end);
    at = end + 1;
  }
  return out;
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

device_group::device_group(const job& ranks) : device_group(devices(), ranks) {}

device_group::device_group(std::vector<device> members, const job& ranks)
    : device_group(std::move(members)) {
  ranks_ = meet(*this, ranks);
}

const job* device_group::ranks() const { return ranks_ ? &ranks_->job : nullptr; }

std::size_t device_group::total() const { return ranks_ ? ranks_->names.size() : size(); }

std::size_t device_group::first() const {
  return ranks_ ? ranks_->begins[static_cast<std::size_t>(ranks_->job.rank())] : 0;
}

device_group device_group::local() const { return device_group(members_); }

bool operator==(const device_group& a, const device_group& b) {
  if (a.members_ != b.members_ || (a.ranks_ == nullptr) != (b.ranks_ == nullptr)) return false;
  return a.ranks_ == nullptr ||
         (a.ranks_->names == b.ranks_->names && a.ranks_->job.state() == b.ranks_->job.state());
}

std::size_t device_group::index_of(const device& member, std::string_view op) const {
  const auto found = std::find(members_.begin(), members_.end(), member);
  if (found == members_.end())
    throw value_error(std::string(op) + ": " + member.name() + " is not one of " + names());
  return static_cast<std::size_t>(found - members_.begin());
}

std::string device_group::names() const {
  if (ranks_) return fmt::format("{}", fmt::join(ranks_->names, ", "));
  std::string text;
  for (const device& d : members_) text += (text.empty() ? "" : ", ") + d.name();
  return text;
}

}  // namespace tutti
