// SPDX-License-Identifier: Apache-2.0
#include "collective_simulator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "graph/node.hpp"
#include "mpi/rounds.hpp"
#include "multi/job/job_state.hpp"
#include "tutti/ops.hpp"

namespace tutti_test {
namespace {

using tutti::array;
namespace mpi = tutti::mpi;

constexpr double most_reduced = 4 << 20;  // of a message, as in job.cpp

// Messages of which those of one round depend on earlier rounds only.
class rounds {
 public:
  rounds(std::vector<step>& steps, std::vector<int>& last) : steps_(steps), last_(last) {}
  void begin() { before_ = last_; }
  void send(int from, int to, double bytes, bool adds) {
    const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    steps_.push_back({from, to, bytes, adds, {before_[f], before_[t]}});
    last_[t] = static_cast<int>(steps_.size()) - 1;
  }

 private:
  std::vector<step>& steps_;
  std::vector<int>& last_;
  std::vector<int> before_;
};

// job_state::agree: an all-gather of records by the algorithm of J. Bruck et al.
void add_agreement(std::vector<step>& steps, std::vector<int>& last) {
  const int p = static_cast<int>(last.size());
  rounds r(steps, last);
  for (int have = 1; have < p; have *= 2) {
    r.begin();
    for (int i = 0; i < p; ++i)
      r.send((i + have) % p, i, std::min(have, p - have) * sizeof(tutti::multi::call_record),
             false);
  }
}

class graph_reader {
 public:
  graph_reader(const tutti::device_group& group, const std::vector<array>& values) : group_(group) {
    for (const array& v : values)
      found_[&*v.node()] = {-1, {0, static_cast<std::int64_t>(v.size())}};
  }
  recorded read(const std::vector<array>& results) {
    for (const array& a : results) out_.results.push_back(visit(*a.node()).step);
    return std::move(out_);
  }

 private:
  struct place {
    int step;  // that makes it, or -1
    tutti::index_range range;
  };
  static constexpr place nothing{-1, {0, 0}};

  int member(const tutti::graph::node& n) const {
    for (std::size_t i = 0; i < group_.size(); ++i)
      if (&tutti::detail::get(group_[i]) == n.device) return static_cast<int>(i);
    throw std::logic_error("a node on no member");
  }

  place add(const tutti::graph::node& n, int from, bool adds, place first, place second,
            tutti::index_range range) {
    const auto bytes =
        static_cast<double>(second.range.size()) * static_cast<double>(tutti::size_of(n.type));
    out_.steps.push_back({from, member(n), bytes, adds, {first.step, second.step}});
    out_.ranges.push_back(range);
    return {static_cast<int>(out_.steps.size()) - 1, range};
  }

  place visit(const tutti::graph::node& n) {
    if (const auto at = found_.find(&n); at != found_.end()) return at->second;
    return found_[&n] = make(n);
  }

  place make(const tutti::graph::node& n) {
    using tutti::graph::kind;
    if (n.is_view()) {
      const place base = visit(*n.view().base);
      const std::int64_t first = base.range.begin + n.view().where.offset;
      return {base.step, {first, first + n.elements}};
    }
    std::vector<place> inputs;
    for (const auto& i : n.inputs) inputs.push_back(visit(*i));
    if (n.kind == kind::transfer)
      return add(n, member(*n.inputs[0]), false, nothing, inputs[0], inputs[0].range);
    if (n.kind == kind::elementwise && inputs.size() == 2)
      return add(n, member(n), true, inputs[0], inputs[1], inputs[0].range);
    if (n.kind != kind::concatenate) throw std::logic_error("a node of another kind");
    place joined = nothing;
    for (const place& p : inputs)
      joined = add(n, member(n), false, joined, p, {inputs[0].range.begin, p.range.end});
    return joined;
  }

