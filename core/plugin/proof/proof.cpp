// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/host.hpp"
#include "plugin/proof/asking.hpp"
#include "plugin/raii.hpp"
#include "plugin/trial.hpp"
#include "safety/journal.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Changes with the questions, so that a driver is asked the new ones.
constexpr const char* edition = "3, " TUTTI_VERSION;

constexpr const char* advice = "`tutti doctor` asks again, TUTTI_PROOF=off uses it all the same";

std::string key_of(const opened_device& d) {
  return fmt::format("proof {}\n", edition) + cache_prefix(d);
}

// Where programs begin on the host no kernel is needed to begin with: who compiles asks then.
const family_fault* first_fault(const opened_device& device) {
  for (const kernel_family& family : basic_families) {
    if (device.begins_on_host && family.kind != kernel_family::transfers) continue;
    if (const family_fault* found = device.proof->fault_of(family)) return found;
  }
  return nullptr;
}

bool is_basic(const kernel_family& family) {
  return std::find(basic_families.begin(), basic_families.end(), family) != basic_families.end();
}

/// The operators' families of these names that are not in the list.
void add_named(std::vector<kernel_family>& all, const std::map<std::string, std::string>& names) {
  std::set<std::string> listed;
  for (const kernel_family& f : all) listed.insert(name_of(f));
  for (int number = TUTTI_OPERATOR_MATMUL; number <= TUTTI_OPERATOR_SCATTER; ++number)
    for (int variant = 0; variant < variants_of(static_cast<tutti_operator>(number)); ++variant)
      for (int type = TUTTI_BOOL; type <= TUTTI_C128; ++type) {
        const kernel_family f{static_cast<std::uint8_t>(kernel_family::operators + number),
                              static_cast<std::uint8_t>(variant), static_cast<std::uint8_t>(type)};
        const std::string name = name_of(f);
        if (names.contains(name) && listed.insert(name).second) all.push_back(f);
      }
}

struct entry_of_question {
  entry_of_question(const std::string& named, const std::string& text)
      : key(named), ends(process_journal().enter(key, text)) {}
  ~entry_of_question() { process_journal().leave(key); }
  entry_of_question(const entry_of_question&) = delete;
  entry_of_question& operator=(const entry_of_question&) = delete;

  const std::string& key;
  const std::uint32_t ends;
};

std::string text_of(const opened_device& d, const family_fault& fault) {
  if (fault.is_failure)
    return fmt::format("{} cannot be asked for {}: {}", d.title, fault.family, fault.why);
  return fmt::format("{} gets {} wrong: {}", d.title, fault.family, fault.why);
}

}  // namespace

device_proof::device_proof(const opened_device& device) : device_(device), key_(key_of(device)) {}

void device_proof::load() {
  if (!std::exchange(is_loaded_, true)) load_again();
}

void device_proof::load_again() {
  if (const auto text = program_cache().load(key_))
    if (auto read = parse_verdicts(*text)) known_ = std::move(*read);
}

const family_fault* device_proof::fault_of(const kernel_family& family,
                                           const tutti_operator_desc* use) {
  std::atomic<state>& slot = states_[family.index()];
  if (slot.load(std::memory_order_acquire) == state::good) [[likely]]
    return nullptr;
  const std::lock_guard lock(mutex_);
  if (slot.load(std::memory_order_relaxed) == state::unknown) {
    load();
    const std::string name = name_of(family);
    // Another process may have asked meanwhile, which a file says sooner than a compiler.
    if (!known_.families.contains(name)) load_again();
    if (const auto found = known_.families.find(name); found != known_.families.end()) {
      settle(family, {found->second.empty() ? state::good : state::bad, true, false, found->second},
             {});
    } else {
      device_facts facts;
      settle(family, put_question(family, use, facts), facts);
    }
  }
  const auto found = faults_.find(family.index());
  return found != faults_.end() ? found->second : nullptr;
}

const family_fault* device_proof::known_basic_fault(bool& all_known) {
  {
    const std::lock_guard lock(mutex_);
    load();
    all_known =
        std::all_of(basic_families.begin(), basic_families.end(), [&](const kernel_family& f) {
          return states_[f.index()] != state::unknown || known_.families.contains(name_of(f));
        });
  }
  return all_known ? first_fault(device_) : nullptr;
}

