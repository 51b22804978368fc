// SPDX-License-Identifier: Apache-2.0
//
// Collectives between ranks, in host memory, or in that of devices if the communication plugin
// takes it; otherwise with copies in both directions.
#include "tutti/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "multi/collectives/backend.hpp"
#include "multi/groups/participants.hpp"
#include "multi/job/job_state.hpp"
#include "multi/job/rank_devices.hpp"
#include "multi/job/transfer.hpp"
#include "multi/loop/gradients.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

using collective::reduction;
using multi::array_record;
using multi::caller_tags;
using multi::job_state;
using multi::message_copy;
using multi::transfer;

void require_values(const std::vector<array>& values, const char* op) {
  for (const array& a : values)
    if (!a.valid()) base::fail<value_error>("{}: an array is invalid", op);
}

bool has_derivative(const array& a) { return is_floating(a.dtype()) || is_complex(a.dtype()); }

// The sums over all ranks of the cotangents of floating values, on rank `root` only; -1: on all.
std::vector<array> summed(const job& ranks, const std::vector<array>& cotangents, int root = -1) {
  std::vector<array> floating, out(cotangents.size());
  for (const array& c : cotangents)
    if (has_derivative(c)) floating.push_back(c);
  const std::vector<array> sums = ranks.all_reduce(floating);
  auto next = sums.begin();
  for (std::size_t i = 0; i < out.size(); ++i)
    if (has_derivative(cotangents[i]) && (root < 0 || root == ranks.rank())) out[i] = *next++;
  return out;
}

void require_rank(int rank, const job_state& job, const char* op) {
  if (rank < 0 || rank >= job.size())
    base::fail<value_error>("{}: rank {} of {}", op, rank, job.size());
}

void require_tag(int tag, const char* op) {
  if (tag < 0 || tag >= caller_tags)
    base::fail<value_error>("{}: tag {}, not one of 0 to {}", op, tag, caller_tags - 1);
}

std::vector<array_record> records_of(const std::vector<array>& values) {
  std::vector<array_record> out;
  for (const array& a : values) out.push_back(multi::describe(a));
  return out;
}

// The gradient of the smallest or largest value, or of the product, from the values of all ranks.
array of_reduced(const job& ranks, const array& value, const array& cotangent, reduction with) {
  const array all = ranks.all_gather(expand_dims(value, {0}));
  const auto whole = [with](const std::vector<array>& v) {
    const reduce_options first{.axes = {{0}}};
    return std::vector{with == reduction::prod  ? prod(v[0], first)
                       : with == reduction::min ? min(v[0], first)
                                                : max(v[0], first)};
  };
  return vjp(whole, {all}, {cotangent}).second[0](ranks.rank());
}

// The values of job::all_reduce.
std::vector<array> reduced(job_state& job, const std::vector<array>& values, reduction with,
                           std::uint64_t bucket_bytes) {
  std::int64_t place = values.empty() ? -1 : multi::place_of(values[0].device());
  for (const array& a : values)
    if (!(a.device() == values[0].device())) place = -1;
  const std::vector<multi::bucket> buckets = multi::buckets_of(values, bucket_bytes, true);
  std::vector<array> joined;
  std::vector<std::size_t> ends;
  for (const multi::bucket& b : buckets) {
    joined.push_back(multi::joined(values, b));
    ends.push_back(b.last);
  }
  std::string how(multi::name_of(with));
  if (values.size() > 1)  // also the devices of the arrays determine the messages
    how += fmt::format(
        " with bucket_bytes = {}, in messages of one device and dtype that end after {} arrays",
        bucket_bytes, fmt::join(ends, ", "));
  const std::vector<std::int64_t> places =
      job.agree("all_reduce", how, records_of(values), -1, place);
  std::vector<array> out = values;
  multi::reduce_flat(job, joined, with, places, [&](std::size_t i, const array& reduced) {
    multi::separate(reduced, buckets[i], out);
  });
  return out;
}

