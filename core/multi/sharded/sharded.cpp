// SPDX-License-Identifier: Apache-2.0
//
// Sharded arrays: creating, moving and joining them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "multi/groups/participants.hpp"
#include "op/operands.hpp"
#include "tutti/multi.hpp"

namespace tutti {

using multi::piece;

namespace {

// The copy of a replicated array on `on`, or else the first one.
const array& copy_near(const sharded& a, const device& on) {
  for (std::size_t i = 0; i < a.group().size(); ++i)
    if (a.group()[i] == on) return a.parts()[i];
  return a.parts()[0];
}

// Elements first to last of `axis` of the whole array, on any device: the overlapping pieces of all
// parts, moved there.
array region(const sharded& a, int axis, std::int64_t first, std::int64_t last, const device& on) {
  if (a.replicated()) return piece(copy_near(a, on), axis, first, last).to(on);
  std::vector<array> pieces;
  const auto& cuts = a.boundaries();
  for (std::size_t i = 0; i < a.parts().size(); ++i) {
    const array& part = a.parts()[i];
    if (part.size() == 0) continue;
    if (axis != a.axis()) {
      pieces.push_back(piece(part, axis, first, last).to(on));
      continue;
    }
    const std::int64_t low = std::max(first, cuts[i]), high = std::min(last, cuts[i + 1]);
    if (low < high) pieces.push_back(piece(part, axis, low - cuts[i], high - cuts[i]).to(on));
  }
  if (!pieces.empty()) return multi::join(pieces, a.axis());
  shape extents = a.shape();
  extents[axis] = last - first;
  return zeros(extents, a.dtype(), on);
}

int checked_axis(const shape& extents, integer axis, std::string_view op) {
  if (extents.rank() == 0) throw shape_error(std::string(op) + ": a 0-d array has no axis to cut");
  return normalize_axis(axis, extents.rank(), op);
}

}  // namespace

sharded::sharded(device_group group, int axis, std::vector<array> parts)
    : group_(std::move(group)), axis_(axis), shape_(parts[0].shape()), parts_(std::move(parts)) {
  if (axis_ < 0) return;
  boundaries_.push_back(0);
  for (const array& p : parts_) boundaries_.push_back(boundaries_.back() + p.shape()[axis_]);
  shape_[axis_] = boundaries_.back();
}

sharded sharded::from_parts(const device_group& group, const std::vector<array>& parts,
                            integer axis) {
  std::vector<array> own = multi::on_members(group, parts, "sharded");
  const int along = checked_axis(own[0].shape(), axis, "sharded");
  multi::require_agreement(group, own, along, "sharded");
  multi::joined_extents(own, along, "sharded");
  return {group, along, std::move(own)};
}

sharded sharded::from_replicas(const device_group& group, const std::vector<array>& copies) {
  std::vector<array> own = multi::on_members(group, copies, "sharded");
  multi::require_agreement(group, own, -1, "sharded");
  return {group, -1, std::move(own)};
}

int sharded::axis() const {
  if (replicated()) throw value_error("sharded: " + str() + " has no split axis");
  return axis_;
}

const std::vector<std::int64_t>& sharded::boundaries() const {
  if (replicated()) throw value_error("sharded: " + str() + " has no boundaries");
  return boundaries_;
}

array sharded::gather(const device& on) const {
  if (replicated()) return copy_near(*this, on).to(on);
  return region(*this, axis_, 0, shape_[axis_], on);
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
  const int along = checked_axis(graph::get(a, "shard").extents, axis, "shard");
  const auto cuts = by.boundaries(a.shape()[along], group);
  std::vector<array> parts;
  for (std::size_t i = 0; i < group.size(); ++i)
    parts.push_back(piece(a, along, cuts[i], cuts[i + 1]).to(group[i]));
  return sharded::from_parts(group, parts, along);
}

sharded replicate(const array& a, const device_group& group, const collective::options& how) {
  const graph::node& n = graph::get(a, "replicate");
  bool member = n.device == nullptr;
  for (const device& d : group) member |= d == a.device();
  const array start = member ? a : a.to(group[0]);
  return sharded::from_replicas(group, collective::broadcast(group, start, how));
}

std::vector<sharded> replicate(const std::vector<array>& arrays, const device_group& group,
                               const collective::options& how) {
  std::vector<sharded> out;
  for (const array& a : arrays) out.push_back(replicate(a, group, how));
  return out;
}

sharded reshard(const sharded& a, const device_group& group, integer axis, const shares& by) {
  const int along = checked_axis(a.shape(), axis, "reshard");
  const auto cuts = by.boundaries(a.shape()[along], group);
  std::vector<array> parts;
  for (std::size_t i = 0; i < group.size(); ++i)
    parts.push_back(region(a, along, cuts[i], cuts[i + 1], group[i]));
  return sharded::from_parts(group, parts, along);
}

sharded replicate(const sharded& a, const device_group& group) {
  std::vector<array> copies;
  for (const device& member : group) copies.push_back(a.gather(member));
  return sharded::from_replicas(group, copies);
}

std::vector<array> parts_at(const std::vector<sharded>& values, std::size_t member) {
  std::vector<array> out;
  for (const sharded& v : values) {
    if (member >= v.parts().size())
      throw index_error(fmt::format("parts_at: member {} of {}", member, v.str()));
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
