// SPDX-License-Identifier: Apache-2.0
//
// No driver is trusted: before a device is used, it is asked two questions whose answers are known
// (questions.hpp). The verdict is kept for the driver, the build of the plugin and the version of
// the library. A device that is wrong is passed over by `auto` and refused where it is named.
// TUTTI_PROOF=off trusts every device. The reference device, which is the judge elsewhere, is
// trusted always.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "plugin/opened_device.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

class TUTTI_INTERNAL_API device_proof {
 public:
  explicit device_proof(const opened_device& device) : device_(device) {}
  device_proof(const device_proof&) = delete;
  device_proof& operator=(const device_proof&) = delete;

  /// Empty where the device is right: else what is wrong, "bad:0 gets transfers wrong: ...". Asks
  /// the device, which must be open, unless it has been asked by now. One whose functions fail is
  /// not used in this process, or until it succeeds where it says that it may.
  std::string fault();
  /// The same as far as it is known without asking.
  std::optional<std::string> known_fault();
  /// Asks, whatever is known, and keeps what comes out.
  std::string ask_again();
  bool is_right() const { return is_right_.load(std::memory_order_acquire); }
  /// True for the first who asks.
  bool is_said_first() { return !is_said_.exchange(true); }

 private:
  struct answer {
    std::string fault;
    bool is_verdict = true;  // for later processes as well
    bool may_pass = false;
  };
  std::string key() const;
  std::optional<answer> kept() const;
  answer ask();
  answer ask_here() const;
  void settle(const answer& a);

  const opened_device& device_;
  std::atomic<bool> is_right_{false}, is_said_{false};
  std::mutex mutex_;
  std::optional<answer> settled_;
};

/// What is to be asked of a device; nothing for one that is trusted.
std::shared_ptr<device_proof> make_proof(const opened_device& device);

/// Why the automatic choice must pass over a device; empty where it need not: what it gets wrong,
/// or why it cannot be opened. `is_next` opens it in any case, as whoever uses it is about to;
/// otherwise that happens where nobody has asked it before.
TUTTI_INTERNAL_API std::string why_unusable(opened_device& device, bool is_next = false);
/// Throws device_error where an open device gives a wrong answer.
void require_right_answers(const opened_device& device);

}  // namespace tutti::detail
