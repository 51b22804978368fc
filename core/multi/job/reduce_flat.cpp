// SPDX-License-Identifier: Apache-2.0
//
// Reductions over ranks, message by message: by the communication plugin in host memory, or all at
// once by what connects the devices of the ranks.

#include <deque>
#include <numeric>

#include "multi/collectives/backend.hpp"
#include "multi/groups/participants.hpp"
#include "multi/job/rank_devices.hpp"
#include "multi/job/transfer.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::multi {
namespace {

using collective::reduction;

// A copy there is the memory of messages, and the result.
bool is_on_host(const array& a) {
  const plugins::plugin& of = *detail::get(a.device()).plugin;
  return of.has_native && of.native.kind == TUTTI_NATIVE_HOST;
}

void reduce_in_messages(job_state& job, const std::vector<array>& flat, reduction with,
                        const std::function<void(std::size_t, const array&)>& come) {
  std::vector<array> parts;
  std::vector<std::size_t> ends;  // the parts of each array
  for (const array& a : flat) {
    const array whole = widened(a);
    const std::vector<std::int64_t> cuts =
        is_on_host(a) ? std::vector<std::int64_t>{0, a.size()} : message_cuts(a);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c)
      parts.push_back(piece(whole, 0, cuts[c], cuts[c + 1]));
    ends.push_back(parts.size());
  }
  eval(parts);
  tutti_exchange what = exchange_of(TUTTI_EXCHANGE_ALL_REDUCE);
  what.reduction = code_of(with);
  std::deque<transfer> pending;
  std::vector<array> arrived;  // parts of flat[i]
  std::size_t taken = 0, i = 0;
  const auto take = [&] {
    array part = pending.front().finish();
    pending.pop_front();
    if (with == reduction::avg) part = part / static_cast<double>(job.size());
    arrived.push_back(part.astype(flat[i].dtype()));
    if (++taken < ends[i]) return;
    come(i++, join(arrived, 0));
    arrived.clear();
  };
  for (const array& a : parts) {  // waits for one while earlier ones are in transfer
    what.dtype = static_cast<std::int32_t>(real_dtype(a.dtype()));  // complex: both parts
    pending.emplace_back(job, "all_reduce", what,
                         message_copy(a, job.needs_host(a, TUTTI_EXCHANGE_ALL_REDUCE)));
    while (pending.size() > 1 && pending.front().done()) take();
  }
  while (!pending.empty()) take();
}

}  // namespace

void require_reducible(const std::vector<array>& values, reduction with) {
  for (const array& a : values) {
    const dtype type = a.dtype();
    const bool known = is_floating(type) || (is_integral(type) && with != reduction::avg) ||
                       (is_complex(type) && (with == reduction::sum || with == reduction::avg));
    if (!known) base::fail<dtype_error>("all_reduce: {} is not reduced by {}", type, name_of(with));
  }
}

std::vector<std::int64_t> message_cuts(const array& flat) {
  const auto most =
      static_cast<std::int64_t>(transfer::most_reduced / size_of(widened(flat).dtype()));
  std::vector<std::int64_t> out{0};
  while (out.back() + most < flat.size()) out.push_back(out.back() + most);
  out.push_back(flat.size());
  return out;
}

void reduce_flat(job_state& job, const std::vector<array>& flat, reduction with,
                 const std::vector<std::int64_t>& places,
                 const std::function<void(std::size_t, const array&)>& come) {
  if (flat.empty()) return;
  std::vector<std::size_t> begins(places.size() + 1);  // of one device of each rank
  std::iota(begins.begin(), begins.end(), std::size_t{0});
  rank_devices devices(job, {flat[0].device()}, places, begins);
  reductions_of_devices lists;
  for (const array& a : flat) lists.push_back({a});
  if (devices.reduce(lists, with)) {
    lists = devices.all_reduce(lists, with);
    for (std::size_t i = 0; i < flat.size(); ++i) come(i, lists[i][0]);
    return;
  }
  job.ending([&] { reduce_in_messages(job, flat, with, come); });
}

}  // namespace tutti::multi
