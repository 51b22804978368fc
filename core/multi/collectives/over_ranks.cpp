// SPDX-License-Identifier: Apache-2.0
#include "multi/collectives/over_ranks.hpp"

#include <fmt/format.h>

#include <optional>

#include "graph/build.hpp"
#include "multi/collectives/backend.hpp"
#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "multi/job/job_state.hpp"
#include "multi/job/rank_devices.hpp"
#include "tutti/ops.hpp"

namespace tutti::multi::over_ranks {
namespace {

// The parts of this rank's members, of `whole` cut along `axis` into one part for each device of
// the group.
std::vector<array> own_parts(const device_group& group, const array& whole, integer axis,
                             std::string_view op) {
  const int along = checked_axis(whole.shape(), axis, op);
  const auto cuts = equal_boundaries(whole.shape()[along], group.total());
  std::vector<array> out;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t place = group.first() + i;
    out.push_back(piece(whole, along, cuts[place], cuts[place + 1]).to(group[i]));
  }
  return out;
}

// The member that gets a reduction; nothing: all members.
using destination = std::optional<std::size_t>;

// The values of several devices pass in pieces of a message: one is reduced within the rank while
// earlier ones are in transfer, or go back to the devices.
reductions_of_devices through_host(const device_group& group, const reductions_of_devices& values,
                                   reduction with, const options& how, destination root) {
  const bool mean = with == reduction::avg;
  const reduction kind = mean ? reduction::sum : with;
  const device_group local = group.local();
  const device& first = group[root.value_or(0)];
  const bool one_each = group.total() == static_cast<std::size_t>(group.ranks()->size());
  std::vector<array_record> records;
  std::vector<array> own;             // pieces, reduced within the rank
  std::vector<std::size_t> value_of;  // each of them
  for (std::size_t i = 0; i < values.size(); ++i) {
    records.push_back(describe(values[i][0]));
    std::vector<array> flat;
    for (const array& v : values[i]) flat.push_back(widened(v).flatten());
    const std::vector<std::int64_t> cuts =
        one_each ? std::vector<std::int64_t>{0, flat[0].size()} : message_cuts(flat[0]);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      std::vector<array> pieces;
      for (const array& v : flat) pieces.push_back(piece(v, 0, cuts[c], cuts[c + 1]));
      own.push_back(collective::reduce(local, pieces, first, kind, how));
      value_of.push_back(i);
    }
  }
  job_state& job = *group.ranks()->state();
  const std::vector<std::int64_t> places =
      job.agree("all_reduce", name_of(with), records, -1, place_of(first));
  std::vector<reductions_of_devices> found(values.size(),
                                           reductions_of_devices(root ? 1 : local.size()));
  reduce_flat(job, own, kind, places, [&](std::size_t i, array total) {
    if (mean) total = total / static_cast<double>(group.total());
    total = total.astype(values[value_of[i]][0].dtype());
    const std::vector<array> copies =
        root ? std::vector{total} : collective::broadcast(local, total, how);
    eval(copies);
    for (std::size_t m = 0; m < copies.size(); ++m) found[value_of[i]][m].push_back(copies[m]);
  });
  reductions_of_devices out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.emplace_back();
    for (const std::vector<array>& pieces : found[i])
      out.back().push_back(join(pieces, 0).reshape(values[i][0].shape()));
  }
  return out;
}

// Over all devices of all ranks.
reductions_of_devices reduced(const device_group& group, const reductions_of_devices& values,
                              reduction with, const options& how, destination root = {}) {
  for (const std::vector<array>& v : values) require_reducible(v, with);
  rank_devices devices(group, how);
  if (!devices.reduce(values, with)) return through_host(group, values, with, how, root);
  reductions_of_devices out = devices.all_reduce(values, with);
  if (root)
    for (std::vector<array>& each : out) each = {each[*root]};
  return out;
}

// Sums and means are their own adjoints. Gradients of the others are those of two steps.
bool in_two_steps(reduction with) {
  const bool linear = with == reduction::sum || with == reduction::avg;
  return !linear && graph::gradient_trace::of_thread() != nullptr;
}

array of_rank_0(const device_group& group, const array& value) {
  return group.ranks()->broadcast(of_all_ranks(*group.ranks(), value));
}

}  // namespace

std::vector<array> broadcast(const device_group& group, const array& value, const options& how) {
  const device_group local = group.local();
  const std::size_t root = owner(local, value, "broadcast");
  const array start = on_member(value, local[root], "broadcast", "the value");
  return collective::broadcast(local, of_rank_0(group, start), how);
}

