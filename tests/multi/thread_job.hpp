// SPDX-License-Identifier: Apache-2.0
//
// A communication table for ranks that are threads of one process: what jobs are tested by without
// MPI. Who comes last to a collective does it for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tutti/communication.h"
#include "tutti/job.hpp"
#include "tutti/multi.hpp"

namespace tutti_test {

/// body(job) in `size` threads at once, each of them a rank. Throws what the first rank that failed
/// has thrown. `program` names what rank r says that it runs.
void run_ranks(
    int size, const std::function<void(const tutti::job&)>& body, double time_limit = 60,
    const std::function<std::string(int)>& program = [](int) { return "test"; });

/// Whether the table takes the memory of CUDA devices, as those of the emulator.
extern bool host_reads_devices;

/// body(job) on one rank, and on threads; where mpirun has started this process, between its ranks.
/// Fails the test case where the body throws: Boost's macros are for one thread.
void on_ranks(const std::function<void(const tutti::job&)>& body);
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Element i of rank r: small whole numbers, of which no dtype rounds the sums and products of a
/// few ranks.
inline double element(std::int64_t i, int r) {
  return static_cast<double>((i * 7 + r * 2) % 3 + 1);
}
/// The elements i of `size` ranks, combined.
inline double folded(std::int64_t i, int size, tutti::collective::reduction with) {
  using tutti::collective::reduction;
  double total = element(i, 0);
  for (int r = 1; r < size; ++r) {
    const double next = element(i, r);
    total = with == reduction::prod  ? total * next
            : with == reduction::min ? std::min(total, next)
            : with == reduction::max ? std::max(total, next)
                                     : total + next;
  }
  return with == reduction::avg ? total / size : total;
}

/// Ways to split an axis, one of which leaves all but the last device without elements.
inline std::vector<std::pair<std::string, tutti::shares>> splits(const tutti::device_group& group) {
  std::vector<double> rising, last(group.total(), 0.0);
  for (std::size_t i = 0; i < group.total(); ++i) rising.push_back(1.0 + static_cast<double>(i));
  last.back() = 1;
  return {{"equal", tutti::shares::equal()}, {"rising", rising}, {"all to the last", last}};
}

}  // namespace tutti_test
