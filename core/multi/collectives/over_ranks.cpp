// SPDX-License-Identifier: Apache-2.0
#include "multi/collectives/over_ranks.hpp"

#include <fmt/format.h>

#include "graph/build.hpp"
#include "multi/collectives/backend.hpp"
#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "multi/job/job_state.hpp"
#include "multi/job/rank_devices.hpp"
#include "tutti/ops.hpp"

namespace tutti::multi::over_ranks {
namespace {

// The parts of this rank's members, of whole[member] cut along an axis into one part for each
// device of the group.
std::vector<array> own_parts(const device_group& group, const std::vector<array>& whole, int axis) {
  const auto cuts = equal_boundaries(whole[0].shape()[axis], group.total());
  std::vector<array> out;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t place = group.first() + i;
    out.push_back(piece(whole[i], axis, cuts[place], cuts[place + 1]).to(group[i]));
  }
  return out;
}

// The values of several devices pass in pieces of a message: one is reduced within the rank while
// earlier ones are in transfer, or go back to the devices.
reductions_of_devices through_host(const device_group& group, const reductions_of_devices& values,
                                   reduction with, const options& how,
                                   const std::vector<std::int64_t>& places) {
  const bool mean = with == reduction::avg;
  const reduction kind = mean ? reduction::sum : with;
  const device_group local = group.local();
  const bool one_each = group.total() == static_cast<std::size_t>(group.ranks()->size());
  std::vector<array> own;             // pieces, reduced within the rank
  std::vector<std::size_t> value_of;  // each of them
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<array> flat;
    for (const array& v : values[i]) flat.push_back(widened(v).flatten());
    const std::vector<std::int64_t> cuts =
        one_each ? std::vector<std::int64_t>{0, flat[0].size()} : message_cuts(flat[0]);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      std::vector<array> pieces;
      for (const array& v : flat) pieces.push_back(piece(v, 0, cuts[c], cuts[c + 1]));
      own.push_back(collective::reduce(local, pieces, group[0], kind, how));
      value_of.push_back(i);
    }
  }
  std::vector<reductions_of_devices> found(values.size(), reductions_of_devices(local.size()));
  reduce_flat(*group.ranks()->state(), own, kind, places, [&](std::size_t i, array total) {
    if (mean) total = total / static_cast<double>(group.total());
    total = total.astype(values[value_of[i]][0].dtype());
    const std::vector<array> copies = collective::broadcast(local, total, how);
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
                              reduction with, const options& how) {
  std::vector<array_record> records;
  for (const std::vector<array>& v : values) {
    require_reducible(v, with);
    records.push_back(describe(v[0]));
  }
  job_state& job = *group.ranks()->state();
  const group_ranks& all = group.all_ranks();
  const bool selected = how.algorithm != collective::algorithm::automatic || how.deterministic;
  const std::string text =
      fmt::format("{}{}", name_of(with), selected ? " with a selected algorithm or order" : "");
  const auto places = job.agree("all_reduce", text, records, -1, place_of(group[0]));
  rank_devices devices(job, group.members(), selected ? std::vector<std::int64_t>{-1} : all.places,
                       all.begins);
  return devices.reduce(values, with) ? devices.all_reduce(values, with)
                                      : through_host(group, values, with, how, places);
}

array of_rank_0(const device_group& group, const array& value, std::string_view op) {
  const device_group local = group.local();
  const array own = on_member(value, local[owner(local, value, op)], op, "the value");
  return group.ranks()->broadcast(of_all_ranks(*group.ranks(), own));
}

}  // namespace

std::vector<array> broadcast(const device_group& group, const array& value, const options& how) {
  return collective::broadcast(group.local(), of_rank_0(group, value, "broadcast"), how);
}

std::vector<array> all_reduce(const device_group& group, const std::vector<array>& values,
                              reduction with, const options& how) {
  const bool linear = with == reduction::sum || with == reduction::avg;  // and so its own adjoint
  if (!linear && graph::gradient_trace::of_thread() != nullptr) {
    const array own = collective::reduce(group.local(), values, group[0], with, how);
    return collective::broadcast(group.local(), group.ranks()->all_reduce(own, with), how);
  }
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
  return own_parts(group, over_ranks::all_reduce(group, values, with, how), axis);
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
  const int along = checked_axis(graph::get(value, "scatter").extents, axis, "scatter");
  return own_parts(group, std::vector(group.size(), of_rank_0(group, value, "scatter")), along);
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