void device_proof::keep(const std::string& name, const outcome& found, const device_facts& facts) {
  load_again();  // what other processes have found meanwhile
  known_.families[name] = found.verdict == state::bad ? found.text : "";
  for (const auto& [what, value] : facts) known_.facts[what] = value;
  program_cache().store(key_, to_text(known_));
}

const family_fault& device_proof::remember(family_fault fault) {
  for (const family_fault& known : all_faults_)
    if (known.family == fault.family && known.why == fault.why) return known;
  return all_faults_.emplace_back(std::move(fault));
}

void device_proof::settle(const kernel_family& family, const outcome& found,
                          const device_facts& facts) {
  const std::string name = name_of(family);
  if (found.is_kept) keep(name, found, facts);
  if (found.verdict != state::good) {
    const family_fault& fault =
        remember({name, fmt::format("{} ({})", found.text, advice), found.is_failure});
    faults_[family.index()] = &fault;
    if (!is_basic(family))
      logging::warn("{}: no {} on this device: {}", device_.title, name, fault.why);
  } else {
    faults_.erase(family.index());
  }
  states_[family.index()].store(found.verdict, std::memory_order_release);
}

device_proof::outcome device_proof::put_question(const kernel_family& family,
                                                 const tutti_operator_desc* use,
                                                 device_facts& facts) {
  if (unanswered_ > 0)
    return {state::bad, false, false, "not asked, since it owes an earlier answer"};
  const std::string what = name_of(family);
  const auto now =
      std::make_shared<exchange>(exchange{family,
                                          what,
                                          key_ + what,
                                          fmt::format("the proof of {} of {}", what, device_.title),
                                          question_of_operator(family, use),
                                          {},
                                          {}});
  const entry_of_question entry(now->key, now->text);
  if (entry.ends > 0)
    if (auto found = ask_in_child(*now)) return std::move(*found);
  const double limit = proof_time_limit();
  // Devices are never closed: this one outlives its answer.
  if (asked_within(
          limit, [this, now] { answer(*now); }, [this, now] { hear_late(*now); })) {
    facts = std::move(now->facts);
    return std::move(now->found);
  }
  if (is_exiting()) require_computing(what);  // nobody is to blame
  ++unanswered_;
  process_journal().give_up(now->key);
  return {state::bad, true, false, fmt::format("no answer within {} s", limit), true};
}

// Earlier processes ended within the question, or waited for it in vain. One that ends in a process
// beside this one, where nothing else happens, counts as wrong.
std::optional<device_proof::outcome> device_proof::ask_in_child(const exchange& now) {
  const auto failure = try_family(device_.name, now.family);
  if (!failure) return std::nullopt;
  if (!failure->empty())
    return outcome{state::bad, true, true, "asked by a process beside this one: " + *failure};
  load_again();
  const auto found = known_.families.find(now.what);
  if (found == known_.families.end()) return outcome{state::good, false, false, {}};
  return outcome{found->second.empty() ? state::good : state::bad, true, false, found->second};
}

void device_proof::answer(exchange& now) const noexcept {
  try {
    now.found = answered(now);
  } catch (const std::exception&) {  // no memory for what is wrong
    now.found = {state::good, false, false, {}};
  }
}

