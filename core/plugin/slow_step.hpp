// SPDX-License-Identifier: Apache-2.0
//
// What may hang, watched: who waits in silence for a driver does not know what for.
#pragma once

#include <chrono>
#include <functional>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Where it lives for longer than the time, `tell` is called, once, in a thread of the library.
class TUTTI_INTERNAL_API slow_step {
 public:
  slow_step(std::chrono::steady_clock::duration patience, std::function<void()> tell);
  /// Waits for a `tell` that has begun, so no lock is held here that it takes.
  ~slow_step();
  slow_step(const slow_step&) = delete;
  slow_step& operator=(const slow_step&) = delete;
  /// The time begins anew, and what was told may be told once more.
  void restart();

 private:
  using clock = std::chrono::steady_clock;
  class watch;
  const clock::duration patience_;
  const std::function<void()> tell_;
  clock::time_point deadline_;
};

}  // namespace tutti::detail
