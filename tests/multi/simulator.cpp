// SPDX-License-Identifier: Apache-2.0
#include "simulator.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>

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
        ask_again_(soon_) {}

  simulation run() {
    fill();
    while (!loop_.complete()) {
      if (everybody_out()) {
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

  bool everybody_out() const {
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (!loop_.is_out(i)) return false;
    return true;
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
  }

  void fill() {
    // A random order, since threads come as they please.
    std::vector<std::size_t> order(states_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t i : order) fill(i);
  }

  void fill(std::size_t i) {
    state& s = states_[i];
    while (s.held.size() < static_cast<std::size_t>(options_.depth)) {
      const auto chunk = loop_.next(i, now_);
      if (!chunk) break;
      s.held.push_back(*chunk);
      if (s.held.size() == s.computed + 1) begin_oldest(i);
    }
  }

  void advance() {
    double next = results_.empty() ? never : taken_at_;
    bool idle = false;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (loop_.is_out(i)) continue;
      next = std::min(next, std::min(states_[i].ends, fails_at(i)));
      idle = idle || states_[i].held.empty();
    }
    if (const auto deadline = loop_.deadline()) next = std::min(next, *deadline);
    if (next == never) throw std::logic_error("the simulated loop stands still");
    if (idle && now_ + ask_again_ < next) {
      now_ += ask_again_;
      ask_again_ *= 1.5;  // or hung devices with long time limits would take for ever
      return fill();
    }
    now_ = next;
    ask_again_ = soon_;
    loop_.expire(now_);
    if (!results_.empty() && taken_at_ <= now_) take_result();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (loop_.is_out(i)) continue;
      state& s = states_[i];
      if (fails_at(i) <= now_) {
        loop_.fail(i, "failed as told", now_);
      } else if (s.ends <= now_) {
        ++s.computed;
        results_.push_back(i);
        if (results_.size() == 1) taken_at_ = now_ + result_seconds_;
        begin_oldest(i);
        if (result_seconds_ == 0) take_result();
      }
    }
    fill();
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
  }

  // A failure shows while there is work.
  double fails_at(std::size_t i) const {
    return states_[i].held.empty() ? never : std::max(devices_[i].fails_at, now_);
  }

  const std::vector<simulated_device>& devices_;
  const tutti::loop_options& options_;
  double result_seconds_;
  std::mt19937_64 random_;
  tutti::multi::loop_state loop_;
  std::vector<state> states_;
  simulation result_;
  std::deque<std::size_t> results_;  // devices whose results wait
  double taken_at_ = never;          // the first of them
  double now_ = 0;
  double soon_, ask_again_;
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
