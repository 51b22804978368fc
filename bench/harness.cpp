// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark selects and repeats the cases; this file times single rounds and compares them.
#include "harness.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

#include "peer_python.hpp"
#include "peers.hpp"
#include "timing.hpp"
#include "tutti/device.hpp"

namespace tutti::bench {
namespace {

constexpr double least_sample_seconds = 0.02;
// Workers of OpenBLAS 0.3 spin for 2^28 clocks after their work; the next run needs idle cores.
constexpr std::chrono::milliseconds pause(150);

/// One side of a comparison: calls it often enough for the clock, and keeps the values.
class contestant {
 public:
  contestant(const bench_case& spec, std::function<void()> work, std::function<double()> direct)
      : spec_(spec), work_(std::move(work)), direct_(std::move(direct)) {}

  bool present() const { return work_ || direct_; }

  void prepare() {
    if (!work_) {
      if (direct_) direct_();
      return;
    }
    work_();
    const double once = seconds(work_);
    repeats_ = std::max(1, static_cast<int>(least_sample_seconds / std::max(once, 1e-9)));
    repeats_ = std::min(repeats_, 100000);
  }

  double sample() {
    std::this_thread::sleep_for(pause);
    if (direct_) return keep(direct_());
    work_();
    const double once = seconds(work_, repeats_);
    keep(to_value(once));
    return once * repeats_;
  }

  const std::vector<double>& values() const { return values_; }

 private:
  double keep(double value) {
    values_.push_back(value);
    return value;
  }
  double to_value(double once) const {
    if (spec_.kind == metric::rate) return spec_.amount / once * 1e-9;
    return once / spec_.amount * (spec_.unit == "ms" ? 1e3 : 1e6);
  }

  const bench_case& spec_;
  std::function<void()> work_;
  std::function<double()> direct_;
  int repeats_ = 1;
  std::vector<double> values_;
};

floor_meter& meter() {
  static floor_meter instance;
  return instance;
}

bool lacks_peer(const bench_case& spec) { return spec.of_openblas && !peer::has_openblas(); }

std::string goal_of(const bench_case& c) {
  if (lacks_peer(c)) return "";
  if (c.at_least_of_peer > 0) return fmt::format(">= {:.2f} of {}", c.at_least_of_peer, c.peer);
  if (c.at_least_of_floor > 0)
    return fmt::format(">= {:.2f} of {}", c.at_least_of_floor, name(c.bound));
  if (c.at_most > 0) return fmt::format("<= {:g} {}", c.at_most, c.unit);
  if (c.at_most_over_peer > 0)
    return fmt::format("<= {:g} {} over the peer", c.at_most_over_peer, c.unit);
  return "";
}

bool meets_goal(const bench_case& c, const row& r) {
  return lacks_peer(c) ||
         (r.peer_ratio >= c.at_least_of_peer && r.floor_ratio >= c.at_least_of_floor &&
          (c.at_most == 0 || r.value <= c.at_most) &&
          (c.at_most_over_peer == 0 || r.value - r.peer_value <= c.at_most_over_peer));
}

void fill_in(row& result, const bench_case& spec, const contestant& ours, const contestant& peer,
             const std::vector<double>& floors) {
  const auto [low, high] = std::minmax_element(ours.values().begin(), ours.values().end());
  result.low = *low;
  result.high = *high;
  result.value = median(ours.values());
  result.runs = static_cast<int>(ours.values().size());
  result.peer_value = median(peer.values());
  result.floor_value = median(floors);
  const bool more_is_better = spec.kind == metric::rate;
  if (result.peer_value > 0) {
    result.peer_ratio =
        more_is_better ? result.value / result.peer_value : result.peer_value / result.value;
  }
  if (result.floor_value > 0) result.floor_ratio = result.value / result.floor_value;
  result.met = meets_goal(spec, result);
}

/// A value of the work in Python, which measures milliseconds.
std::function<double()> python_value(const bench_case& spec) {
  const auto milliseconds = spec.python.empty() ? nullptr : python_peer(spec.python);
  if (!milliseconds || spec.kind != metric::rate) return milliseconds;
  return [milliseconds, amount = spec.amount] { return amount / milliseconds() * 1e-6; };
}

void run_case(const bench_case& spec, benchmark::State& state, row& result) {
  workload work = spec.make();
  if (const auto value = python_value(spec)) work.peer_value = value;
  if (lacks_peer(spec)) work.peer = nullptr, work.check = nullptr;
  if (spec.bound != floor_kind::none) meter().measure(spec.bound, spec.bound_elements);
  contestant ours(spec, work.ours, work.ours_value);
  contestant peer(spec, work.peer, work.peer_value);
  ours.prepare();
  peer.prepare();
  if (work.check) result.error = work.check();
  std::vector<double> floors;
  bool peer_first = false;
  for ([[maybe_unused]] auto round : state) {
    if (peer_first && peer.present()) peer.sample();
    state.SetIterationTime(ours.sample());
    if (!peer_first && peer.present()) peer.sample();
    peer_first = !peer_first;
    if (spec.bound != floor_kind::none) {
      std::this_thread::sleep_for(pause);
      floors.push_back(meter().measure(spec.bound, spec.bound_elements));
    }
  }
  fill_in(result, spec, ours, peer, floors);
}

/// report.hpp prints the table.
class silent_reporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

std::size_t run_cases(const std::vector<bench_case>& cases, const std::string& filter, int runs,
                      const std::function<void(const row&)>& done) {
  for (const bench_case& spec : cases) {
    if (spec.on_request && filter.empty()) continue;
    benchmark::RegisterBenchmark(spec.name.c_str(),
                                 [&spec, &done](benchmark::State& state) {
                                   row result;
                                   result.name = spec.name;
                                   result.device = default_device().name();
                                   result.unit = spec.unit;
                                   result.peer =
                                       lacks_peer(spec) ? "OpenBLAS is not here" : spec.peer;
                                   result.floor = name(spec.bound);
                                   result.goal = goal_of(spec);
                                   try {
                                     run_case(spec, state, result);
                                   } catch (const std::exception& error) {
                                     result.error = error.what();
                                     state.SkipWithError(error.what());
                                   }
                                   if (!result.error.empty()) result.met = false;
                                   done(result);
                                 })
        ->UseManualTime()
        ->Iterations(runs);
  }
  silent_reporter reporter;
  return benchmark::RunSpecifiedBenchmarks(&reporter, filter.empty() ? "." : filter);
}

}  // namespace tutti::bench
