// SPDX-License-Identifier: Apache-2.0
#include "multi/job/rank_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "base/disk_cache.hpp"
#include "multi/collectives/backend.hpp"
#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "plugin/raii.hpp"
#include "runtime/transfer/collectives.hpp"
#include "tutti/error.hpp"
#include "tutti/ops.hpp"

namespace tutti::multi {
namespace {

// One bit of a set of reductions, from sum to max, of dtypes.
std::uint64_t bit_of(int reduction, dtype type) {
  return std::uint64_t{1} << (16 * (reduction - TUTTI_REDUCE_SUM) + static_cast<int>(type));
}

// A store of one key, which one rank sets and all others get. The exchange is one of the job, in
// which also ranks take part that come to no call, so that no rank waits for them in its plugin.
class meeting {
 public:
  explicit meeting(job_state& job) : job_(job) {}
  meeting(const meeting&) = delete;

  const tutti_store* store() const { return &table_; }
  /// No call of the store has come, or will come.
  void give_up() { plugins::ignore(meet(gives_up, nullptr, 0)); }

 private:
  enum call : std::uint32_t { gives_up, sets, gets };
  struct record {
    std::uint32_t what = gives_up;
    unsigned char data[256] = {};
  };

  static tutti_status* set(void* self, const char*, const void* data, std::uint64_t bytes) {
    return static_cast<meeting*>(self)->meet(sets, const_cast<void*>(data), bytes);
  }
  static tutti_status* get(void* self, const char*, void* data, std::uint64_t bytes,
                           std::uint64_t) {
    return static_cast<meeting*>(self)->meet(gets, data, bytes);
  }

  tutti_status* meet(call what, void* data, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (over_) return refuse("a second key");
    over_ = true;
    record own;
    if (bytes <= sizeof own.data) own.what = what;
    if (own.what == sets) std::memcpy(own.data, data, bytes);
    std::vector<record> all;
    try {
      all = job_.gather(std::span<const record>(&own, 1), "all_reduce");
    } catch (const error& e) {
      return plugins::new_status(TUTTI_ERROR_TIMEOUT, e.what());
    }
    const record* value = nullptr;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r].what == gives_up) return refuse(fmt::format("rank {} cannot", r));
      if (all[r].what == sets) value = &all[r];
    }
    if (value == nullptr) return refuse("nobody sets the key");
    if (what == gets) std::memcpy(data, value->data, bytes);
    return nullptr;
  }
  static tutti_status* refuse(const std::string& why) {
    return plugins::new_status(TUTTI_ERROR_UNSUPPORTED, why);
  }

  job_state& job_;
  std::mutex mutex_;
  bool over_ = false;
  const tutti_store table_{sizeof table_, this, set, get};
};

// Connects the devices; returns the reductions and dtypes of all ranks, none after a failure.
std::uint64_t connect(job_state& job, runtime::rank_communicator& own, std::size_t number) {
  const auto all = std::make_shared<meeting>(job);
  const double limit = job.time_limit();
  const bool done = own.create(fmt::format("ranks {}", number), {all, all->store()}, limit);
  all->give_up();
  std::uint64_t offered = 0;
  for (int with = TUTTI_REDUCE_SUM; done && with <= TUTTI_REDUCE_MAX; ++with)
    for (int type = static_cast<int>(dtype::i8); type <= static_cast<int>(dtype::f64); ++type)
      if (own.supports(TUTTI_COLLECTIVE_ALL_REDUCE, static_cast<dtype>(type),
                       static_cast<tutti_reduction>(with)))
        offered |= bit_of(with, static_cast<dtype>(type));
  // Others may still wait in their plugins for a rank that has failed.
  for (const std::int64_t others :
       job.agree("all_reduce", "", {}, -1, static_cast<std::int64_t>(offered), 2 * limit))
    offered &= static_cast<std::uint64_t>(others);
  return offered;
}

}  // namespace

std::int64_t place_of(const device& on) {
  const detail::opened_device& own = detail::get(on);
  if (!own.plugin->has_collective) return -1;
  const std::uint64_t plugin = base::fnv1a(own.plugin->name);
  return static_cast<std::int64_t>((plugin & 0x7fffffff) << 16 | (own.index & 0xffff));
}

rank_devices::rank_devices(job_state& job, const std::vector<device>& own,
                           const std::vector<std::int64_t>& places,
                           const std::vector<std::size_t>& begins)
    : job_(job), count_(static_cast<double>(places.size())) {
  for (const std::int64_t place : places)
    if (place < 0 || place >> 16 != places[0] >> 16) return;
  const std::pair key(places, begins);
  if (!job.connected.contains(key)) {
    std::vector<const detail::opened_device*> members;
    for (const device& d : own) members.push_back(&detail::get(d));
    job.ending([&] {
      // It has a thread, and so is never destroyed.
      auto* const all = new runtime::rank_communicator(
          members, begins[static_cast<std::size_t>(job.rank())], places.size());
      job.connected[key] = {all, connect(job, *all, job.connected.size())};
    });
  }
  all_ = job.connected[key].all;
  offered_ = job.connected[key].offered;
}

bool rank_devices::reduce(const reductions_of_devices& values, collective::reduction with) const {
  return std::all_of(values.begin(), values.end(), [&](const std::vector<array>& each) {
    return each[0].size() > 0 && (offered_ & bit_of(code_of(with), widened(each[0]).dtype())) != 0;
  });
}

reductions_of_devices rank_devices::all_reduce(reductions_of_devices values,
                                               collective::reduction with) {
  std::vector<array_record> records;
  std::vector<array> all;
  for (std::vector<array>& each : values) {
    records.push_back(describe(each[0]));
    for (array& a : each) all.push_back(a = contiguous(widened(a).flatten()));
  }
  job_.ending([&] {
    eval(all);
    for (std::vector<array>& each : values) {
      for (const array& a : each) a.wait();  // the time limit is for the other ranks
      each = all_->all_reduce(each, code_of(with), job_.time_limit());
    }
    for (const std::vector<array>& each : values) all_->finish(each, job_.time_limit());
  });
  for (std::size_t i = 0; i < values.size(); ++i)
    for (array& a : values[i]) {
      if (with == collective::reduction::avg) a = a / count_;
      a = a.reshape(extents_of(records[i])).astype(static_cast<dtype>(records[i].dtype));
    }
  return values;
}

}  // namespace tutti::multi
