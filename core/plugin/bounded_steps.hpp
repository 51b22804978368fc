// SPDX-License-Identifier: Apache-2.0
//
// What a plugin is asked before it computes: to be loaded, for its devices, to open one. Each step
// is an attempt of plugin_records. As a rule a step runs in the thread that wants it, which waits
// for as long as it takes. Where TUTTI_TIMEOUT is set, it runs in a thread of its own, that is left
// behind when the time is over: nothing else ends a call that hangs, and a process of its own, as
// `tutti doctor` starts for each plugin, is not a library's to start.
#pragma once

#include <cxxabi.h>

#include <cfenv>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/env.hpp"
#include "plugin/proof/asking.hpp"
#include "plugin/records.hpp"
#include "tutti/export.hpp"

namespace tutti::detail {

/// A driver that has set traps or the rounding for itself leaves the caller's as they were.
class same_float_environment {
 public:
  same_float_environment() noexcept : is_known_(std::fegetenv(&before_) == 0) {}
  ~same_float_environment() {
    if (is_known_) std::fesetenv(&before_);
  }
  same_float_environment(const same_float_environment&) = delete;
  same_float_environment& operator=(const same_float_environment&) = delete;

 private:
  std::fenv_t before_;
  const bool is_known_;
};

class TUTTI_INTERNAL_API bounded_steps {
 public:
  /// No time limit where `records` is NULL: who has none watches over the whole process.
  bounded_steps(plugin_records* records, std::filesystem::path plugin)
      : records_(records),
        plugin_(std::move(plugin)),
        limit_(records != nullptr ? transfer_time_limit() : 0) {}

  /// What `work()` returns. It may outlive the call, so it owns what it needs, or knows that it is
  /// never destroyed. Throws what it throws, and device_error (TUTTI_ERROR_TIMEOUT) where it did
  /// not come back in time.
  template <class Work>
  auto run(const char* step, Work work) -> decltype(work());

 private:
  [[noreturn]] void give_up(const char* step) const;

  plugin_records* const records_;
  const std::filesystem::path plugin_;
  const double limit_;  // seconds; 0: none
  std::optional<plugin_records::attempt>
      attempt_;  // one file for all steps, where there is no limit
};

template <class Work>
auto bounded_steps::run(const char* step, Work work) -> decltype(work()) {
  if (limit_ <= 0) {
    attempt_ ? attempt_->go_on(step) : static_cast<void>(attempt_.emplace(records_, plugin_, step));
    const same_float_environment same;
    return work();
  }
  using result_type = decltype(work());
  struct exchange {
    Work ask;
    std::optional<result_type> result;
    std::exception_ptr failure;
  };
  const auto now = std::make_shared<exchange>(exchange{std::move(work), {}, {}});
  const auto in_thread = [now, records = records_, plugin = plugin_, step] {
    try {
      const plugin_records::attempt attempt(records, plugin, step);
      now->result.emplace(now->ask());
    } catch (const abi::__forced_unwind&) {  // the thread is cancelled, which may not be stopped
      throw;
    } catch (...) {
      now->failure = std::current_exception();
    }
  };
  if (!asked_within(limit_, in_thread, [] {})) give_up(step);
  if (now->failure) std::rethrow_exception(now->failure);
  return std::move(*now->result);
}

}  // namespace tutti::detail
