// SPDX-License-Identifier: Apache-2.0
//
// The standard library's algorithms on one thread, and Boost.Compute's sort.
#include "peer_sort.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#ifdef TUTTI_BENCH_BOOST_COMPUTE
#define CL_TARGET_OPENCL_VERSION 120
#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/container/vector.hpp>
#include <boost/compute/system.hpp>
#endif

namespace tutti::bench::peer {

void inclusive_scan(const std::vector<std::int32_t>& a, std::vector<std::int32_t>& out) {
  out.resize(a.size());
  std::inclusive_scan(a.begin(), a.end(), out.begin());
}

void recurrence(const std::vector<float>& a, const std::vector<float>& x, std::size_t edge,
                bool along_columns, std::vector<float>& out) {
  out.resize(x.size());
  for (std::size_t row = 0; row < edge; ++row)
    for (std::size_t i = row * edge; i < (row + 1) * edge; ++i) {
      const bool first = along_columns ? row == 0 : i == row * edge;
      out[i] = first ? x[i] : a[i] * out[along_columns ? i - edge : i - 1] + x[i];
    }
}

void sort(const std::vector<std::uint32_t>& a, std::vector<std::uint32_t>& out) {
  out = a;
  std::sort(out.begin(), out.end());
}

void argsort(const std::vector<std::uint32_t>& a, std::vector<std::int64_t>& out) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) pairs[i] = {a[i], static_cast<std::uint32_t>(i)};
  std::sort(pairs.begin(), pairs.end());
  out.resize(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = pairs[i].second;
}

void largest(const std::vector<float>& a, std::size_t k, std::vector<float>& out) {
  out.resize(k);
  std::partial_sort_copy(a.begin(), a.end(), out.begin(), out.end(), std::greater<>());
}

void unique(const std::vector<std::int32_t>& a, std::vector<std::int32_t>& out) {
  out = a;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void histogram(const std::vector<float>& a, std::size_t bins, std::vector<std::int64_t>& counts) {
  counts.assign(bins, 0);
  const float width = 2 / static_cast<float>(bins), scale = static_cast<float>(bins) / 2;
  const auto edge = [&](std::size_t i) { return static_cast<float>(i) * width - 1; };
  for (const float value : a) {
    // Rounding of 1 + value may move a value across an edge.
    std::size_t bin = std::min(static_cast<std::size_t>((value + 1) * scale), bins - 1);
    if (value < edge(bin)) --bin;
    if (bin + 1 < bins && value >= edge(bin + 1)) ++bin;
    ++counts[bin];
  }
}

bool boost_compute_sort([[maybe_unused]] const std::vector<std::uint32_t>& a,
                        [[maybe_unused]] std::vector<std::uint32_t>& out) {
#ifdef TUTTI_BENCH_BOOST_COMPUTE
  namespace compute = boost::compute;
  compute::command_queue& queue = compute::system::default_queue();
  static compute::vector<std::uint32_t> memory(a.size(), queue.get_context());
  compute::copy(a.begin(), a.end(), memory.begin(), queue);
  compute::sort(memory.begin(), memory.end(), queue);
  queue.finish();
  out.resize(a.size());
  return true;
#else
  return false;
#endif
}

}  // namespace tutti::bench::peer
