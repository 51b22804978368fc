// SPDX-License-Identifier: Apache-2.0
#include "simulator.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace tutti_test {
namespace {

using tutti::index_range;
constexpr double never = std::numeric_limits<double>::infinity();

class simulator {
 public:
  simulator(const index_range& range, const std::vector<simulated_device>& devices,
            const tutti::loop_options& options, std::uint64_t seed, double result_seconds)
      : devices_(devices),
        options_(options),
        result_seconds_(result_seconds),
        random_(seed),
        loop_(range, names(devices.size()), options),
        states_(devices.size()),
        soon_(least_time(devices, static_cast<double>(range.size())) / 500),
        ask_again_(soon_),
        idle_(devices.size()) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      asks_.push_back(i);
      if (devices[i].fails_at < never) failing_.push_back(i);
    }
  }

  simulation run() {
    fill();
    while (!loop_.complete()) {
      if (out_ == states_.size()) {
        result_.every_device_failed = true;
        break;
      }
      advance();
    }
    // A hung device that answers late changes nothing.
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (loop_.is_out(i) && loop_.finish(i, 8, now_)) throw std::logic_error("a late result");
    result_.report = loop_.report();
    return result_;
  }

 private:
  struct state {
    std::deque<index_range> held;
    std::size_t computed = 0;  // the first of them, whose results have not been taken
    double ends = never;       // of the first that is not computed
    bool first = true;
  };

  static std::vector<std::string> names(std::size_t n) {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < n; ++i) made.push_back("sim:" + std::to_string(i));
    return made;
  }

  double duration(std::size_t i, const index_range& r) {
    const simulated_device& d = devices_[i];
    std::uniform_real_distribution<double> around(1 - d.noise, 1 + d.noise);
    const double warm_up = states_[i].first ? d.warm_up : 0;
    states_[i].first = false;
    const double speed = now_ < d.changes_at ? d.speed : d.speed_then;
    return warm_up + d.latency + static_cast<double>(r.size()) / speed * around(random_);
  }

  void begin_oldest(std::size_t i) {
    state& s = states_[i];
    s.ends = s.held.size() == s.computed ? never : now_ + duration(i, s.held[s.computed]);
    if (s.ends > devices_[i].hangs_at) s.ends += devices_[i].answers_after;
    if (s.ends < never) ends_.emplace(s.ends, i);
  }

  bool has_room(std::size_t i) const {
    return !loop_.is_out(i) && states_[i].held.size() < static_cast<std::size_t>(options_.depth);
  }

  void fill() {
    // A random order, since threads come as they please; of many only the first one is random.
    if (asks_.size() <= 64) {
      std::shuffle(asks_.begin(), asks_.end(), random_);
    } else {
      std::uniform_int_distribution<std::ptrdiff_t> first(0, std::ssize(asks_) - 1);
      std::rotate(asks_.begin(), asks_.begin() + first(random_), asks_.end());
    }
    for (const std::size_t i : asks_) fill(i);
    std::erase_if(asks_, [this](std::size_t i) { return !has_room(i); });
  }

  void fill(std::size_t i) {
    state& s = states_[i];
    while (has_room(i)) {
      const auto chunk = loop_.next(i, now_);
      if (!chunk) break;
      if (s.held.empty()) --idle_;
      s.held.push_back(*chunk);
      if (s.held.size() == s.computed + 1) begin_oldest(i);
    }
  }

  void advance() {
    double next = results_.empty() ? never : taken_at_;
    if (!ends_.empty()) next = std::min(next, ends_.begin()->first);
    for (const std::size_t i : failing_) next = std::min(next, fails_at(i));
    if (const auto deadline = loop_.deadline()) next = std::min(next, *deadline);
    if (next == never) throw std::logic_error("the simulated loop stands still");
    if (idle_ > 0 && now_ + ask_again_ < next) {
      now_ += ask_again_;
      ask_again_ *= 1.5;  // or hung devices with long time limits would take for ever
      return fill();
    }
    now_ = next;
    ask_again_ = soon_;
    for (const std::size_t i : loop_.expire(now_)) leave(i);
    if (!results_.empty() && taken_at_ <= now_) take_result();
    std::erase_if(failing_, [this](std::size_t i) {
      if (fails_at(i) > now_) return false;
      loop_.fail(i, "failed as told", now_);
      leave(i);
      return true;
    });
    while (!ends_.empty() && ends_.begin()->first <= now_) {
      const std::size_t i = ends_.begin()->second;
      ends_.erase(ends_.begin());
      ++states_[i].computed;
      results_.push_back(i);
      if (results_.size() == 1) taken_at_ = now_ + result_seconds_;
      begin_oldest(i);
      if (result_seconds_ == 0) take_result();
    }
    fill();
  }

  // The device is out.
  void leave(std::size_t i) {
    ++out_;
    if (states_[i].held.empty()) --idle_;
    ends_.erase({states_[i].ends, i});
  }

  void take_result() {
    const std::size_t i = results_.front();
    results_.pop_front();
    taken_at_ = now_ + result_seconds_;
    if (loop_.is_out(i)) return;
    state& s = states_[i];
    const auto done = loop_.finish(i, 8 * static_cast<std::uint64_t>(s.held[0].size()), now_);
    if (!done || !(done->range == s.held[0])) throw std::logic_error("states differ");
    result_.stored.push_back(done->range);
    s.held.pop_front();
    --s.computed;
    if (s.held.empty()) ++idle_;
    if (s.held.size() + 1 < static_cast<std::size_t>(options_.depth))
      return;  // it was no more full
    asks_.push_back(i);
  }

  // A failure shows while there is work.
  double fails_at(std::size_t i) const {
    return loop_.is_out(i) || states_[i].held.empty() ? never
                                                      : std::max(devices_[i].fails_at, now_);
  }

  const std::vector<simulated_device>& devices_;
  const tutti::loop_options& options_;
  double result_seconds_;
  std::mt19937_64 random_;
  tutti::multi::loop_state loop_;
  std::vector<state> states_;
  std::vector<std::size_t> asks_;                  // all that have room for a chunk
  std::vector<std::size_t> failing_;               // that will fail
  std::set<std::pair<double, std::size_t>> ends_;  // of what is being computed, and the device
  std::size_t out_ = 0;
  simulation result_;
  std::deque<std::size_t> results_;  // devices whose results wait
  double taken_at_ = never;          // the first of them
  double now_ = 0;
  double soon_, ask_again_;
  std::size_t idle_;  // devices without a chunk
};

}  // namespace

