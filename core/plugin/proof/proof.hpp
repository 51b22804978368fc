// SPDX-License-Identifier: Apache-2.0
//
// No driver is trusted: before a device is used, it is asked a few questions whose answers are
// known (questions.hpp). The verdict is kept for the driver, the build of the plugin and the
// version of the library. A device that is wrong is passed over by `auto` and refused where it is
// named, and so is one that does not answer. TUTTI_PROOF=off trusts every device, and the reference
// device, which is the judge elsewhere, is trusted always.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "plugin/opened_device.hpp"
#include "plugin/proof/questions.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

class TUTTI_INTERNAL_API device_proof {
 public:
  explicit device_proof(const opened_device& device);
  device_proof(const device_proof&) = delete;
  device_proof& operator=(const device_proof&) = delete;

  /// Null where the answer is right: else what is wrong, "bad:0 (...) gets transfers wrong: ...",
  /// which stays. Where nobody has asked before, the device, which must be open, is asked now. What
  /// keeps it from answering (a function that fails) is no verdict on its numbers, but it is not
  /// used in this process, or where it has no memory or says that it may succeed later, until it
  /// does. One that does not answer in time is waited for once, and asked nothing else until it
  /// does.
  const std::string* fault_of(question which);
  /// The same of all questions that are to be asked before the device is used.
  const std::string* fault();
  /// As far as that is known without asking.
  const std::string* known_fault(bool& all_known);

  struct result {
    bool is_right = false;
    std::string text;
  };
  /// Asks, whatever is known, and keeps what comes out.
  result ask_again(question which);
  /// True for the first who asks.
  bool is_said_first() { return !is_said_.exchange(true); }

 private:
  enum class state : std::uint8_t { unknown, good, bad };  // unknown: to be asked, perhaps again
  struct outcome {
    state verdict = state::good;
    bool is_kept = true;       // for later processes
    std::string text;          // what is wrong
    bool is_failure = false;   // a function fails
    bool is_given_up = false;  // nobody waits for the answer any more
  };
  /// A question in its thread, and what comes of it.
  struct exchange {
    question which;
    std::string key, text;  // of the journal's entry
    outcome found;
  };
  std::string key_of(question which) const;
  std::optional<outcome> known(question which) const;
  outcome put(question which);
  std::optional<outcome> ask_in_child(const exchange& now) const;
  void answer(exchange& now) const noexcept;
  outcome failed(question which, const device_error& e) const;
  void take_late_answer(const exchange& now) noexcept;
  void settle(question which, const outcome& found);

  const opened_device& device_;
  std::array<std::atomic<state>, all_questions.size()> states_{};
  std::mutex mutex_;  // guards what follows, and asks one question at a time
  std::array<const std::string*, all_questions.size()> faults_{};
  std::list<std::string> all_faults_;  // others may be reading one that does not count any more
  std::atomic<bool> is_said_{false};
  std::atomic<int> unanswered_{0};  // questions that were given up; nothing is asked meanwhile
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
