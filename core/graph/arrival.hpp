// SPDX-License-Identifier: Apache-2.0
//
// A value in transfer from one device to another: what its readers wait for, and its failure.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugin/guarded.hpp"
#include "tutti/plugin.h"

namespace tutti::graph {

class arrival {
 public:
  struct failure {
    std::string message;
    std::int32_t code = 0, vendor_code = 0;
    std::string device;  // of the failed device
  };

  using signal_function = plugins::guarded<tutti_status* (*)(tutti_event*, const tutti_status*)>;

  /// `event` (may be null) belongs to the target device: done when the value is available. `signal`
  /// (may be null) is called for it by finish().
  arrival(std::shared_ptr<tutti_event> event, const signal_function* signal)
      : event_(std::move(event)), signal_(signal) {}

  tutti_event* event() const { return event_.get(); }

  /// The value is available, or has failed. Only the first call counts.
  void finish(std::optional<failure> why);
  /// Waits for finish(), whose caller enforces the time limit. Throws device_error if it failed.
  void wait() const;
  /// Whether finish() has been called; waits at most `patience`.
  bool is_done_within(std::chrono::milliseconds patience) const;
  bool is_done() const;
  bool has_failed() const;

  /// The target's compute stream already waits for it. Guarded by the target device's lock.
  bool awaited = false;

 private:
  const std::shared_ptr<tutti_event> event_;
  const signal_function* const signal_;  // a plugin's, which stays loaded
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::optional<failure> failure_;
};

/// Copies that a value depends on.
using arrivals = std::vector<std::shared_ptr<arrival>>;

/// Adds those of `more` that are in progress or have failed, once each.
void merge(arrivals& into, const arrivals& more);

}  // namespace tutti::graph
