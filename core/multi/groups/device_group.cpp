// SPDX-License-Identifier: Apache-2.0
#include "tutti/device_group.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.hpp"
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

// What all ranks know of each other's devices.
struct member_record {
  char name[56] = {};
  std::int64_t place = 0;
};

std::shared_ptr<const multi::group_ranks> meet(const device_group& own, const job& ranks) {
  if (ranks.size() == 1) return nullptr;
  const char* const op = "device_group";
  const std::vector<std::int64_t> counts =
      ranks.state()->agree(op, "", {}, -1, static_cast<std::int64_t>(own.size()));
  const auto most = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  std::vector<member_record> members(most);
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i].name().copy(members[i].name, sizeof members[i].name - 1);
    members[i].place = multi::place_of(own[i]);
  }
  const auto all = ranks.state()->gather(std::span<const member_record>(members), op);
  auto out = std::make_shared<multi::group_ranks>();
  out->job = ranks;
  out->begins = {0};
  for (std::size_t r = 0; r < counts.size(); ++r) {
    out->begins.push_back(out->begins[r] + static_cast<std::size_t>(counts[r]));
    for (std::size_t i = r * most; out->names.size() < out->begins.back(); ++i) {
      out->names.push_back(fmt::format("rank {} {}", r, all[i].name));
      out->places.push_back(all[i].place);
    }
  }
  return out;
}

}  // namespace

device_group::device_group() : device_group(devices()) {}

device_group::device_group(std::string_view list) : device_group(listed(list)) {}

device_group::device_group(std::vector<device> members) : members_(std::move(members)) {
  if (members_.empty()) throw value_error("device_group: no devices");
  for (const device& d : members_)
    if (std::count(members_.begin(), members_.end(), d) > 1)
      base::fail<value_error>("device_group: {} is in the list twice ({})", d.name(), names());
}

device_group::device_group(const job& ranks)
    : device_group(
          ranks.state()->call("device_group", [&] { return device_group(devices(), ranks); })) {}

device_group::device_group(std::vector<device> members, const job& ranks)
    : device_group(ranks.state()->call("device_group", [&] {
        device_group own(std::move(members));
        own.ranks_ = meet(own, ranks);
        return own;
      })) {}

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
    base::fail<value_error>("{}: {} is not one of {}", op, member.name(), names());
  return static_cast<std::size_t>(found - members_.begin());
}

std::string device_group::names() const {
  if (ranks_) return fmt::format("{}", fmt::join(ranks_->names, ", "));
  std::string text;
  for (const device& d : members_) text += (text.empty() ? "" : ", ") + d.name();
  return text;
}

}  // namespace tutti
