// SPDX-License-Identifier: Apache-2.0
#include "plugin/attempts.hpp"

#include "base/process.hpp"
#include "plugin/exit_waits.hpp"

namespace tutti::detail {
namespace {

thread_local constinit int attempts_here = 0;

}  // namespace

attempts_under_way& attempts_under_way::instance() {
  static auto* const made = new attempts_under_way;
  return *made;
}

void attempts_under_way::begin(std::string_view step) {
  {
    const std::lock_guard lock(mutex_);
    ++all_;
    ++attempts_here;
  }
  // A process that exits from now on waits for this attempt, and one that is exiting is detected.
  try {
    std::call_once(told_,
                   [this] { wait_at_exit([this](auto deadline) { return wait(deadline); }); });
  } catch (...) {
    end();
    throw;
  }
  if (!is_exiting()) return;
  end();
  require_computing(step);
}

void attempts_under_way::end() {
  --attempts_here;
  {
    const std::lock_guard lock(mutex_);
    --all_;
  }
  changed_.notify_all();
}

bool attempts_under_way::wait(std::chrono::steady_clock::time_point deadline) {
  if (attempts_here > 0) return true;  // a plugin that exits, with locks that others may wait for
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return all_ == 0; });
}

}  // namespace tutti::detail
