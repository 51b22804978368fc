// SPDX-License-Identifier: Apache-2.0
#include "multi/job/job_state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/disk_cache.hpp"
#include "base/fail.hpp"
#include "base/one_line.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::multi {
namespace {

// Ranks start at different times, and so do their libraries.
constexpr double start_limit = 60;  // seconds

struct text_record {
  char text[400] = {};
};

std::string described(const array_record& r) {
  return fmt::format("{} {}", name(static_cast<dtype>(r.dtype)), extents_of(r).str());
}

std::uint64_t hash_of(std::span<const array_record> arrays, int axis) {
  std::uint64_t hash = base::fnv1a({});
  for (array_record r : arrays) {
    if (axis >= 0) r.extents[axis] = 0;
    hash = base::fnv1a({reinterpret_cast<const char*>(&r), sizeof r}, hash);
  }
  return hash;
}

}  // namespace

tutti_exchange exchange_of(tutti_exchange_kind kind, int peer, int tag) {
  tutti_exchange out{};
  out.struct_size = sizeof out;
  out.kind = kind;
  out.peer = static_cast<std::uint32_t>(peer);
  out.tag = tag;
  return out;
}

array_record describe(const array& a) {
  array_record r{static_cast<std::int32_t>(a.dtype()), a.ndim(), {}};
  std::copy(a.shape().begin(), a.shape().end(), r.extents);
  return r;
}

shape extents_of(const array_record& r) {
  shape extents;
  for (int i = 0; i < r.rank; ++i) extents.push_back(r.extents[i]);
  return extents;
}

job_state::job_state(const tutti_communication_api& api, double time_limit,
                     const std::string& program)
    : api_(&api), time_limit_(std::max(time_limit, start_limit)) {
  check(api_->init(&job_, &rank_, &size_), "job");
  if (job_ == nullptr || size_ == 0 || rank_ >= size_)
    base::fail<plugin_error>("job: the communication plugin says that this is rank {} of {}", rank_,
                             size_);
  const std::vector<std::string> all = texts(program, "job");
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[0] != all[r])
      base::fail<value_error>("job: ranks run different programs: {} on rank 0 and {} on rank {}",
                              all[0], all[r], r);
  time_limit_ = time_limit;
}

std::vector<std::string> job_state::texts(std::string_view own, std::string_view op) {
  text_record record;
  own.copy(record.text, sizeof record.text - 1);
  std::vector<std::string> out;
  for (const text_record& r : gather(std::span<const text_record>(&record, 1), op))
    out.push_back(base::one_line(r.text));
  return out;
}

bool job_state::needs_host(const array& a, tutti_exchange_kind kind) const {
  const plugins::plugin& of = *detail::get(a.device()).plugin;
  return !of.has_native || of.native.kind != TUTTI_NATIVE_CUDA ||
         api_->struct_size <= offsetof(tutti_communication_api, takes_cuda_memory) ||
         api_->takes_cuda_memory == nullptr || api_->takes_cuda_memory(job_, kind) == 0;
}

void job_state::require_sound(std::string_view op) const {
  if (failure_.empty()) return;
  throw device_error(fmt::format("{}: the job has failed: {}", named(op), failure_),
                     TUTTI_ERROR_TIMEOUT);
}

std::string job_state::named(std::string_view op) const {
  return call_.empty() || call_ == op ? std::string(op) : fmt::format("{} ({})", call_, op);
}

void job_state::tell(const char* why) noexcept {
  if (why == agreed_error_ || !failure_.empty() || !lost_.empty()) return;
  call_record own;
  own.threw = 1;
  try {
    gather(std::span<const call_record>(&own, 1), "job");
    texts(why, "job");
  } catch (const error&) {
    // The others do something else, and report that this rank does not come.
  }
}

void job_state::check(tutti_status* status, std::string_view op) {
  ending([&] { plugins::check(status, named(op)); });
}

tutti_request* job_state::start(std::string_view op, const tutti_exchange& what,
                                std::shared_ptr<void> memory) {
  require_sound(op);
  return ending([&] { return post(what, std::move(memory), op); });
}

void job_state::wait(tutti_request* request, std::string_view op, double seconds) {
  check(api_->wait(request, seconds > 0 ? seconds : time_limit_), op);
  memory_.erase(request);
}

bool job_state::is_done(tutti_request* request, std::string_view op) {
  std::uint32_t done = 0;
  check(api_->test(request, &done), op);
  return done != 0;
}

void job_state::leave(tutti_request* request, std::string_view op) {
  left_.push_back(request);
  std::erase_if(left_, [&](tutti_request* r) {
    const bool over = is_done(r, op);
    if (over) wait(r, op);
    return over;
  });
}

