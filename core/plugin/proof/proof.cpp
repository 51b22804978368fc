// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/proof.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>

#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/exit_waits.hpp"
#include "plugin/host.hpp"
#include "plugin/proof/questions.hpp"
#include "plugin/trial.hpp"
#include "safety/journal.hpp"

namespace tutti::detail {
namespace {

/// Changes with the checks, so that new checks are run.
constexpr const char* edition = "5, " TUTTI_VERSION;

constexpr const char* advice = "`tutti doctor` asks again, TUTTI_PROOF=off uses it all the same";

struct journal_entry {
  journal_entry(const std::string& named, const std::string& text)
      : key(named), ends(process_journal().enter(key, text)) {}
  ~journal_entry() { process_journal().leave(key); }
  journal_entry(const journal_entry&) = delete;
  journal_entry& operator=(const journal_entry&) = delete;

  const std::string key;
  const std::uint32_t ends;
};

/// Only one device is checked at a time; exit() waits for it, because drivers crash after their
/// static objects have been destroyed.
class turn {
 public:
  turn() {
    state& all = shared();
    std::unique_lock lock(all.mutex);
    if (!all.is_announced) wait_at_exit(wait_for_end);
    all.is_announced = true;
    all.changed.wait(lock, [&] { return !all.is_taken; });
    if (is_exiting()) require_computing("known answers");
    all.is_taken = is_mine = true;
  }
  ~turn() {
    {
      const std::lock_guard lock(shared().mutex);
      shared().is_taken = is_mine = false;
    }
    shared().changed.notify_all();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_taken = false, is_announced = false;
  };
  static state& shared() {
    static auto* const made = new state;
    return *made;
  }
  static bool wait_for_end(std::chrono::steady_clock::time_point deadline) {
    if (is_mine) return true;  // a driver that exits
    state& all = shared();
    std::unique_lock lock(all.mutex);
    return all.changed.wait_until(lock, deadline, [&] { return !all.is_taken; });
  }
  static thread_local constinit bool is_mine;
};

thread_local constinit bool turn::is_mine = false;

}  // namespace

std::string device_proof::key() const {
  return fmt::format("proof {}\n", edition) + cache_prefix(device_);
}

// "right", or the problem.
std::optional<device_proof::answer> device_proof::kept() const {
  const auto text = program_cache().load(key());
  if (!text) return std::nullopt;
  return answer{*text == "right" ? std::string() : *text};
}

std::string device_proof::fault() {
  if (is_right()) [[likely]]
    return {};
  const std::lock_guard lock(mutex_);
  if (!settled_ || settled_->may_pass) {
    const auto before = kept();
    settle(before ? *before : ask());
  }
  return settled_->fault;
}

std::optional<std::string> device_proof::known_fault() {
  const std::lock_guard lock(mutex_);
  if (settled_ && !settled_->may_pass) return settled_->fault;
  const auto before = kept();
  if (!before) return std::nullopt;
  settle(*before);
  return settled_->fault;
}

std::string device_proof::ask_again() {
  const std::lock_guard lock(mutex_);
  settle(ask());
  return settled_->fault;
}

void device_proof::settle(const answer& a) {
  settled_ = a;
  is_right_.store(a.fault.empty(), std::memory_order_release);
}

device_proof::answer device_proof::ask() {
  const turn mine;
  const journal_entry entry(key(), "the proof of " + device_.title);
  answer found;
  if (entry.ends > 0) {
    // Earlier processes ended within this check. If it also ends a separate process, in which
    // nothing else happens, the device counts as faulty.
    if (const auto end = try_proof(device_.name)) {
      found = end->empty() ? kept().value_or(answer{})
                           : answer{fmt::format("{} does not answer a process beside this one: {} "
                                                "({})",
                                                device_.title, *end, advice)};
    } else {
      found = ask_here();
    }
  } else {
    found = ask_here();
  }
  if (found.is_verdict) program_cache().store(key(), found.fault.empty() ? "right" : found.fault);
  return found;
}

// A device that cannot transfer bytes, or not run the simplest program that it claims to support,
// is useless. Programs may be left to other devices; transfers may not.
device_proof::answer device_proof::ask_here() const {
  for (const question& q : all_questions) {
    try {
      const auto start = std::chrono::steady_clock::now();
      const std::string mistake = q.mistake_of(device_);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      logging::debug("{}, {}: {}, {:.1f} ms", device_.title, q.name,
                     mistake.empty() ? "right" : mistake, took.count());
      if (!mistake.empty())
        return {fmt::format("{} gets {} wrong: {} ({})", device_.title, q.name, mistake, advice)};
    } catch (const device_error& e) {
      if (is_exiting()) return {{}, false};
      if (e.code() == TUTTI_ERROR_UNSUPPORTED && q.may_be_left_to_others) continue;
      const bool may_pass = e.code() == TUTTI_ERROR_OUT_OF_MEMORY || e.retryable();
      return {fmt::format("{} cannot be asked for {}: {} ({})", device_.title, q.name, e.what(),
                          advice),
              false, may_pass};
    }
  }
  return {};
}

std::shared_ptr<device_proof> make_proof(const opened_device& device) {
  if (device.plugin->name == "reference" || !devices_prove_themselves()) return nullptr;
  return std::make_shared<device_proof>(device);
}

namespace {

// A setting that the plugin refuses must be corrected by the user, and is reported. Errors of a
// driver have the driver's number.
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
  const auto known = is_trusted ? std::optional(std::string()) : device.proof->known_fault();
  std::string why = known.value_or("");
  if (why.empty() && (!known || is_next)) {
    bool is_open = false;
    why = why_not_opened(device, is_open);
    if (is_open && !known) why = device.proof->fault();
  }
  if (!why.empty() && (is_trusted || device.proof->is_said_first()))
    logging::warn("auto passes over a device: {}", why);
  return why;
}

void require_right_answers(const opened_device& device) {
  if (device.proof == nullptr || device.proof->is_right()) [[likely]]
    return;
  if (const std::string found = device.proof->fault(); !found.empty())
    throw device_error(found, TUTTI_ERROR_DRIVER, 0, false, device.name);
}

}  // namespace tutti::detail
