// SPDX-License-Identifier: Apache-2.0
//
// The time of work, and the median of several.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace tutti::bench {

/// Of one of `repeats` calls.
template <class Work>
double seconds(const Work& work, int repeats = 1) {
  using steady = std::chrono::steady_clock;
  const auto start = steady::now();
  for (int i = 0; i < repeats; ++i) work();
  return std::chrono::duration<double>(steady::now() - start).count() / repeats;
}

/// 0 of no values.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tutti::bench