// bytes[rank] of every rank, concatenated in `all`.
void gather_bytes(job_state& job, const message_copy& own, const message_copy& all,
                  const std::vector<std::uint64_t>& bytes) {
  const char* const op = "all_gather";
  if (all.bytes() <= transfer::most_bytes) {
    tutti_exchange what = multi::exchange_of(TUTTI_EXCHANGE_ALL_GATHER);
    what.data = own.data();
    what.bytes = own.bytes();
    what.out = all.data();
    what.sizes = bytes.data();
    const auto both = std::make_shared<std::pair<message_copy, message_copy>>(own, all);
    return job.wait(job.start(op, what, both), op);
  }
  std::uint64_t at = 0;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    const int root = static_cast<int>(r);
    if (root == job.rank()) std::copy_n(own.data(), bytes[r], all.data() + at);
    transfer(job, op, multi::exchange_of(TUTTI_EXCHANGE_BROADCAST, root), all, at, bytes[r])
        .finish();
    at += bytes[r];
  }
}

// The value of job::all_gather; `first` becomes the position of this rank's part.
array gathered(job_state& job, const array& value, int along, std::int64_t& first) {
  const std::vector<std::int64_t> extents =
      job.agree("all_gather", fmt::format("axis {}", along), records_of({value}), along);
  first = std::accumulate(extents.begin(), extents.begin() + job.rank(), std::int64_t{0});
  // Row-major parts are consecutive along the first axis.
  const array own = moveaxis(value, {along}, {0});
  shape joined = own.shape();
  joined[0] = 1;
  const std::uint64_t row = static_cast<std::uint64_t>(joined.size()) * size_of(own.dtype());
  joined[0] = std::accumulate(extents.begin(), extents.end(), std::int64_t{0});
  std::vector<std::uint64_t> bytes;
  for (const std::int64_t e : extents) bytes.push_back(static_cast<std::uint64_t>(e) * row);
  return job.ending([&] {
    const array room = zeros(joined, own.dtype(), own.device());
    // Parts of large arrays are copied on the host.
    const bool on_host =
        room.nbytes() > transfer::most_bytes || job.needs_host(own, TUTTI_EXCHANGE_ALL_GATHER);
    const message_copy all(room, on_host);
    if (all.bytes() > 0) gather_bytes(job, message_copy(own, on_host), all, bytes);
    return moveaxis(all.as_array(), {0}, {along});
  });
}

// The values of job::broadcast.
std::vector<array> sent_by(job_state& job, const std::vector<array>& values, int root) {
  job.agree("broadcast", fmt::format("root {}", root), records_of(values));
  return job.ending([&] {
    std::vector<transfer> transfers;
    for (const array& a : values)
      transfers.emplace_back(job, "broadcast", multi::exchange_of(TUTTI_EXCHANGE_BROADCAST, root),
                             message_copy(a, job.needs_host(a, TUTTI_EXCHANGE_BROADCAST)));
    std::vector<array> out;
    for (transfer& t : transfers) out.push_back(t.finish());
    return out;
  });
}

}  // namespace

job::job() : state_(multi::job_of_process()) {}

int job::rank() const { return state_->rank(); }
int job::size() const { return state_->size(); }
double job::time_limit() const { return state_->time_limit(); }
void job::call(std::string_view op, const std::function<void()>& f) const { state_->call(op, f); }

void job::barrier() const {
  if (size() > 1) state_->call("barrier", [&] { state_->agree("barrier", "", {}); });
}

array job::all_reduce(const array& value, reduction with) const {
  return all_reduce(std::vector<array>{value}, with)[0];
}

std::vector<array> job::all_reduce(const std::vector<array>& values, reduction with,
                                   std::uint64_t bucket_bytes) const {
  return state_->call("all_reduce", [&] {
    require_values(values, "all_reduce");
    multi::require_reducible(values, with);
    if (size() == 1) return values;
    const auto forward = [&](const std::vector<array>& v) {
      return reduced(*state_, v, with, bucket_bytes);
    };
    return multi::between_ranks(
        *state_, values, forward,
        [own = *this, with](const auto& arguments, const auto&, const auto& cotangents) {
          std::vector<array> out = summed(own, cotangents);
          for (std::size_t i = 0; i < out.size(); ++i) {
            if (!out[i].valid() || with == reduction::sum) continue;
            out[i] = with == reduction::avg ? out[i] / static_cast<double>(own.size())
                                            : of_reduced(own, arguments[i], out[i], with);
          }
          return out;
        });
  });
}

