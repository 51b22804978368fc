// SPDX-License-Identifier: Apache-2.0
//
// The number of attempts with plugins in progress in all threads, for exit().
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>

namespace tutti::detail {

/// The attempts of all threads, whether they are recorded or not.
class attempts_under_way {
 public:
  /// Throws device_error if the process is exiting.
  void begin(std::string_view step);
  void end();

  static attempts_under_way& instance();

 private:
  bool wait(std::chrono::steady_clock::time_point deadline);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::once_flag told_;
  int all_ = 0;
};

}  // namespace tutti::detail
