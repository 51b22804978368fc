// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/proof.hpp"

#include <fmt/format.h>

#include "base/disk_cache.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/host.hpp"
#include "plugin/trial.hpp"
#include "plugin/visit.hpp"
#include "safety/journal.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

constexpr const char* advice = "`tutti doctor` asks again, TUTTI_PROOF=off uses it all the same";

}  // namespace

// The number changes with the checks, so that new checks are run.
std::string device_proof::key() const {
  return "proof 6, " TUTTI_VERSION "\n" + cache_prefix(device_);
}

std::string device_proof::fault() {
  const std::lock_guard lock(mutex_);
  const auto before = known_fault();
  return before ? *before : ask_again();
}

std::optional<std::string> device_proof::known_fault() {
  const std::lock_guard lock(mutex_);
  if (!settled_)
    if (const auto kept = base::program_cache().load(key())) settle(*kept == "right" ? "" : *kept);
  return settled_;
}

std::string device_proof::settle(const std::string& fault, bool is_stored) {
  if (is_stored) {
    logging::debug("{}: {}", device_.title, fault.empty() ? "its answers are right" : fault);
    base::program_cache().store(key(), fault.empty() ? "right" : fault);
  }
  settled_ = fault;
  is_right_.store(fault.empty(), std::memory_order_release);
  return fault;
}

// A device that cannot transfer bytes, or not run the simplest program that it claims to support,
// is useless. Programs may be left to other devices; transfers may not.
std::string device_proof::ask_again() {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(mutex_);
  const std::lock_guard turn(one_at_a_time);
  const plugin_visit visit(safety::process_journal(), key(), "the proof of " + device_.title);
  // If earlier processes ended within this check, and it also ends a separate process, in which
  // nothing else happens, the device counts as faulty.
  if (const auto end = visit.ends() > 0 ? try_in_child(device_.name) : std::nullopt) {
    if (!end->empty())
      return settle(fmt::format("{} does not answer a process beside this one: {} ({})",
                                device_.title, *end, advice),
                    true);
    settled_.reset();
    return settle(known_fault().value_or(""));
  }
  const char* asked = "";
  try {
    std::string fault = mistake_of(device_, asked);
    if (!fault.empty())
      fault = fmt::format("{} gets {} wrong: {} ({})", device_.title, asked, fault, advice);
    return settle(fault, true);
  } catch (const device_error& e) {
    if (base::is_exiting()) return {};
    if (e.code() == TUTTI_ERROR_UNSUPPORTED && std::string_view(asked) != "transfers")
      return settle({}, true);
    const std::string fault =
        fmt::format("{} cannot be asked for {}: {} ({})", device_.title, asked, e.what(), advice);
    const bool may_pass = e.code() == TUTTI_ERROR_OUT_OF_MEMORY || e.retryable();
    return may_pass ? fault : settle(fault);
  }
}

std::string why_unusable(opened_device& device, bool is_next) {
  device_proof* const proof = device.proof.get();
  const auto known = proof != nullptr ? proof->known_fault() : std::optional<std::string>("");
  std::string why = known.value_or("");
  if (why.empty() && (!known || is_next)) {
    try {
      device.open();
      if (!known) why = proof->fault();
    } catch (const device_error& e) {
      // A setting that the plugin refuses must be corrected by the user, and is reported. Errors of
      // a driver have the driver's number.
      const bool is_setting = e.code() == TUTTI_ERROR_INVALID_ARGUMENT && e.vendor_code() == 0;
      if (!is_setting && !base::is_exiting()) why = e.what();
    }
  }
  if (!why.empty() && (proof == nullptr || proof->is_said_first()))
    logging::warn("auto passes over a device: {}", why);
  return why;
}

void require_right_answers(const opened_device& device) {
  if (device.proof == nullptr || device.proof->is_right()) [[likely]]
    return;
  if (const std::string found = device.proof->fault(); !found.empty())
    throw device_error(found, TUTTI_ERROR_DRIVER, 0, false, device.name);
}

}  // namespace tutti::plugins
