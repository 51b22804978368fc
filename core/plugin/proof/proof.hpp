// SPDX-License-Identifier: Apache-2.0
//
// No driver is trusted: before a device runs its first kernel of a family, it is asked one small
// question of it whose answer is known. The verdict is kept for the driver, the build of the plugin
// and the version of the library. A family that is wrong is switched off, which its readers take as
// if the plugin did not offer it; without the basic ones a device is not used. TUTTI_PROOF=off
// trusts every device, and the reference device, which is the judge elsewhere, is trusted always.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/background_thread.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/proof/verdicts.hpp"

namespace tutti::detail {

/// A family that is switched off.
struct family_fault {
  std::string family;  ///< "products of f32"
  std::string why;
};

class TUTTI_INTERNAL_API device_proof {
 public:
  explicit device_proof(const opened_device& device);
  device_proof(const device_proof&) = delete;
  device_proof& operator=(const device_proof&) = delete;

  /// Nothing where the family may be used. Where nobody has asked before, the device, which must
  /// be open, is asked now; what keeps it from answering (no memory, say) is no verdict.
  const family_fault* fault_of(const kernel_family& family,
                               const tutti_operator_desc* use = nullptr);
  /// The same for the basic families, as far as they are known without asking.
  const family_fault* known_basic_fault(bool& all_known);

  struct result {
    std::string what;
    bool is_right = false;
    std::string text;
  };
  /// Asks, whatever is known, and keeps what comes out.
  result ask_again(const kernel_family& family);
  /// A sample of all families, and those that were asked about before.
  std::vector<result> ask_again();
  device_facts facts();
  /// True for the first who asks.
  bool is_said_first() { return !is_said_.exchange(true); }

 private:
  enum class state : std::uint8_t { unknown, good, bad };
  struct outcome {
    state verdict = state::good;
    bool is_known = true;  // the device did answer, or does not offer this
    bool is_kept = true;   // for later processes
    std::string text;
  };
  outcome put_question(const kernel_family& family, const tutti_operator_desc* use,
                       device_facts& facts) const;
  outcome judge(const kernel_family& family, const tutti_operator_desc* use,
                device_facts& facts) const;
  void load();
  void settle(const kernel_family& family, const outcome& found, const device_facts& facts);

  const opened_device& device_;
  const std::string key_;  // of the cache
  std::array<std::atomic<state>, kernel_family::count> states_{};
  std::mutex mutex_;  // guards what follows, and asks one question at a time
  bool is_loaded_ = false;
  verdicts known_;
  std::map<std::size_t, family_fault> faults_;
  std::atomic<bool> is_said_{false};
};

/// What is to be asked of a device; nothing for one that is trusted.
std::shared_ptr<device_proof> make_proof(const opened_device& device);

/// The family that keeps an open device from running this; nothing where it may.
const family_fault* switched_off(const opened_device& device, const tutti_program_desc& desc);
const family_fault* switched_off(const opened_device& device, const tutti_operator_desc& launch);

/// Why the automatic choice must pass over a device; empty where it need not. Opens it where nobody
/// has asked before.
std::string why_unusable(opened_device& device);
/// Throws device_error where an open device got a basic family wrong.
void require_basics(const opened_device& device);

/// Waits for the questions that other threads are asking; false where one is at the deadline.
bool wait_for_proofs(std::chrono::steady_clock::time_point deadline);
/// Who is told before the first question that exit() has to wait for them.
void set_wait_at_exit(void (*at_start)(idle_wait));

}  // namespace tutti::detail
