// SPDX-License-Identifier: Apache-2.0
//
// Rows of sharded arrays by index, on any member.
#include "multi/groups/participants.hpp"
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

}  // namespace

array take(const sharded& a, const array& indices, integer axis) {
  graph::get(indices, "take");
  const int along = normalize_axis(axis, a.shape().rank(), "take");
  const device on = indices.device();
  if (a.replicated()) return take(a.gather(on), indices, along);
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
  std::vector<array> found;
  for (const array& part : indices.parts()) found.push_back(take(a, part, along));
  if (indices.replicated()) return sharded::from_replicas(indices.group(), found);
  return sharded::from_parts(indices.group(), found, along + indices.axis());
}

}  // namespace tutti