array reduce(const device_group& group, const std::vector<array>& values, std::size_t root,
             reduction with, const options& how) {
  if (in_two_steps(with))
    return group.ranks()->all_reduce(
        collective::reduce(group.local(), values, group[root], with, how), with);
  return between_ranks(
      *group.ranks()->state(), values,
      [&](const auto& v) { return reduced(group, {v}, with, how, root)[0]; },
      [=](const auto&, const auto&, const auto& cotangents) {
        array total = group.ranks()->all_reduce(cotangents[0]);
        if (with == reduction::avg) total = total / static_cast<double>(group.total());
        return collective::broadcast(group.local(), total, how);
      })[0];
}

std::vector<array> all_reduce(const device_group& group, const std::vector<array>& values,
                              reduction with, const options& how) {
  if (in_two_steps(with))
    return collective::broadcast(group.local(), over_ranks::reduce(group, values, 0, with, how),
                                 how);
  return between_ranks(
      *group.ranks()->state(), values,
      [&](const auto& v) { return reduced(group, {v}, with, how)[0]; },
      [=](const auto&, const auto&, const auto& cotangents) {
        return over_ranks::all_reduce(group, cotangents, with, how);
      });
}

reductions_of_devices sums(const device_group& group, const reductions_of_devices& values,
                           const options& how) {
  if (graph::gradient_trace::of_thread() == nullptr)
    return reduced(group, values, reduction::sum, how);
  reductions_of_devices out;
  for (const std::vector<array>& v : values)
    out.push_back(over_ranks::all_reduce(group, v, reduction::sum, how));
  return out;
}

std::vector<array> reduce_scatter(const device_group& group, const std::vector<array>& values,
                                  reduction with, int axis, const options& how) {
  return own_parts(group, over_ranks::reduce(group, values, 0, with, how), axis, "reduce_scatter");
}

std::vector<array> all_gather(const device_group& group, const std::vector<array>& values,
                              integer axis, const options& how) {
  return collective::broadcast(group.local(),
                               over_ranks::gather(group, values, group[0], axis, how), how);
}

array gather(const device_group& group, const std::vector<array>& values, const device& root,
             integer axis, const options& how) {
  return group.ranks()->all_gather(collective::gather(group.local(), values, root, axis, how),
                                   axis);
}

std::vector<array> scatter(const device_group& group, const array& value, integer axis,
                           const options& how) {
  check_options(how, "scatter");
  const device_group local = group.local();
  const std::size_t root = owner(local, value, "scatter");
  const array start = on_member(value, local[root], "scatter", "the value");
  return own_parts(group, of_rank_0(group, start), axis, "scatter");
}

std::vector<array> all_to_all(const device_group& group, const std::vector<array>& values,
                              integer axis, const options& how) {
  constexpr std::string_view op = "all_to_all";
  // Checks the arguments; the ranks agree on extents and dtypes.
  const array first = collective::gather(group.local(), values, group[0], axis, how);
  const int along = normalize_axis(axis, first.ndim(), op);
  job_state& job = *group.ranks()->state();
  job.agree(op, fmt::format("axis {}", along), std::vector{describe(piece(first, along, 0, 0))});
  const std::vector<std::size_t>& begins = group.all_ranks().begins;
  std::vector<array> sent;
  std::vector<int> to, from;
  std::vector<device> on;
  for (const array& v : on_members(group, values, op)) {
    const auto cuts = equal_boundaries(v.shape()[along], group.total());
    for (int rank = 0; rank < job.size(); ++rank)
      for (std::size_t i = begins[rank]; i < begins[rank + 1]; ++i) {
        sent.push_back(piece(v, along, cuts[i], cuts[i + 1]));
        to.push_back(rank);
      }
  }
  for (int rank = 0; rank < job.size(); ++rank)
    for (std::size_t v = begins[rank]; v < begins[rank + 1]; ++v) {
      from.insert(from.end(), group.size(), rank);
      on.insert(on.end(), group.begin(), group.end());
    }
  const std::vector<array> received = exchange_messages(job, sent, to, from, on);
  std::vector<array> out;
  for (std::size_t i = 0; i < group.size(); ++i) {
    std::vector<array> pieces;
    for (std::size_t v = i; v < received.size(); v += group.size()) pieces.push_back(received[v]);
    out.push_back(join(pieces, along));
  }
  return out;
}

void barrier(const device_group& group, const options& how) {
  collective::barrier(group.local(), how);
  group.ranks()->barrier();
}

}  // namespace tutti::multi::over_ranks
