// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the policies: lists of ranges, measured speeds, and the size of the next chunk.
#include "multi/loop/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti::multi {
namespace {

// A first chunk is small, because the worker may be much slower than the mean: a worker with a
// twentieth of the mean speed needs 20/64 of the loop for this part of its equal share.
constexpr std::int64_t probes_in_a_share = 64;
// A chunk takes at least 1/512 of the loop, so that the cost of assigning it is small.
constexpr double least_part_of_loop = 1.0 / 512;
// It takes at most 1/16 of the loop: the work of a failing device is lost.
constexpr double greatest_part_of_loop = 1.0 / 16;
// A chunk that takes a time_limit would be treated as hanging.
constexpr double part_of_time_limit = 0.25;
// Hummel, Schonberg, Flynn 1992: half of the remaining work is assigned, half is kept for
// balancing.
constexpr double factor = 0.5;
constexpr double forget = 0.5;

}  // namespace

void range_list::add(const index_range& r) {
  if (r.size() <= 0) return;
  total_ += r.size();
  auto after = std::lower_bound(
      ranges_.begin(), ranges_.end(), r,
      [](const index_range& a, const index_range& b) { return a.begin < b.begin; });
  if (after != ranges_.begin() && std::prev(after)->end == r.begin) {
    auto before = std::prev(after);
    before->end = r.end;
    if (after != ranges_.end() && after->begin == r.end) {
      before->end = after->end;
      ranges_.erase(after);
    }
  } else if (after != ranges_.end() && after->begin == r.end) {
    after->begin = r.begin;
  } else {
    ranges_.insert(after, r);
  }
}

void range_list::add(range_list&& other) {
  for (const index_range& r : other.ranges_) add(r);
  other = {};
}

index_range range_list::take_front(std::int64_t n) {
  index_range& first = ranges_.front();
  const index_range taken{first.begin, first.begin + std::min(n, first.size())};
  first.begin = taken.end;
  if (first.size() == 0) ranges_.pop_front();
  total_ -= taken.size();
  return taken;
}

range_list range_list::take_back(std::int64_t n) {
  range_list taken;
  while (taken.total_ < n) {
    index_range& last = ranges_.back();
    const std::int64_t part = std::min(last.size(), n - taken.total_);
    taken.ranges_.push_front({last.end - part, last.end});
    taken.total_ += part;
    last.end -= part;
    if (last.size() == 0) ranges_.pop_back();
    total_ -= part;
  }
  return taken;
}

worker_estimates::worker_estimates(std::size_t workers, std::int64_t units,
                                   std::optional<double> time_limit)
    : workers_(workers),
      units_(units),
      time_limit_(time_limit.value_or(std::numeric_limits<double>::infinity())),
      probe_(std::max<std::int64_t>(
          1, units / (probes_in_a_share * static_cast<std::int64_t>(workers)))) {}

void worker_estimates::handed(std::size_t worker, std::int64_t n, double now) {
  worker_state& w = workers_[worker];
  if (w.held.empty()) {
    w.started = now;
    w.oldest = n;
  }
  w.held.push_back(n);
  w.held_units += n;
  all_backlog_ += static_cast<double>(n);
}

void worker_estimates::done(std::size_t worker, std::int64_t n, double seconds, double now) {
  worker_state& w = workers_[worker];
  w.held.pop_front();
  w.oldest = w.held.empty() ? 0 : w.held.front();
  w.held_units -= n;
  w.started = now;
  // The first chunk includes one-time compilation and allocation; it counts until there is a second
  // one.
  const double keep = w.finished == 1 ? 0 : forget;
  ++w.finished;
  w.units = w.units * keep + static_cast<double>(n);
  w.seconds = w.seconds * keep + std::max(seconds, 1e-9);
  w.speed = w.units / w.seconds;
  changed();
}

void worker_estimates::failed(std::size_t worker) {
  workers_[worker].alive = false;
  workers_[worker].held.clear();
  workers_[worker].oldest = workers_[worker].held_units = 0;
  changed();
}

void worker_estimates::changed() {
  summed_at_.reset();
  if (all_measured_) return;
  double sum = 0;
  int known = 0;
  all_measured_ = true;
  for (const worker_state& w : workers_) {
    if (!w.alive) continue;
    if (w.finished == 0) {
      all_measured_ = false;
      continue;
    }
    sum += w.speed;
    ++known;
  }
  mean_speed_ = known > 0 ? sum / known : 1;
}

void worker_estimates::sum(double now) {
  if (summed_at_ == now) return;
  summed_at_ = now;
  all_speed_ = all_backlog_ = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const worker_state& w = workers_[i];
    if (!w.alive) continue;
    const double s = speed(i, now);
    all_speed_ += s;
    if (w.oldest == 0) continue;
    all_backlog_ += std::max(0.0, static_cast<double>(w.held_units) - s * (now - w.started));
  }
}

double worker_estimates::speed(std::size_t worker, double now) const {
  const worker_state& w = workers_[worker];
  const double found = w.finished > 0 ? w.speed : mean_speed_;
  const double units = static_cast<double>(w.oldest), elapsed = now - w.started;
  return w.oldest == 0 || found * elapsed <= units ? found : units / elapsed;
}

double worker_estimates::backlog_seconds(const worker_state& w, double speed, double now) const {
  if (w.held_units == 0) return 0;
  return std::max(0.0, static_cast<double>(w.held_units) / speed - (now - w.started));
}

std::int64_t worker_estimates::chunk_size(std::size_t worker, std::int64_t remaining, double now) {
  const worker_state& mine = workers_[worker];
  if (mine.finished == 0) return mine.held.empty() ? std::min(probe_, remaining) : 0;

  sum(now);
  const double s = speed(worker, now);
  const double rest = static_cast<double>(remaining);
  const double backlog = backlog_seconds(mine, s, now);

  const double all = static_cast<double>(units_);
  double size = std::clamp(rest * factor, all * least_part_of_loop, all * greatest_part_of_loop);
  size *= s / all_speed_;
  size = std::min(size, s * time_limit_ * part_of_time_limit);
  // No chunk should extend beyond the time at which all would finish together.
  size = std::min(size, s * ((rest + all_backlog_) / all_speed_ - backlog));
  size = std::clamp(std::floor(size), 1.0, rest);

  // If others would have finished this chunk, and all the rest, earlier: leave it to them.
  const double end = backlog + size / s;
  const auto is_earlier = [&](std::size_t i) {
    if (i == worker || !workers_[i].alive) return false;
    const double other = speed(i, now);
    return backlog_seconds(workers_[i], other, now) + size / other < end;
  };
  const bool rest_is_later =
      all_speed_ > s && (rest + all_backlog_ - backlog * s) / (all_speed_ - s) >= end;
  if (rest_is_later) return static_cast<std::int64_t>(size);
  for (std::size_t n = 0; n < workers_.size(); ++n) {
    const std::size_t i = (earlier_ + n) % workers_.size();  // probably as in the last call
    if (!is_earlier(i)) continue;
    earlier_ = i;
    return 0;
  }
  return static_cast<std::int64_t>(size);
}

}  // namespace tutti::multi