array job::all_gather(const array& value, integer axis) const {
  return state_->call("all_gather", [&] {
    require_values({value}, "all_gather");
    if (value.ndim() == 0) throw shape_error("all_gather: 0-d arrays have no axis");
    const int along = normalize_axis(axis, value.ndim(), "all_gather");
    if (size() == 1) return value;
    const auto first = std::make_shared<std::int64_t>(0);  // position of this rank's part
    const auto backward = [all = *this, along, first](const auto& arguments, const auto&,
                                                      const auto& cotangents) {
      std::vector<array> out = summed(all, cotangents);
      const std::int64_t last = *first + arguments[0].shape()[along];
      if (out[0].valid()) out[0] = multi::piece(out[0], along, *first, last);
      return out;
    };
    const auto forward = [&](const std::vector<array>& v) {
      return std::vector{gathered(*state_, v[0], along, *first)};
    };
    return multi::between_ranks(*state_, {value}, forward, backward)[0];
  });
}

array job::broadcast(const array& value, int root) const {
  return broadcast(std::vector<array>{value}, root)[0];
}

std::vector<array> job::broadcast(const std::vector<array>& values, int root) const {
  return state_->call("broadcast", [&] {
    require_values(values, "broadcast");
    require_rank(root, *state_, "broadcast");
    if (size() == 1) return values;
    const auto forward = [&](const std::vector<array>& v) { return sent_by(*state_, v, root); };
    return multi::between_ranks(
        *state_, values, forward,
        [own = *this, root](const auto&, const auto&, const auto& cotangents) {
          return summed(own, cotangents, root);
        });
  });
}

std::vector<array> job::exchange(const std::vector<array>& values, const std::vector<int>& to,
                                 const std::vector<int>& from, const device& on) const {
  const char* const op = "exchange";
  require_values(values, op);
  if (values.size() != to.size())
    base::fail<value_error>("{}: {} arrays for {} ranks", op, values.size(), to.size());
  for (const std::vector<int>& ranks : {to, from})
    for (const int rank : ranks) require_rank(rank, *state_, op);
  const auto sent = std::count(to.begin(), to.end(), rank());
  const auto received = std::count(from.begin(), from.end(), rank());
  if (sent != received)
    base::fail<value_error>("{}: rank {} sends itself {} arrays and receives {} from itself", op,
                            rank(), sent, received);
  if (size() > 1)
    return multi::exchange_messages(*state_, values, to, from,
                                    std::vector<device>(from.size(), on));
  std::vector<array> out;
  for (const array& a : values) out.push_back(a.to(on));
  return out;
}

void job::send(const array& value, int to, int tag) const {
  require_rank(to, *state_, "send");
  require_tag(tag, "send");
  multi::send_array(*state_, value, to, tag);
}

array job::receive(int from, int tag, const device& on) const {
  require_rank(from, *state_, "receive");
  require_tag(tag, "receive");
  return multi::receive_array(*state_, from, tag, on);
}

void multi::send_array(job_state& job, const array& value, int to, int tag) {
  require_values({value}, "send");
  multi::require_no_gradient(value, "send", "the array", "use exchange()");
  if (to == job.rank()) return job.keep(value, tag);
  const auto record = std::make_shared<array_record>(describe(value));
  tutti_exchange what = exchange_of(TUTTI_EXCHANGE_SEND, to, tag + message_tags);
  what.data = record.get();
  what.bytes = sizeof *record;
  job.leave(job.start("send", what, record), "send");
  what.tag = tag;
  transfer(job, "send", what, message_copy(value, job.needs_host(value, TUTTI_EXCHANGE_SEND)))
      .leave();
}

array multi::of_all_ranks(const job& ranks, const array& value) {
  return between_ranks(
      *ranks.state(), {value}, [](const std::vector<array>& v) { return v; },
      [ranks](const auto&, const auto&, const auto& cotangents) {
        return summed(ranks, cotangents);
      })[0];
}

array multi::receive_array(job_state& job, int from, int tag, const device& on) {
  if (from == job.rank()) return job.kept(tag).to(on);
  const auto record = std::make_shared<array_record>();
  tutti_exchange what = exchange_of(TUTTI_EXCHANGE_RECEIVE, from, tag + message_tags);
  what.data = record.get();
  what.bytes = sizeof *record;
  job.wait(job.start("receive", what, record), "receive");
  what.tag = tag;
  const array room = zeros(extents_of(*record), static_cast<dtype>(record->dtype), on);
  return transfer(job, "receive", what,
                  message_copy(room, job.needs_host(room, TUTTI_EXCHANGE_RECEIVE)))
      .finish();
}

}  // namespace tutti
