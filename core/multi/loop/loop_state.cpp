// SPDX-License-Identifier: Apache-2.0
#include "multi/loop/loop_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "multi/groups/participants.hpp"
#include "tutti/error.hpp"

namespace tutti::multi {
namespace {

void check(const index_range& range, std::size_t workers, const loop_options& o) {
  const auto fail = [&](const std::string& what) {
    base::fail<value_error>("{}: {}", o.label, what);
  };
  if (range.end < range.begin)
    fail(fmt::format("the range ends before it begins: [{}, {})", range.begin, range.end));
  if (range.begin < 0 && range.end > std::numeric_limits<std::int64_t>::max() + range.begin)
    fail(fmt::format("the range is too long: [{}, {})", range.begin, range.end));
  if (o.grain < 1) fail(fmt::format("grain is {}, not at least 1", o.grain));
  if (o.depth < 1) fail(fmt::format("depth is {}, not at least 1", o.depth));
  if (o.time_limit && !(*o.time_limit > 0))
    fail(fmt::format("time_limit is {} s, not above 0", *o.time_limit));
  if (o.weights.empty()) return;
  if (o.policy != loop_policy::weighted)
    fail(fmt::format("weights are for the policy weighted, not for {}", to_string(o.policy)));
  if (o.weights.size() != workers)
    fail(fmt::format("{} weights for {} devices", o.weights.size(), workers));
  checked_sum(o.weights, o.label);
}

std::unique_ptr<schedule_policy> make_policy(const loop_options& options, std::size_t workers,
                                             std::int64_t units) {
  switch (options.policy) {
    case loop_policy::static_equal:
      return make_split(workers, units, std::vector<double>(workers, 1.0));
    case loop_policy::weighted:
      return make_split(workers, units, options.weights);
    case loop_policy::dynamic:
      return make_balanced(workers, units, options.time_limit, 1);
    case loop_policy::work_stealing:
      return make_balanced(workers, units, options.time_limit, workers);
  }
  base::fail<value_error>("{}: unknown policy {}", options.label, static_cast<int>(options.policy));
}

}  // namespace

loop_state::loop_state(const index_range& range, std::vector<std::string> workers,
                       const loop_options& options, std::unique_ptr<schedule_policy> policy)
    : range_(range), time_limit_(options.time_limit), workers_(workers.size()) {
  check(range, workers.size(), options);
  grain_ = std::min(options.grain, std::max<std::int64_t>(1, range.size()));
  const std::int64_t units = range.size() / grain_ + (range.size() % grain_ != 0 ? 1 : 0);
  policy_ = policy ? std::move(policy) : make_policy(options, workers.size(), units);
  for (std::size_t i = 0; i < workers.size(); ++i) workers_[i].told.device = std::move(workers[i]);
}

index_range loop_state::indices(const index_range& units) const {
  // The last unit may be short; its end must not overflow.
  const std::int64_t begin = range_.begin + units.begin * grain_;
  const bool to_the_end = units.end > (range_.size() - 1) / grain_;
  return {begin, to_the_end ? range_.end : range_.begin + units.end * grain_};
}

std::optional<index_range> loop_state::next(std::size_t i, double now) {
  worker_record& w = workers_[i];
  if (w.out || complete()) return {};
  const std::optional<index_range> chunk = policy_->next(i, now);
  if (!chunk) return {};
  if (w.held.empty()) {
    w.started = now;
    w.watched_since = now;
  }
  w.held.push_back(*chunk);
  return indices(*chunk);
}

std::optional<loop_state::finished_chunk> loop_state::finish(std::size_t i, std::uint64_t bytes,
                                                             double now) {
  worker_record& w = workers_[i];
  if (w.out) return {};
  const index_range units = w.held.front();
  w.held.pop_front();
  const finished_chunk made{indices(units), w.started, now};
  policy_->done(i, units, now - w.started, now);
  w.told.busy_seconds += now - w.started;
  w.told.last_finished = now;
  w.told.chunks += 1;
  w.told.items += made.range.size();
  w.told.bytes += bytes;
  done_ += made.range.size();
  w.started = now;
  w.watched_since = now;
  return made;
}

void loop_state::fail(std::size_t i, const std::string& why, double now) {
  worker_record& w = workers_[i];
  if (w.out) return;
  w.out = true;
  w.told.failure = why;
  for (const index_range& units : w.held) w.told.taken_back += indices(units).size();
  const std::vector<index_range> unfinished(w.held.begin(), w.held.end());
  w.held.clear();
  policy_->failed(i, unfinished, now);
}

void loop_state::pause(std::size_t i) { workers_[i].paused = true; }

void loop_state::resume(std::size_t i, double now) {
  workers_[i].paused = false;
  workers_[i].watched_since = now;
}

void loop_state::hold(double now) {
  if (holds_++ == 0) held_since_ = now;
}

void loop_state::release(double now) {
  if (--holds_ > 0) return;
  for (worker_record& w : workers_) w.watched_since += now - std::max(held_since_, w.watched_since);
}

std::optional<double> loop_state::deadline() const {
  std::optional<double> first;
  if (!time_limit_ || holds_ > 0) return first;
  for (const worker_record& w : workers_) {
    if (w.out || w.paused || w.held.empty()) continue;
    const double at = w.watched_since + *time_limit_;
    first = std::min(first.value_or(at), at);
  }
  return first;
}

std::vector<std::size_t> loop_state::expire(double now) {
  std::vector<std::size_t> late;
  for (std::size_t i = 0; time_limit_ && holds_ == 0 && i < workers_.size(); ++i) {
    const worker_record& w = workers_[i];
    if (w.out || w.paused || w.held.empty() || now < w.watched_since + *time_limit_) continue;
    const index_range chunk = indices(w.held.front());
    fail(i,
         fmt::format("no answer for chunk {}..{} within {} s", chunk.begin, chunk.end - 1,
                     *time_limit_),
         now);
    late.push_back(i);
  }
  return late;
}

std::string loop_state::failures() const {
  std::string text;
  for (const worker_record& w : workers_)
    if (w.out)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", w.told.device, w.told.failure);
  return text;
}

loop_report loop_state::report() const {
  loop_report all;
  for (const worker_record& w : workers_) {
    device_report told = w.told;
    if (told.busy_seconds > 0)
      told.throughput = static_cast<double>(told.items) / told.busy_seconds;
    all.items += told.items;
    all.chunks += told.chunks;
    all.makespan = std::max(all.makespan, told.last_finished);
    all.devices.push_back(std::move(told));
  }
  for (device_report& d : all.devices)
    if (all.makespan > 0) d.busy_share = d.busy_seconds / all.makespan;
  all.lower_bound = lower_bound(all.devices, all.items);
  if (all.lower_bound > 0) all.ratio = all.makespan / all.lower_bound;
  return all;
}

double lower_bound(const std::vector<device_report>& devices, std::int64_t items) {
  // Work done by time t rises with slope sum(throughput), less at the end of each failed device.
  double speed = 0;
  std::vector<std::pair<double, double>> ends;  // when, throughput
  for (const device_report& d : devices) {
    speed += d.throughput;
    if (!d.failure.empty()) ends.emplace_back(d.last_finished, d.throughput);
  }
  std::sort(ends.begin(), ends.end());
  double left = static_cast<double>(items);
  double time = 0;
  for (const auto& [end, throughput] : ends) {
    if (speed > 0 && left <= speed * (end - time)) break;
    left -= speed * (end - time);
    time = end;
    speed -= throughput;
  }
  return speed > 0 && left > 0 ? time + left / speed : time;
}

}  // namespace tutti::multi
