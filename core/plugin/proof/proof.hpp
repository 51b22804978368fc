// SPDX-License-Identifier: Apache-2.0
//
// Before a device is used, it runs two checks with known results (questions.cpp). The result is
// stored for the driver, the build of the plugin and the version of the library. A device with
// wrong results is skipped by `auto`, and refused if it is named. TUTTI_PROOF=off disables the
// checks. The reference device, with which others are compared, is not checked.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::plugins {

class TUTTI_INTERNAL_API device_proof {
 public:
  explicit device_proof(const opened_device& device) : device_(device) {}

  /// Empty if the device is correct, otherwise the problem, "bad:0 gets transfers wrong: ...".
  /// Checks the device, which must be open, unless it was checked before. A device whose functions
  /// fail is not used in this process, or until it succeeds if the error is retryable.
  std::string fault();
  /// The same as far as it is known without a check.
  std::optional<std::string> known_fault();
  /// Asks, whatever is known, and keeps what comes out.
  std::string ask_again();
  bool is_right() const { return is_right_.load(std::memory_order_acquire); }
  /// True for the first caller.
  bool is_said_first() { return !is_said_.exchange(true); }

 private:
  std::string key() const;
  std::string settle(const std::string& fault, bool is_stored = false);

  const opened_device& device_;
  std::atomic<bool> is_right_{false}, is_said_{false};
  std::recursive_mutex mutex_;
  std::optional<std::string> settled_;
};

/// The wrong result of an open device, "5 instead of 4 at 7", or nothing. Throws device_error if a
/// function fails. Sets `asked` to the check, "transfers" or "arithmetic of f32".
std::string mistake_of(const opened_device& device, const char*& asked);

/// Why the automatic choice must skip a device: its wrong result, or why it cannot be opened; empty
/// if it need not. `is_next` opens it in any case, because it is about to be used; otherwise it is
/// opened only if it was not checked before.
TUTTI_INTERNAL_API std::string why_unusable(opened_device& device, bool is_next = false);
/// Throws device_error if an open device computes a wrong result.
void require_right_answers(const opened_device& device);

}  // namespace tutti::plugins