simulation simulate(const index_range& range, const std::vector<simulated_device>& devices,
                    const tutti::loop_options& options, std::uint64_t seed, double result_seconds) {
  return simulator(range, devices, options, seed, result_seconds).run();
}

bool covers_once(std::vector<index_range> stored, const index_range& range) {
  std::sort(stored.begin(), stored.end(),
            [](const index_range& a, const index_range& b) { return a.begin < b.begin; });
  std::int64_t at = range.begin;
  for (const index_range& r : stored) {
    if (r.begin != at || r.size() <= 0) return false;
    at = r.end;
  }
  return at == range.end;
}

double least_time(const std::vector<simulated_device>& devices, double items) {
  // By bisection of the work done until t, so that it shares nothing with the library's own.
  const auto work = [&](double t) {
    double sum = 0;
    for (const simulated_device& d : devices) {
      const double until = std::min({t, d.fails_at, d.hangs_at});
      sum += d.speed * std::min(until, d.changes_at);
      if (until > d.changes_at) sum += d.speed_then * (until - d.changes_at);
    }
    return sum;
  };
  double low = 0;
  double high = 1;
  while (work(high) < items && high < 1e300) high *= 2;
  for (int i = 0; i < 200; ++i) (work((low + high) / 2) < items ? low : high) = (low + high) / 2;
  return high;
}

}  // namespace tutti_test
