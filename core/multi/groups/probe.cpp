// SPDX-License-Identifier: Apache-2.0
//
// Throughput of the members of a group: a short measurement of their arithmetic, kept for the
// process and stored on disk, and the weights derived from it.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/disk_cache.hpp"
#include "base/fail.hpp"
#include "multi/groups/group_ranks.hpp"
#include "plugin/opened_device.hpp"
#include "tutti/multi.hpp"

namespace tutti {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::int64_t smallest = 128, largest = 4096;  // edges of the square matrices
constexpr double long_enough = 4e-3;   // seconds of one product: not just its launch
constexpr double whole_probe = 50e-3;  // seconds
constexpr int fewest_runs = 3;

double seconds_of_product(const array& a) {
  const auto start = steady::now();
  matmul(a, a).wait();
  return std::chrono::duration<double>(steady::now() - start).count();
}

// The best of several products, of the smallest size that takes long enough.
double measure(const device& on) {
  for (std::int64_t edge = smallest;; edge *= 2) {
    const array numbers = (arange(edge * edge, dtype::i32, on) % 17 - 8).astype(dtype::f32);
    const array a = numbers.reshape({edge, edge});
    a.wait();
    seconds_of_product(a);  // compiles
    double best = seconds_of_product(a);
    if (best < long_enough && edge < largest) continue;
    double total = best;
    for (int run = 1; run < fewest_runs || total < whole_probe; ++run) {
      const double once = seconds_of_product(a);
      total += once;
      best = std::min(best, once);
    }
    const double n = static_cast<double>(edge);
    return 2 * n * n * n / best;
  }
}

// The values of all devices of the group, from those of its members.
std::vector<std::int64_t> of_all_ranks(const device_group& group, std::vector<std::int64_t> own) {
  if (!group.ranks()) return own;
  return group.ranks()->all_gather(array::from(own, group[0])).to_vector<std::int64_t>();
}

std::vector<double> normalised(const std::vector<std::int64_t>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> out;
  for (const std::int64_t w : weights) out.push_back(static_cast<double>(w) / total);
  return out;
}

// Everything that a measurement, and the rounding of results, depend on: devices of the same kind
// have the same. What a description says about which part of a device it is tells equal ones apart.
std::string kind_of(const device& on) {
  const device_properties& p = on.properties();
  const plugins::plugin& plugin = *detail::get(on).plugin;
  const std::string model = p.description.substr(0, p.description.rfind(", part "));
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", plugin.name, plugin.build_id, p.vendor,
                     model, p.driver, p.schedule, p.compute_units, p.memory_bytes);
}

}  // namespace

double throughput(const device& on) {
  static std::mutex mutex;  // also: one measurement at a time, so that none slows another down
  static auto* const known = new std::map<std::string, double>;
  const std::string key = "throughput of f32 products\n" + kind_of(on);
  const std::lock_guard lock(mutex);
  if (const auto found = known->find(key); found != known->end()) return found->second;
  double value = 0;
  const std::optional<std::string> kept = base::program_cache().load(key);
  if (kept) std::from_chars(kept->data(), kept->data() + kept->size(), value);
  if (!(value > 0)) base::program_cache().store(key, fmt::format("{}", value = measure(on)));
  return known->emplace(key, value).first->second;
}

std::vector<double> weights_by_throughput(const device_group& group) {
  if (group.total() == 1) return {1};
  std::vector<std::int64_t> own;
  for (const device& member : group) own.push_back(std::llround(throughput(member)));
  return normalised(of_all_ranks(group, std::move(own)));
}

bool compute_alike(const device_group& group) {
  const std::string first = kind_of(group[0]);
  const bool alike =
      std::all_of(group.begin(), group.end(), [&](const device& d) { return kind_of(d) == first; });
  // -1 is the kind of a rank whose own devices differ.
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(first) >> 1u);
  const std::vector<std::int64_t> kinds = of_all_ranks(group, {alike ? hash : -1});
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](std::int64_t k) { return k >= 0 && k == kinds[0]; });
}

std::vector<double> weights_by_memory(const device_group& group) {
  std::vector<std::int64_t> own;
  for (const device& member : group)
    own.push_back(static_cast<std::int64_t>(member.properties().memory_bytes));
  const std::vector<std::int64_t> all = of_all_ranks(group, std::move(own));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == 0)
      base::fail<value_error>("weights_by_memory: {} does not tell its memory",
                              (group.ranks() ? group.all_ranks().names[i] : group[i].name()));
  return normalised(all);
}

}  // namespace tutti
