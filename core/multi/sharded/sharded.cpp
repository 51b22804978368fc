// SPDX-License-Identifier: Apache-2.0
//
// Sharded arrays: creating, moving and joining them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "multi/job/job_state.hpp"
#include "op/operands.hpp"
#include "tutti/multi.hpp"

namespace tutti {

using multi::checked_axis;
using multi::piece;

namespace {

// The copy of a replicated array on `on`, or else the first one.
const array& copy_near(const sharded& a, const device& on) {
  for (std::size_t i = 0; i < a.group().size(); ++i)
    if (a.group()[i] == on) return a.parts()[i];
  return a.parts()[0];
}

/// A part of an array along an axis.
struct interval {
  std::int64_t first, last;
};

interval interval_of(const std::vector<std::int64_t>& cuts, std::size_t i) {
  return {cuts[i], cuts[i + 1]};
}

// The elements of part `from` of a split array, by its place in the whole group, that belong to
// `wanted` along `axis`: their positions along `axis` within the part. Nothing if there are none.
std::optional<interval> overlap(const sharded& a, std::size_t from, int axis, interval wanted) {
  const interval part = interval_of(a.boundaries(), from);
  if (axis != a.axis() && part.first < part.last && wanted.first < wanted.last) return wanted;
  const std::int64_t low = std::max(part.first, wanted.first);
  const std::int64_t high = std::min(part.last, wanted.last);
  if (axis != a.axis() || low >= high) return std::nullopt;
  return interval{low - part.first, high - part.first};
}

// `wanted` of the whole array along `axis` from the overlapping pieces of all parts.
array assembled(const sharded& a, int axis, interval wanted, const std::vector<array>& pieces,
                const device& on) {
  if (!pieces.empty()) return multi::join(pieces, a.axis());
  shape extents = a.shape();
  extents[axis] = wanted.last - wanted.first;
  return zeros(extents, a.dtype(), on);
}

// `wanted` of the whole array along `axis`, on any device of the process that has all parts.
array region(const sharded& a, int axis, interval wanted, const device& on) {
  if (a.replicated()) return piece(copy_near(a, on), axis, wanted.first, wanted.last).to(on);
  std::vector<array> pieces;
  for (std::size_t i = 0; i < a.parts().size(); ++i)
    if (const auto own = overlap(a, i, axis, wanted))
      pieces.push_back(piece(a.parts()[i], axis, own->first, own->last).to(on));
  return assembled(a, axis, wanted, pieces, on);
}

// Regions for all devices of a group over the ranks of `a`, cut along `axis` at `cuts`: each rank
// sends what others need, and returns those of its members.
std::vector<array> exchanged(const sharded& a, const device_group& group, int axis,
                             const std::vector<std::int64_t>& cuts) {
  multi::job_state& job = *group.ranks()->state();
  const auto& sources = a.group().all_ranks().begins;
  const auto& targets = group.all_ranks().begins;
  std::vector<array> sent;
  std::vector<int> to, from;
  std::vector<device> on;
  for (std::size_t i = 0; i < a.parts().size(); ++i)
    for (int rank = 0; rank < job.size(); ++rank)
      for (std::size_t t = targets[rank]; t < targets[rank + 1]; ++t)
        if (const auto own = overlap(a, a.group().first() + i, axis, interval_of(cuts, t))) {
          sent.push_back(piece(a.parts()[i], axis, own->first, own->last));
          to.push_back(rank);
        }
  std::vector<std::size_t> member;  // to which a received piece belongs
  for (int rank = 0; rank < job.size(); ++rank)
    for (std::size_t source = sources[rank]; source < sources[rank + 1]; ++source)
      for (std::size_t i = 0; i < group.size(); ++i)
        if (overlap(a, source, axis, interval_of(cuts, group.first() + i))) {
          from.push_back(rank);
          on.push_back(group[i]);
          member.push_back(i);
        }
  const std::vector<array> received = multi::exchange_messages(job, sent, to, from, on);
  std::vector<std::vector<array>> pieces(group.size());
  for (std::size_t k = 0; k < member.size(); ++k) pieces[member[k]].push_back(received[k]);
  std::vector<array> out;
  for (std::size_t i = 0; i < group.size(); ++i)
    out.push_back(assembled(a, axis, interval_of(cuts, group.first() + i), pieces[i], group[i]));
  return out;
}

// Checks that all ranks cut in the same way.
void agree_on_cuts(const device_group& group, std::string_view op, int axis,
                   const std::vector<std::int64_t>& cuts,
                   const std::vector<multi::array_record>& arrays) {
  if (!group.ranks()) return;
  const std::string how = fmt::format("axis {} cut at {}", axis, fmt::join(cuts, ", "));
  group.ranks()->state()->agree(op, how, arrays);
}

bool over_one_job(const device_group& a, const device_group& b) {
  return a.ranks() != nullptr && b.ranks() != nullptr && a.ranks()->state() == b.ranks()->state();
}

}  // namespace

sharded::sharded(device_group group, int axis, std::vector<std::int64_t> boundaries,
                 std::vector<array> parts)
    : group_(std::move(group)),
      axis_(axis),
      shape_(parts[0].shape()),
      boundaries_(std::move(boundaries)),
      parts_(std::move(parts)) {
  if (axis_ >= 0) shape_[axis_] = boundaries_.back();
}

sharded sharded::from_parts(const device_group& group, const std::vector<array>& parts,
                            integer axis) {
  return multi::called(group, "sharded", [&]() -> sharded {
    std::vector<array> own = multi::on_members(group, parts, "sharded");
    const int along = checked_axis(own[0].shape(), axis, "sharded");
    multi::require_agreement(group, own, along, "sharded");
    const tutti::shape joined = multi::joined_extents(own, along, "sharded");
    std::vector<std::int64_t> extents, cuts{0};
    for (const array& p : own) extents.push_back(p.shape()[along]);
    if (const job* ranks = group.ranks()) {
      multi::array_record record = multi::describe(own[0]);
      record.extents[along] = joined[along];
      ranks->state()->agree("sharded", fmt::format("axis {}", along), std::vector{record}, along);
      extents = ranks->all_gather(array::from(extents, group[0])).to_vector<std::int64_t>();
    }
    for (const std::int64_t n : extents)
      cuts.push_back(graph::extent_sum(cuts.back(), n, "sharded"));
    return {group, along, std::move(cuts), std::move(own)};
  });
}

sharded sharded::from_replicas(const device_group& group, const std::vector<array>& copies) {
  std::vector<array> own = multi::on_members(group, copies, "sharded");
  multi::require_agreement(group, own, -1, "sharded");
  return {group, -1, {}, std::move(own)};
}

int sharded::axis() const {
  if (replicated()) base::fail<value_error>("sharded: {} has no split axis", str());
  return axis_;
}

const std::vector<std::int64_t>& sharded::boundaries() const {
  if (replicated()) base::fail<value_error>("sharded: {} has no boundaries", str());
  return boundaries_;
}

array sharded::gather(const device& on) const {
  if (replicated()) return copy_near(*this, on).to(on);
  if (group_.ranks()) return collective::gather(group_, parts_, group_[0], axis_).to(on);
  return region(*this, axis_, {0, shape_[axis_]}, on);
}

const sharded& sharded::eval() const {
  tutti::eval(parts_);
  return *this;
}

const sharded& sharded::wait() const {
  eval();
  for (const array& p : parts_) p.wait();
  return *this;
}

std::string sharded::str() const {
  if (replicated()) return fmt::format("{} replicated over {}", shape_.str(), group_.names());
  return fmt::format("{} split along axis {} at {} over {}", shape_.str(), axis_,
                     fmt::join(boundaries_, ", "), group_.names());
}

sharded shard(const array& a, const device_group& group, integer axis, const shares& by) {
  return multi::called(group, "shard", [&]() -> sharded {
    const int along = checked_axis(graph::get(a, "shard").extents, axis, "shard");
    const auto cuts = by.boundaries(a.shape()[along], group);
    agree_on_cuts(group, "shard", along, cuts, {multi::describe(a)});
    const array whole = group.ranks() ? multi::of_all_ranks(*group.ranks(), a) : a;
    std::vector<array> parts;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const interval own = interval_of(cuts, group.first() + i);
      parts.push_back(piece(whole, along, own.first, own.last).to(group[i]));
    }
    return {group, along, cuts, multi::on_members(group, parts, "shard")};
  });
}