device_proof::outcome device_proof::answered(exchange& now) const {
  const entry_of_question entry(now.key, now.text);  // of this thread, which may call exit()
  outcome found;
  const auto start = std::chrono::steady_clock::now();
  try {
    found = judge(now);
  } catch (const device_error& e) {
    found = failed(now, e);
  } catch (const std::exception& e) {
    found = {state::good, false, false, e.what()};
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  logging::debug("{}: proof of {} took {:.1f} ms: {}", device_.name, now.what, took.count(),
                 found.text.empty() ? "right" : found.text);
  return found;
}

// A device that cannot move bytes, or not run the simplest program that it claims to have, computes
// nothing. Programs may be left to others; transfers are nobody else's.
device_proof::outcome device_proof::failed(const exchange& now, const device_error& e) const {
  outcome found{state::good, false, false, e.what()};
  if (e.code() == TUTTI_ERROR_COMPILE) found.verdict = state::bad;
  if (!is_basic(now.family) || is_exiting()) return found;
  if (e.code() == TUTTI_ERROR_UNSUPPORTED && now.family.kind != kernel_family::transfers)
    return found;
  const bool may_pass = e.code() == TUTTI_ERROR_OUT_OF_MEMORY || e.retryable();
  found.verdict = may_pass ? state::unknown : state::bad;
  found.is_failure = true;
  return found;
}

// In this process the family stays switched off, for somebody may be reading why.
void device_proof::hear_late(const exchange& now) noexcept {
  --unanswered_;
  try {
    const std::lock_guard lock(mutex_);
    if (now.found.is_kept) keep(now.what, now.found, now.facts);
    logging::info("{}: a late answer to the proof of {}: {}", device_.title, now.what,
                  now.found.text.empty() ? "right" : now.found.text);
  } catch (const std::exception&) {  // out of memory: it is asked again
  }
}

device_proof::outcome device_proof::judge(exchange& now) const {
  const auto verdict = [](const std::string& wrong) {
    return wrong.empty() ? outcome{} : outcome{state::bad, true, true, wrong};
  };
  const outcome not_offered{state::good, true, false, "left to the reference device"};
  if (now.family.kind == kernel_family::transfers) return verdict(transfer_mistake(device_));
  if (now.question) {
    const auto got = ask(device_, *now.question);
    return got ? verdict(mistake(now.question->known, *got)) : not_offered;
  }
  const auto q = question_of_program(now.family);
  if (!q) return not_offered;
  try {
    const auto got = ask(device_, *q);
    const std::string wrong = mistake(q->known, *got);
    if (wrong.empty()) add_facts(now.family, *got, now.facts);
    return verdict(wrong);
  } catch (const device_error& e) {
    if (e.code() != TUTTI_ERROR_UNSUPPORTED || is_basic(now.family)) throw;
    return not_offered;
  }
}

device_proof::result device_proof::ask_again(const kernel_family& family) {
  const std::lock_guard lock(mutex_);
  device_facts facts;
  const auto start = std::chrono::steady_clock::now();
  outcome found = put_question(family, nullptr, facts);
  found.is_kept = found.is_kept || found.is_given_up;  // whoever asks again has been told
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  settle(family, found, facts);
  const bool is_used = found.verdict == state::good;
  result r{name_of(family), is_used && found.is_known, found.text, is_used};
  if (r.text.empty()) r.text = fmt::format("right, {:.1f} ms with compilation", took.count());
  return r;
}

void device_proof::ask_again(const std::function<void(const result&)>& tell) {
  std::vector<kernel_family> all = sample_families(device_.limits.computed_dtypes);
  {
    const std::lock_guard lock(mutex_);
    load();
    add_named(all, known_.families);
  }
  for (const kernel_family& family : all) {
    const result r = ask_again(family);
    tell(r);
    if (is_basic(family) && !r.is_right) break;  // nothing else is worth asking for
  }
}

device_facts device_proof::facts() {
  const std::lock_guard lock(mutex_);
  load();
  return known_.facts;
}

std::shared_ptr<device_proof> make_proof(const opened_device& device) {
  if (device.plugin->name == "reference" || !devices_prove_themselves()) return nullptr;
  return std::make_shared<device_proof>(device);
}

const family_fault* switched_off(const opened_device& device, const tutti_program_desc& desc) {
  return device.proof != nullptr ? switched_off(device, families_of(desc)) : nullptr;
}

const family_fault* switched_off(const opened_device& device,
                                 std::span<const kernel_family> families) {
  if (device.proof == nullptr) return nullptr;
  for (const kernel_family& family : families)
    if (const family_fault* found = device.proof->fault_of(family)) return found;
  return nullptr;
}

const family_fault* switched_off(const opened_device& device, const tutti_operator_desc& launch) {
  if (device.proof == nullptr) return nullptr;
  const auto family = family_of(launch);
  return family ? device.proof->fault_of(*family, &launch) : nullptr;
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
  const family_fault* found = is_trusted ? nullptr : device.proof->known_basic_fault(all_known);
  std::string why;
  if (found == nullptr && (!all_known || is_next)) {
    bool is_open = false;
    why = why_not_opened(device, is_open);
    if (is_open && !all_known) found = first_fault(device);
  }
  if (found != nullptr) why = text_of(device, *found);
  if (!why.empty() && (is_trusted || device.proof->is_said_first()))
    logging::warn("auto passes over a device: {}", why);
  return why;
}

void require_basics(const opened_device& device) {
  if (device.proof == nullptr) return;
  if (const family_fault* found = first_fault(device)) [[unlikely]]
    throw device_error(text_of(device, *found), TUTTI_ERROR_DRIVER, 0, false, device.name);
}

}  // namespace tutti::detail
