// SPDX-License-Identifier: Apache-2.0
#include "multi/job/rank_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/raii.hpp"
#include "runtime/transfer/collectives.hpp"
#include "tutti/error.hpp"
#include "tutti/ops.hpp"

namespace tutti::multi {
namespace {

constexpr tutti_reduction reductions[] = {TUTTI_REDUCE_SUM, TUTTI_REDUCE_PROD, TUTTI_REDUCE_MIN,
                                          TUTTI_REDUCE_MAX};

// One bit of a set of reductions of dtypes.
std::uint64_t bit_of(std::size_t reduction, dtype type) {
  return std::uint64_t{1} << (16 * reduction + static_cast<std::size_t>(type));
}

// A store of one key, which one rank sets and all others get. The exchange is one of the job, in
// which also ranks take part that come to no call, so that no rank waits for them in its plugin.
class meeting {
 public:
  explicit meeting(job_state& job) : job_(job) {}
  meeting(const meeting&) = delete;

  const tutti_store* store() const { return &table_; }
  /// No call of the store has come, or will come.
  void give_up() { plugins::ignore(meet(gives_up, "", nullptr, 0)); }

 private:
  enum call : std::uint32_t { gives_up, sets, gets };
  struct record {
    std::uint32_t what = gives_up, bytes = 0;
    char key[120] = {};
    unsigned char data[256] = {};
  };

  static tutti_status* set(void* self, const char* key, const void* data, std::uint64_t bytes) {
    return static_cast<meeting*>(self)->meet(sets, key, const_cast<void*>(data), bytes);
  }
  static tutti_status* get(void* self, const char* key, void* data, std::uint64_t bytes,
                           std::uint64_t) {
    return static_cast<meeting*>(self)->meet(gets, key, data, bytes);
  }

  tutti_status* meet(call what, const char* key, void* data, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (over_) return refuse("a second key");
    over_ = true;
    record own{what, static_cast<std::uint32_t>(bytes)};
    const bool fits = bytes <= sizeof own.data && std::strlen(key) < sizeof own.key;
    if (!fits) own.what = gives_up;
    if (fits) std::strcpy(own.key, key);
    if (fits && what == sets) std::memcpy(own.data, data, bytes);
    std::vector<record> all;
    try {
      all = job_.gather(std::span<const record>(&own, 1), "all_reduce");
    } catch (const error& e) {
      return plugins::new_status(TUTTI_ERROR_TIMEOUT, e.what());
    }
    const record* value = nullptr;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r].what == gives_up) return refuse(fmt::format("rank {} cannot", r));
      if (std::strcmp(all[r].key, own.key) != 0 || all[r].bytes != own.bytes ||
          (all[r].what == sets && value != nullptr))
        return refuse(fmt::format("rank {} has another key", r));
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
  for (std::size_t r = 0; done && r < std::size(reductions); ++r)
    for (int type = static_cast<int>(dtype::i8); type <= static_cast<int>(dtype::f64); ++type)
      if (own.supports(TUTTI_COLLECTIVE_ALL_REDUCE, static_cast<dtype>(type), reductions[r]))
        offered |= bit_of(r, static_cast<dtype>(type));
  // Others may still wait in their plugins for a rank that has failed.
  for (const std::int64_t others :
       job.agree("all_reduce", 0, {}, -1, static_cast<std::int64_t>(offered), 2 * limit))
    offered &= static_cast<std::uint64_t>(others);
  return offered;
}

}  // namespace

std::int64_t place_of(std::span<const array> values) {
  const detail::opened_device* own = nullptr;
  for (const array& a : values) {
    const detail::opened_device& on = detail::get(a.device());
    if (own != nullptr && own != &on) return -1;
    own = &on;
  }
  if (own == nullptr || !own->plugin->has_collective) return -1;
  const std::uint64_t plugin = hash_of_bytes(std::as_bytes(std::span(own->plugin->name)));
  return static_cast<std::int64_t>((plugin & 0x7fffffff) << 16 | (own->index & 0xffff));
}

rank_devices::rank_devices(job_state& job, const device& own,
                           const std::vector<std::int64_t>& places)
    : job_(job) {
  for (const std::int64_t place : places)
    if (place < 0 || place >> 16 != places[0] >> 16) return;
  auto& known = job.connected;
  const auto [found, is_new] = known.try_emplace(places);
  if (is_new) {
    // It has a thread, and so is never destroyed.
    found->second.all = new runtime::rank_communicator(detail::get(own), job.rank(), job.size());
    found->second.offered = connect(job, *found->second.all, known.size());
  }
  all_ = found->second.all;
  offered_ = found->second.offered;
}

bool rank_devices::reduces(const array& a, tutti_reduction with) const {
  const auto r = static_cast<std::size_t>(
      std::find(std::begin(reductions), std::end(reductions), with) - std::begin(reductions));
  return a.size() > 0 && (offered_ & bit_of(r, a.dtype())) != 0;
}

array rank_devices::start(const array& flat, tutti_reduction with) {
  return job_.ending([&] {
    const array own = contiguous(flat);
    own.wait();  // the time limit is for the other ranks
    return all_->all_reduce(own, with, job_.time_limit());
  });
}

array rank_devices::finish(const array& result) {
  return job_.ending([&] {
    all_->finish(result, job_.time_limit());
    return result;
  });
}

}  // namespace tutti::multi