  const tutti::device_group& group_;
  std::unordered_map<const tutti::graph::node*, place> found_;
  recorded out_;
};

enum class part { reduce, broadcast };

// The steps of one part of a sum of bytes within a rank, as Tutti records it.
const recorded& within_rank(int devices, double bytes, part which) {
  static std::map<std::tuple<int, double, part>, recorded> known;
  const auto [at, is_new] = known.try_emplace({devices, bytes, which});
  if (!is_new) return at->second;
  if (devices == 1) return at->second = {{}, {}, {-1}};
  const std::vector<tutti::device>& all = tutti::devices();
  const tutti::device_group group(std::vector<tutti::device>(all.begin(), all.begin() + devices));
  std::vector<array> values;
  for (const tutti::device& d : group)
    values.push_back(tutti::arange(0, std::ceil(bytes / 4), 1, tutti::dtype::f32, d));
  if (which == part::broadcast) values.resize(1);
  namespace collective = tutti::collective;
  const std::vector<array> results = which == part::broadcast
                                         ? collective::broadcast(group, values[0])
                                         : std::vector{collective::reduce(group, values, group[0])};
  return at->second = read_graph(group, results, values);
}

// Appends steps; those that need no other begin after the step `start`. Returns the first result's.
int append(std::vector<step>& to, const recorded& r, int start, double not_before) {
  const int offset = static_cast<int>(to.size());
  for (step s : r.steps) {
    for (int& a : s.after) a = a < 0 ? -1 : a + offset;
    if (s.after[0] < 0 && s.after[1] < 0) s.after[0] = start;
    s.not_before = not_before;
    to.push_back(s);
  }
  return r.results[0] < 0 ? start : r.results[0] + offset;
}

// The steps that wait for each step.
class dependents {
 public:
  explicit dependents(const std::vector<step>& steps) : first_(steps.size() + 1, 0) {
    for (const step& s : steps)
      for (const int a : s.after)
        if (a >= 0) ++first_[static_cast<std::size_t>(a) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    next_.resize(first_.back());
    std::vector<std::size_t> end = first_;
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const int a : steps[i].after)
        if (a >= 0) next_[end[static_cast<std::size_t>(a)]++] = i;
  }
  std::span<const std::size_t> of(std::size_t step) const {
    return std::span(next_).subspan(first_[step], first_[step + 1] - first_[step]);
  }

