// SPDX-License-Identifier: Apache-2.0
//
// Rows of sharded arrays by index, on any member of any rank.

#include <cstdint>
#include <span>
#include <vector>

#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "multi/job/job_state.hpp"
#include "op/operands.hpp"
#include "tutti/multi.hpp"

namespace tutti {
namespace {

// Every member looks up all indices, those of other members at its nearest row; the device of the
// indices selects for each the result of the member that has the row.
array take_across(const sharded& a, const array& indices, int axis) {
  const device on = indices.device();
  const array place = op::checked_indices(indices, a.shape()[axis], axis, a.shape(), "take");
  shape beside = place.shape();
  for (int i = 0; i < axis; ++i) beside.insert(0, 1);
  for (int i = axis + 1; i < a.shape().rank(); ++i) beside.push_back(1);
  const auto& cuts = a.boundaries();
  array found;
  for (std::size_t i = 0; i < a.parts().size(); ++i) {
    const std::int64_t rows = cuts[i + 1] - cuts[i];
    if (rows == 0) continue;
    const array local = clip(place.to(a.group()[i]) - cuts[i], 0, rows - 1);
    if (!local.node()->is_constant()) local.node()->range = {0, rows - 1};
    const array answer = take(a.parts()[i], local, axis).to(on);
    found = found.valid() ? where(place.reshape(beside) >= cuts[i], answer, found) : answer;
  }
  return found;
}

// Positions of the indices that rank `r` has rows for.
std::vector<std::int64_t> places_at(const sharded& a, std::span<const std::int64_t> indices,
                                    int r) {
  const auto& begins = a.group().all_ranks().begins;
  const auto rank = static_cast<std::size_t>(r);
  const std::int64_t low = a.boundaries()[begins[rank]], high = a.boundaries()[begins[rank + 1]];
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= low && indices[i] < high) out.push_back(static_cast<std::int64_t>(i));
  return out;
}

// Each rank tells all others its indices, and gets the rows of each from the rank that has them.
array take_over_ranks(const sharded& a, const array& indices, int axis) {
  const job& ranks = *a.group().ranks();
  multi::job_state& job = *ranks.state();
  const device on = a.group()[0];
  const std::int64_t rows = a.shape()[axis];
  const array own = op::index_values(indices, "take").astype(dtype::i64).flatten().to(on);
  const std::vector<std::int64_t> counts = job.agree("take", "", {}, -1, own.size());
  std::vector<std::int64_t> all = ranks.all_gather(own).to_vector<std::int64_t>();
  for (std::int64_t& index : all) {
    if (index < -rows || index >= rows)
      base::fail<index_error>("take: index {} of axis {} of {}", index, axis, a.str());
    if (index < 0) index += rows;
  }

  const device_group local = a.group().local();
  const sharded mine = sharded::from_parts(local, a.parts(), axis);
  const std::int64_t begin = a.boundaries()[a.group().first()];
  std::span<const std::int64_t> rest = all, wanted;
  std::vector<array> sent;
  std::vector<int> to, from;
  for (int r = 0; r < ranks.size(); ++r) {
    const auto of_r = rest.first(static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]));
    rest = rest.subspan(of_r.size());
    if (r == ranks.rank()) wanted = of_r;
    std::vector<std::int64_t> found = places_at(a, of_r, ranks.rank());
    if (found.empty()) continue;
    for (std::int64_t& place : found) place = of_r[static_cast<std::size_t>(place)] - begin;
    sent.push_back(take(mine, array::from(found, on), axis));
    to.push_back(r);
  }
  std::vector<std::int64_t> order(wanted.size());  // of the wanted rows among those received
  std::int64_t next = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    const std::vector<std::int64_t> places = places_at(a, wanted, r);
    if (places.empty()) continue;
    from.push_back(r);
    for (const std::int64_t place : places) order[static_cast<std::size_t>(place)] = next++;
  }
  const std::vector<array> received = multi::exchange_messages(
      job, sent, to, from, std::vector<device>(from.size(), indices.device()));
  if (received.empty()) return take(a.parts()[0].to(indices.device()), indices, axis);
  return take(multi::join(received, axis),
              array::from(order, indices.device()).reshape(indices.shape()), axis);
}

}  // namespace

array take(const sharded& a, const array& indices, integer axis) {
  graph::get(indices, "take");
  const int along = normalize_axis(axis, a.shape().rank(), "take");
  const device on = indices.device();
  if (a.replicated()) return take(a.gather(on), indices, along);
  if (a.group().ranks())
    return multi::called(a.group(), "take", [&] {
      return along == a.axis() ? take_over_ranks(a, indices, along)
                               : take(a.gather(on), indices, along);
    });
  if (along == a.axis()) {
    if (a.shape()[along] == 0 || indices.size() == 0)
      return take(a.parts()[0].to(on), indices, along);
    return take_across(a, indices, along);
  }
  std::vector<array> found;
  for (std::size_t i = 0; i < a.parts().size(); ++i)
    found.push_back(take(a.parts()[i], indices.to(a.group()[i]), along).to(on));
  return multi::join(found, a.axis() < along ? a.axis() : a.axis() + indices.ndim() - 1);
}

sharded take(const sharded& a, const sharded& indices, integer axis) {
  const int along = normalize_axis(axis, a.shape().rank(), "take");
  if (a.group().ranks()) {
    const std::vector<std::size_t>& begins = a.group().all_ranks().begins;
    for (std::size_t r = 1; r < begins.size(); ++r)
      if (begins[r] - begins[r - 1] != begins[1])
        base::fail<value_error>("take: ranks with different numbers of devices: {}", a.str());
  }
  std::vector<array> found;
  for (const array& part : indices.parts()) found.push_back(take(a, part, along));
  if (indices.replicated()) return sharded::from_replicas(indices.group(), found);
  return {indices.group(), along + indices.axis(), indices.boundaries(), std::move(found)};
}

}  // namespace tutti