sharded replicate(const array& a, const device_group& group, const collective::options& how) {
  return multi::called(group, "replicate", [&]() -> sharded {
    const graph::node& n = graph::get(a, "replicate");
    bool member = n.device == nullptr;
    for (const device& d : group) member |= d == a.device();
    const array start = member ? a : a.to(group[0]);
    return sharded::from_replicas(group, collective::broadcast(group, start, how));
  });
}

std::vector<sharded> replicate(const std::vector<array>& arrays, const device_group& group,
                               const collective::options& how) {
  std::vector<sharded> out;
  for (const array& a : arrays) out.push_back(replicate(a, group, how));
  return out;
}

sharded reshard(const sharded& a, const device_group& group, integer axis, const shares& by) {
  const auto work = [&]() -> sharded {
    const int along = checked_axis(a.shape(), axis, "reshard");
    const auto cuts = by.boundaries(a.shape()[along], group);
    if (!a.replicated() && over_one_job(a.group(), group)) {
      agree_on_cuts(group, "reshard", along, cuts, {});
      return {group, along, cuts, exchanged(a, group, along, cuts)};
    }
    if (!a.replicated() && a.group().ranks()) return shard(a.gather(group[0]), group, along, by);
    std::vector<array> parts;
    for (std::size_t i = 0; i < group.size(); ++i)
      parts.push_back(region(a, along, interval_of(cuts, group.first() + i), group[i]));
    return {group, along, cuts, std::move(parts)};
  };
  return a.replicated() ? work() : multi::called(group, "reshard", work);
}

sharded replicate(const sharded& a, const device_group& group) {
  std::vector<array> copies;
  if (!a.replicated() && a.group().ranks()) {
    const array whole = a.gather(group[0]);
    for (const device& member : group) copies.push_back(whole.to(member));
  } else {
    for (const device& member : group) copies.push_back(a.gather(member));
  }
  return sharded::from_replicas(group, copies);
}

std::vector<array> parts_at(const std::vector<sharded>& values, std::size_t member) {
  std::vector<array> out;
  for (const sharded& v : values) {
    if (member >= v.parts().size())
      base::fail<index_error>("parts_at: member {} of {}", member, v.str());
    out.push_back(v.parts()[member]);
  }
  return out;
}

std::vector<array> all_parts(const std::vector<sharded>& values) {
  std::vector<array> out;
  for (const sharded& v : values) out.insert(out.end(), v.parts().begin(), v.parts().end());
  return out;
}

}  // namespace tutti