 private:
  std::vector<std::size_t> first_, next_;
};

std::vector<endpoint> ranks_of(const cluster& c) {
  std::vector<endpoint> out(static_cast<std::size_t>(c.ranks), c.rank);
  out.back().seconds_per_byte *= c.slow_link;
  return out;
}

double latest(const std::vector<double>& times) {
  return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
}

// A part of a bucket that passes all steps on its own.
struct piece {
  double bytes, ready;
};

struct times_of_rank {
  std::vector<double> on_host;  ///< of each piece, reduced within the rank
  double end = 0;               ///< of the last step
};

// Within a rank, to which the pieces come back from the others at `come`, if that is known.
times_of_rank within(const cluster& c, const std::vector<piece>& pieces, double slower,
                     const std::vector<double>& come) {
  std::vector<step> steps;
  std::vector<int> copies;
  for (const piece& p : pieces) {
    const double from = p.ready * slower;
    const int sum = append(steps, within_rank(c.devices, p.bytes, part::reduce), -1, from);
    steps.push_back({0, c.devices, p.bytes, false, {sum, -1}, from});
    copies.push_back(static_cast<int>(steps.size()) - 1);
  }
  for (std::size_t i = 0; i < come.size(); ++i) {
    steps.push_back({c.devices, 0, pieces[i].bytes, false, {-1, -1}, come[i]});
    append(steps, within_rank(c.devices, pieces[i].bytes, part::broadcast),
           static_cast<int>(steps.size()) - 1, come[i]);
  }
  const std::vector<double> ends =
      simulate(steps, std::vector<endpoint>(static_cast<std::size_t>(c.devices) + 1, c.device));
  times_of_rank out{{}, latest(ends)};
  for (const int s : copies) out.on_host.push_back(ends[static_cast<std::size_t>(s)]);
  return out;
}

}  // namespace

std::vector<double> simulate(const std::vector<step>& steps, const std::vector<endpoint>& all) {
  const std::size_t n = steps.size();
  const dependents later(steps);
  std::vector<int> missing(n, 0);
  // What a step waits for next: its sender, its receiver, or what adds there.
  enum phase { sends, receives, adds };
  using event = std::tuple<double, std::size_t, phase>;
  std::priority_queue<event, std::vector<event>, std::greater<>> waiting;
  const auto wait = [&](double from, std::size_t i) {
    waiting.emplace(from, i, steps[i].from == steps[i].to ? adds : sends);
  };
  std::vector<double> ready(n), ends(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    ready[i] = steps[i].not_before;
    for (const int a : steps[i].after) missing[i] += a >= 0;
    if (missing[i] == 0) wait(ready[i], i);
  }
  std::vector<double> free[3];  // from then, by phase and endpoint
  for (std::vector<double>& f : free) f.resize(all.size());
  while (!waiting.empty()) {
    const auto [now, i, at] = waiting.top();
    waiting.pop();
    const step& s = steps[i];
    const auto from = static_cast<std::size_t>(s.from), to = static_cast<std::size_t>(s.to);
    double& until = free[at][at == sends ? from : to];
    const double begin = std::max(now, until);
    until = begin +
            s.bytes * (at == adds ? all[to].add_seconds_per_byte
                                  : std::max(all[from].seconds_per_byte, all[to].seconds_per_byte));
    double end = until;
    if (at == sends) {  // its first byte comes while others are sent
      waiting.emplace(begin, i, receives);
      continue;
    }
    if (at == receives) end += std::max(all[from].latency, all[to].latency);
    if (at == receives && s.adds) {
      waiting.emplace(end, i, adds);
      continue;
    }
    ends[i] = end;
    for (const std::size_t j : later.of(i)) {
      ready[j] = std::max(ready[j], end);
      if (--missing[j] == 0) wait(ready[j], j);
    }
  }
  if (std::find(ends.begin(), ends.end(), -1) != ends.end())
    throw std::logic_error("steps wait for each other");
  return ends;
}

recorded read_graph(const tutti::device_group& group, const std::vector<array>& results,
                    const std::vector<array>& values) {
  return graph_reader(group, values).read(results);
}

void add_all_reduce(std::vector<step>& steps, const std::vector<int>& start, double bytes,
                    int ranks) {
  const int simulated = static_cast<int>(start.size());
  const mpi::schedule how = mpi::schedule_of(ranks, static_cast<std::int64_t>(bytes));
  const bool gathers = how == mpi::schedule::gather;
  const int segments = mpi::segments_of(ranks, static_cast<std::int64_t>(bytes));
  const double block = bytes / segments / (gathers ? 1 : ranks);
  for (int s = 0; s < segments; ++s) {
    std::vector<int> last = start;
    rounds r(steps, last);
    for (int k = 0; k < mpi::rounds_of(how, ranks); ++k) {
      r.begin();
      for (int i = 0; i < simulated; ++i) {
        const mpi::messages now = mpi::round_of(how, k, i, ranks);
        if (now.to < 0) continue;
        const bool adds = mpi::round_of(how, k, now.to, ranks).adds;
        r.send(i, simulated < ranks ? (i + 1) % simulated : now.to, now.sent.count * block, adds);
      }
    }
    r.begin();
    for (int i = 0; gathers && i < simulated; ++i) r.send(i, i, (ranks - 1) * bytes, true);
  }
}

cluster_sum sum_over(const cluster& c, const std::vector<double>& buckets,
                     const std::vector<double>& ready) {
  cluster_sum out;
  std::vector<endpoint> all = ranks_of(c);
  std::vector<int> last(all.size(), -1);
  std::vector<step> steps;
  add_agreement(steps, last);
  const double agreement = latest(simulate(steps, all));  // before any work begins

  std::vector<piece> pieces;
  const auto is_circulant = [&](const piece& p) {
    return mpi::schedule_of(c.ranks, static_cast<std::int64_t>(p.bytes)) ==
           mpi::schedule::circulant;
  };
  for (std::size_t b = 0; b < buckets.size(); ++b)
    for (double cut = 0; cut < buckets[b]; cut += most_reduced)
      pieces.push_back({std::min(most_reduced, buckets[b] - cut), ready[b]});
  if (c.slow_link == 1 && c.slow_rank == 1 && std::ranges::all_of(pieces, is_circulant)) {
    all.resize(2);  // all ranks do the same at the same time
    last.resize(2);
  }

  // Pieces on their way back delay others within the rank, and those the messages.
  std::vector<double> come;
  for (double before = -1; out.seconds > before * 1.001;) {
    const times_of_rank usual = within(c, pieces, 1, come);
    const times_of_rank slow = c.slow_rank == 1 ? usual : within(c, pieces, c.slow_rank, come);
    before = out.seconds;
    out.seconds = agreement + std::max(usual.end, slow.end);
    steps.clear();
    std::vector<std::size_t> ends;  // of each piece's steps
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::size_t r = 0; r < all.size(); ++r) {
        const double at = r + 1 == all.size() ? slow.on_host[i] : usual.on_host[i];
        last[r] = static_cast<int>(steps.size());
        steps.push_back({static_cast<int>(r), static_cast<int>(r), 0, false, {-1, -1}, at});
      }
      add_all_reduce(steps, last, pieces[i].bytes, c.ranks);
      ends.push_back(steps.size());
    }
    const std::vector<double> times = simulate(steps, all);
    out.between_ranks = latest(times);
    come.clear();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto at = [&](std::size_t s) { return times.begin() + static_cast<std::ptrdiff_t>(s); };
      come.push_back(*std::max_element(at(i == 0 ? 0 : ends[i - 1]), at(ends[i])));
    }
  }
  return out;
}

double least_sum_time(const cluster& c, double bytes) {
  const auto least = [bytes](const endpoint& e, int count) {
    return std::max(std::ceil(std::log2(count)) * e.latency,
                    2 * (count - 1.0) / count * bytes * e.seconds_per_byte);
  };
  return std::max(least(c.rank, c.ranks), least(c.device, c.devices));
}

}  // namespace tutti_test
