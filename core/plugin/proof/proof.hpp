// SPDX-License-Identifier: Apache-2.0
//
// No driver is trusted: before a device runs its first kernel of a family, it is asked one small
// question of it whose answer is known. The verdict is kept for the driver, the build of the plugin
// and the version of the library. A family that is wrong is switched off, which its readers take as
// if the plugin did not offer it, and so is one in which the device hangs; without the basic ones a
// device is not used. TUTTI_PROOF=off
// trusts every device, and the reference device, which is the judge elsewhere, is trusted always.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugin/opened_device.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/proof/verdicts.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// A family that is switched off.
struct family_fault {
  std::string family;  ///< "products of f32"
  std::string why;
  bool is_failure = false;  ///< it did not answer
};

class TUTTI_INTERNAL_API device_proof {
 public:
  explicit device_proof(const opened_device& device);
  device_proof(const device_proof&) = delete;
  device_proof& operator=(const device_proof&) = delete;

  /// Nothing where the family may be used. Where nobody has asked before, the device, which must
  /// be open, is asked now. What keeps it from answering (a function that fails) is no verdict on
  /// its numbers; without an answer to the basic questions it is not used all the same, in this
  /// process, or where it has no memory or says that it may succeed later, until it does. A device
  /// that does not answer in time is waited for once, and asked nothing else until it does. What is
  /// returned stays.
  const family_fault* fault_of(const kernel_family& family,
                               const tutti_operator_desc* use = nullptr);
  /// The same for the basic families, as far as they are known without asking.
  const family_fault* known_basic_fault(bool& all_known);

  struct result {
    std::string what;
    bool is_right = false;
    std::string text;
    bool is_used = false;  // though it is not right: what was wrong tells nothing of the numbers
  };
  /// Asks, whatever is known, and keeps what comes out.
  result ask_again(const kernel_family& family);
  /// A sample of all families, and those that were asked about before; `tell` gets each result.
  void ask_again(const std::function<void(const result&)>& tell);
  device_facts facts();
  /// True for the first who asks.
  bool is_said_first() { return !is_said_.exchange(true); }

 private:
  enum class state : std::uint8_t { unknown, good, bad };  // unknown: to be asked, perhaps again
  struct outcome {
    state verdict = state::good;
    bool is_known = true;  // the device did answer, or does not offer this
    bool is_kept = true;   // for later processes
    std::string text;
    bool is_given_up = false;  // nobody waits for the answer any more
    bool is_failure = false;   // a function fails
  };
  /// A question in its thread, and what comes of it.
  struct exchange {
    kernel_family family;
    std::string what, key, text;  // the family's name, and the journal's entry
    std::optional<operator_question> question;
    outcome found;
    device_facts facts;
  };
  outcome put_question(const kernel_family& family, const tutti_operator_desc* use,
                       device_facts& facts);
  std::optional<outcome> ask_in_child(const exchange& now);
  void answer(exchange& now) const noexcept;
  outcome answered(exchange& now) const;
  outcome judge(exchange& now) const;
  outcome failed(const exchange& now, const device_error& e) const;
  void hear_late(const exchange& now) noexcept;
  void load();
  void load_again();
  void keep(const std::string& name, const outcome& found, const device_facts& facts);
  const family_fault& remember(family_fault fault);
  void settle(const kernel_family& family, const outcome& found, const device_facts& facts);

  const opened_device& device_;
  const std::string key_;  // of the cache
  std::array<std::atomic<state>, kernel_family::count> states_{};
  std::mutex mutex_;  // guards what follows, and asks one question at a time
  bool is_loaded_ = false;
  verdicts known_;
  std::map<std::size_t, const family_fault*> faults_;
  std::list<family_fault> all_faults_;  // others may be reading one that does not count any more
  std::atomic<bool> is_said_{false};
  std::atomic<int> unanswered_{0};  // questions that were given up; nothing is asked meanwhile
};

/// What is to be asked of a device; nothing for one that is trusted.
std::shared_ptr<device_proof> make_proof(const opened_device& device);

/// The family that keeps an open device from running this; nothing where it may.
const family_fault* switched_off(const opened_device& device, const tutti_program_desc& desc);
const family_fault* switched_off(const opened_device& device, const tutti_operator_desc& launch);
const family_fault* switched_off(const opened_device& device,
                                 std::span<const kernel_family> families);

/// Why the automatic choice must pass over a device; empty where it need not: what it gets wrong,
/// or why it cannot be opened. `is_next` opens it in any case, as whoever uses it is about to;
/// otherwise that happens where nobody has asked it before.
TUTTI_INTERNAL_API std::string why_unusable(opened_device& device, bool is_next = false);
/// Throws device_error where an open device got a basic family wrong.
void require_basics(const opened_device& device);

}  // namespace tutti::detail
