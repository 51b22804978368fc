// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops under a simulated clock: devices with scripted speeds, latencies, noise and
// failures, and the very state and policies that the real loop uses. A run takes no time, so that
// tests can try many.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "multi/loop/loop_state.hpp"

namespace tutti_test {

struct simulated_device {
  double speed = 1;    ///< indices a second
  double latency = 0;  ///< seconds of each chunk, whatever its size
  double noise = 0;    ///< a chunk takes a time of (1 +- noise) times the nominal one
  double warm_up = 0;  ///< seconds of the first chunk, on top
  double changes_at = std::numeric_limits<double>::infinity();  ///< chunks begun later take
  double speed_then = 0;                                        ///< this speed
  double fails_at = std::numeric_limits<double>::infinity();  ///< what is in work then is an error
  double hangs_at = std::numeric_limits<double>::infinity();  ///< what is in work then never ends
  /// Seconds after which a hung device answers after all.
  double answers_after = std::numeric_limits<double>::infinity();
};

struct simulation {
  tutti::loop_report report;
  std::vector<tutti::index_range> stored;  ///< what the sink got, in order
  bool every_device_failed = false;
};

/// Each device works on one chunk at a time and holds up to options.depth, as the real loop does.
/// Results of chunks are taken one after the other, each in `result_seconds`, as rank 0 takes those
/// of other ranks.
simulation simulate(const tutti::index_range& range, const std::vector<simulated_device>& devices,
                    const tutti::loop_options& options, std::uint64_t seed = 1,
                    double result_seconds = 0);

/// True where the ranges cover `range`, each index once.
bool covers_once(std::vector<tutti::index_range> stored, const tutti::index_range& range);

/// Least time in which devices of these speeds, each working until it fails, can do `items`.
double least_time(const std::vector<simulated_device>& devices, double items);

}  // namespace tutti_test
