// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/host.hpp"
#include "plugin/proof/asking.hpp"
#include "plugin/trial.hpp"
#include "safety/journal.hpp"

namespace tutti::detail {
namespace {

/// Changes with the questions, so that a driver is asked the new ones.
constexpr const char* edition = "4, " TUTTI_VERSION;

constexpr const char* advice = "`tutti doctor` asks again, TUTTI_PROOF=off uses it all the same";

constexpr std::size_t place(question which) { return static_cast<std::size_t>(which); }

struct entry_of_question {
  entry_of_question(const std::string& named, const std::string& text)
      : key(named), ends(process_journal().enter(key, text)) {}
  ~entry_of_question() { process_journal().leave(key); }
  entry_of_question(const entry_of_question&) = delete;
  entry_of_question& operator=(const entry_of_question&) = delete;

  const std::string& key;
  const std::uint32_t ends;
};

}  // namespace

device_proof::device_proof(const opened_device& device) : device_(device) {}

std::string device_proof::key_of(question which) const {
  return fmt::format("proof {}, {}\n", edition, name_of(which)) + cache_prefix(device_);
}

// "right", or what is wrong.
std::optional<device_proof::outcome> device_proof::known(question which) const {
  const auto text = program_cache().load(key_of(which));
  if (!text) return std::nullopt;
  if (*text == "right") return outcome{state::good, false, {}};
  return outcome{state::bad, false, *text};
}

const std::string* device_proof::fault_of(question which) {
  std::atomic<state>& slot = states_[place(which)];
  if (slot.load(std::memory_order_acquire) == state::good) [[likely]]
    return nullptr;
  const std::lock_guard lock(mutex_);
  if (slot.load(std::memory_order_relaxed) == state::unknown) {
    const auto before = known(which);
    settle(which, before ? *before : put(which));
  }
  return faults_[place(which)];
}

const std::string* device_proof::fault() {
  const std::string* const found = fault_of(question::transfers);
  return found != nullptr ? found : fault_of(question::arithmetic);
}

const std::string* device_proof::known_fault(bool& all_known) {
  {
    const std::lock_guard lock(mutex_);
    all_known = std::all_of(all_questions.begin(), all_questions.end(), [&](question q) {
      return states_[place(q)] != state::unknown || known(q);
    });
  }
  return all_known ? fault() : nullptr;
}

void device_proof::settle(question which, const outcome& found) {
  if (found.is_kept)
    program_cache().store(key_of(which), found.verdict == state::bad ? found.text : "right");
  faults_[place(which)] = nullptr;
  if (found.verdict != state::good) {
    const char* const form =
        found.is_failure ? "{} cannot be asked for {}: {} ({})" : "{} gets {} wrong: {} ({})";
    std::string text =
        fmt::format(fmt::runtime(form), device_.title, name_of(which), found.text, advice);
    const auto same = std::find(all_faults_.begin(), all_faults_.end(), text);
    faults_[place(which)] =
        same != all_faults_.end() ? &*same : &all_faults_.emplace_back(std::move(text));
  }
  states_[place(which)].store(found.verdict, std::memory_order_release);
}

device_proof::outcome device_proof::put(question which) {
  if (unanswered_ > 0) return {state::bad, false, "not asked, since it owes an earlier answer"};
  const auto now = std::make_shared<exchange>(
      exchange{which,
               key_of(which),
               fmt::format("the proof of {} of {}", name_of(which), device_.title),
               {}});
  const entry_of_question entry(now->key, now->text);
  if (entry.ends > 0)
    if (auto found = ask_in_child(*now)) return std::move(*found);
  const double limit = proof_time_limit();
  // Devices are never closed: this one outlives its answer.
  if (asked_within(
          limit, [this, now] { answer(*now); }, [this, now] { take_late_answer(*now); }))
    return std::move(now->found);
  if (is_exiting()) require_computing(name_of(which));  // nobody is to blame
  ++unanswered_;
  process_journal().give_up(now->key);
  return {state::bad, false, fmt::format("no answer within {} s", limit), false, true};
}

// Earlier processes ended within the question, or waited for it in vain. One that ends in a process
// beside this one, where nothing else happens, counts as wrong.
std::optional<device_proof::outcome> device_proof::ask_in_child(const exchange& now) const {
  const auto failure = try_question(device_.name, now.which);
  if (!failure) return std::nullopt;
  if (!failure->empty())
    return outcome{state::bad, true, "asked by a process beside this one: " + *failure};
  return known(now.which);
}

void device_proof::answer(exchange& now) const noexcept {
  try {
    const entry_of_question entry(now.key, now.text);  // of this thread, which may call exit()
    const auto start = std::chrono::steady_clock::now();
    try {
      now.found.text = mistake_of(device_, now.which);
      if (!now.found.text.empty()) now.found.verdict = state::bad;
    } catch (const device_error& e) {
      now.found = failed(now.which, e);
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    logging::debug("{} took {:.1f} ms: {}", now.text, took.count(),
                   now.found.text.empty() ? "right" : now.found.text);
  } catch (const std::exception&) {  // no memory for what is wrong
    now.found = {state::good, false, {}};
  }
}

// A device that cannot move bytes, or not run the simplest program that it claims to have, computes
// nothing. Programs may be left to others; transfers are nobody else's.
device_proof::outcome device_proof::failed(question which, const device_error& e) const {
  const bool is_left_to_others =
      e.code() == TUTTI_ERROR_UNSUPPORTED && which != question::transfers;
  if (is_left_to_others || is_exiting()) return {state::good, false, {}};
  const bool may_pass = e.code() == TUTTI_ERROR_OUT_OF_MEMORY || e.retryable();
  return {may_pass ? state::unknown : state::bad, false, e.what(), true};
}

// In this process the device stays unused, for somebody may be reading why.
void device_proof::take_late_answer(const exchange& now) noexcept {
  --unanswered_;
  try {
    const std::lock_guard lock(mutex_);
    const bool is_right = now.found.verdict != state::bad;
    if (now.found.is_kept) program_cache().store(now.key, is_right ? "right" : now.found.text);
    logging::info("a late answer to {}: {}", now.text, is_right ? "right" : now.found.text);
  } catch (const std::exception&) {  // out of memory: it is asked again
  }
}

device_proof::result device_proof::ask_again(question which) {
  const std::lock_guard lock(mutex_);
  const auto start = std::chrono::steady_clock::now();
  outcome found = put(which);
  found.is_kept = found.is_kept || found.is_given_up;  // whoever asks again has been told
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  settle(which, found);
  if (found.verdict != state::good) return {false, found.text};
  return {true, fmt::format("right, {:.1f} ms with compilation", took.count())};
}

std::shared_ptr<device_proof> make_proof(const opened_device& device) {
  if (device.plugin->name == "reference" || !devices_prove_themselves()) return nullptr;
  return std::make_shared<device_proof>(device);
}

namespace {

// A setting that the plugin refuses is the user's to mend: who uses the device is told. What a
// driver refuses has the driver's number.
std::string why_not_opened(opened_device& device, bool& is_open) {
  try {
    device.open();
    is_open = true;
    return {};
  } catch (const device_error& e) {
    const bool is_setting = e.code() == TUTTI_ERROR_INVALID_ARGUMENT && e.vendor_code() == 0;
    return is_setting || is_exiting() ? std::string() : e.what();
  }
}

}  // namespace

std::string why_unusable(opened_device& device, bool is_next) {
  const bool is_trusted = device.proof == nullptr;
  bool all_known = is_trusted;
  const std::string* found = is_trusted ? nullptr : device.proof->known_fault(all_known);
  std::string why;
  if (found == nullptr && (!all_known || is_next)) {
    bool is_open = false;
    why = why_not_opened(device, is_open);
    if (is_open && !all_known) found = device.proof->fault();
  }
  if (found != nullptr) why = *found;
  if (!why.empty() && (is_trusted || device.proof->is_said_first()))
    logging::warn("auto passes over a device: {}", why);
  return why;
}

void require_right_answers(const opened_device& device) {
  if (device.proof == nullptr) return;
  if (const std::string* found = device.proof->fault()) [[unlikely]]
    throw device_error(*found, TUTTI_ERROR_DRIVER, 0, false, device.name);
}

}  // namespace tutti::detail