tutti_request* job_state::post(const tutti_exchange& what, std::shared_ptr<void> memory,
                               std::string_view op) {
  tutti_request* made = nullptr;
  plugins::check(api_->begin(job_, &what, &made), named(op));
  memory_[made] = std::move(memory);
  return made;
}

bool job_state::done(tutti_request* request) {
  std::uint32_t is_done = 0;
  plugins::check(api_->test(request, &is_done), "job");
  if (is_done == 0) return false;
  plugins::check(api_->wait(request, time_limit_), "job");
  memory_.erase(request);
  return true;
}

void job_state::defer(const std::vector<tutti_request*>& requests) {
  left_.insert(left_.end(), requests.begin(), requests.end());
}

void job_state::lose(int rank, const std::string& why) { lost_.emplace(rank, why); }

std::vector<std::int64_t> job_state::agree(std::string_view op, std::string_view how,
                                           std::span<const array_record> arrays, int axis,
                                           std::int64_t own_number, double seconds) {
  const std::string name = named(op);
  if (!lost_.empty()) {
    const auto& [rank, why] = *lost_.begin();
    throw device_error(fmt::format("{}: rank {} is lost: {}", name, rank, why),
                       TUTTI_ERROR_TIMEOUT);
  }
  call_record own;
  own.op = base::fnv1a(name);
  own.how = base::fnv1a(how);
  own.count = static_cast<std::uint32_t>(arrays.size());
  own.hash = hash_of(arrays, axis);
  own.along = axis < 0 || arrays.empty() ? own_number : arrays[0].extents[axis];
  const std::vector<call_record> all = gather(std::span<const call_record>(&own, 1), op, seconds);
  const call_record& first = all[0];
  // The first rank whose record differs; 0 if none does. All ranks find the same.
  const auto other = [&](auto&& is_same) {
    const auto found = std::find_if_not(all.begin(), all.end(), is_same);
    return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
  };
  const auto require_same_way = [&] {
    const auto r = other([&](const call_record& c) { return c.how == first.how; });
    if (r == 0) return;
    const std::vector<std::string> told = texts(how, op);
    base::fail<value_error>("{}: {} on rank 0 and {} on rank {}", name, told[0], told[r], r);
  };
  try {
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r].threw != 0)
        base::fail<value_error>("{}: rank {} has thrown: {}", name, r, texts("", op)[r]);
    if (const auto r = other([&](const call_record& c) { return c.op == first.op; })) {
      const std::vector<std::string> told = texts(name, op);
      base::fail<value_error>("job: rank 0 calls {} and rank {} calls {}", told[0], r, told[r]);
    }
    if (const auto r = other([&](const call_record& c) { return c.count == first.count; }))
      base::fail<value_error>("{}: {} arrays on rank 0 and {} on rank {}", name, first.count,
                              all[r].count, r);
    if (axis >= 0) require_same_way();  // the axis, before extents without it are compared
    if (const auto r = other([&](const call_record& c) { return c.hash == first.hash; }))
      refuse(op, arrays, axis, r);
    require_same_way();
  } catch (const error& e) {
    agreed_error_ = e.what();
    throw;
  }
  std::vector<std::int64_t> along;
  for (const call_record& c : all) along.push_back(c.along);
  return along;
}

void job_state::refuse(std::string_view op, std::span<const array_record> arrays, int axis,
                       std::size_t other) {
  const std::vector<array_record> all = gather(arrays, op);
  const array_record *a = all.data(), *b = a + other * arrays.size();
  for (; hash_of({a, 1}, axis) == hash_of({b, 1}, axis); ++b) ++a;
  const std::string both =
      fmt::format("{} on rank 0 and {} on rank {}", described(*a), described(*b), other);
  if (a->dtype != b->dtype) base::fail<dtype_error>("{}: dtypes differ: {}", named(op), both);
  base::fail<shape_error>("{}: shapes differ: {}", named(op), both);
}

void job_state::keep(const array& value, int tag) { own_messages_[tag].push_back(value); }

array job_state::kept(int tag) {
  std::deque<array>& box = own_messages_[tag];
  if (box.empty())
    base::fail<value_error>("receive: rank {} has sent itself nothing with tag {}", rank_, tag);
  const array first = box.front();
  box.pop_front();
  return first;
}

void job_state::finish() noexcept {
  if (api_ == nullptr) return;
  bool sound = failure_.empty() && lost_.empty();
  for (tutti_request* request : left_)
    if (sound) sound = !plugins::ignore(api_->wait(request, time_limit_));
  if (sound) {
    api_->finalize(job_);
  } else {
    // Other ranks that wait for the same rank need the same time to report it.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    api_->abort(job_, 1);
  }
  api_ = nullptr;
}

}  // namespace tutti::multi
