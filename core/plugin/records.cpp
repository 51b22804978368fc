// SPDX-License-Identifier: Apache-2.0
//
// Attempts, and what is written of them when. record_text.hpp tells of the words.
#include "plugin/records.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <cstdlib>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/crash_witness.hpp"
#include "base/disk_cache.hpp"
#include "base/interrupt_witness.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"
#include "plugin/attempts.hpp"
#include "plugin/record_text.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;
using namespace record_word;

constexpr uint64_t largest = 65536;  // bytes of a record

/// The signals that this thread masks, of those by which people and systems end programs.
std::array<bool, 7> masked_interrupts() {
  constexpr std::array<int, 7> interrupts{SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                          SIGALRM, SIGUSR1, SIGUSR2};
  std::array<bool, 7> masked{};
  sigset_t now;
  if (::pthread_sigmask(SIG_BLOCK, nullptr, &now) != 0) return masked;
  for (size_t i = 0; i < interrupts.size(); ++i)
    masked[i] = ::sigismember(&now, interrupts[i]) == 1;
  return masked;
}

}  // namespace

struct plugin_records::mark {
  fs::path plugin;
  plugin_past now;
  /// Where an earlier process ended without a word, until this one has come back from there.
  std::optional<plugin_past> left;
  std::optional<private_folder::claim>
      claim;                ///< none: nothing is kept, or another process is at it
  bool is_verdict = false;  ///< the record, which stays
  bool is_kept = false;     ///< what becomes of it: the record does not tell of an end already
  bool is_written = false;  ///< the record, with something that has to be put right at the end
  silent_ends ends = silent_ends::tell_nothing;
  std::set<std::string> begun;  ///< steps
  std::optional<crash_witness> witness;
  std::optional<interrupt_witness> interrupts;  ///< while an end without a word would count
  bool is_given_up = false;
  std::thread::id thread = std::this_thread::get_id();
  std::array<bool, 7> masked = masked_interrupts();

  /// An interrupt's handler runs with that masked: who calls exit() there is not the plugin.
  bool is_interrupted() const {
    const auto now_masked = masked_interrupts();
    for (size_t i = 0; i < masked.size(); ++i)
      if (now_masked[i] && !masked[i]) return true;
    return false;
  }

  void write(std::string_view word) {
    now.word = word;
    is_written = true;
    if (word == entered && !interrupts) interrupts.emplace(claim->file());  // before it says so
    claim->rewrite(past_text(now, plugin));
    if (word != entered) interrupts.reset();
  }

  /// Nothing is written for a step that has gone well before.
  void enter(std::string_view step) {
    const bool is_same = now.step == step && now.word != waiting;
    now.step = step;
    begun.insert(now.step);
    if (!is_kept || is_same) return;
    const bool is_known = now.good.contains(now.step);
    now.word = is_known || ends == silent_ends::tell_nothing ? running : entered;
    if (!is_known || is_written) write(now.word);
  }

  /// Whatever has begun has come back. Not what a plugin has forked, which comes back as well.
  void finish() {
    if (!claim || is_verdict || is_fork()) return;
    const size_t before = now.good.size();
    if (ends == silent_ends::count) now.good.insert(begun.begin(), begun.end());
    if (is_kept && !is_written && now.good.size() == before) return;
    const bool is_left = left && !begun.contains(left->step);
    now.stops = is_left ? left->stops : 0;
    now.since_ns = is_left ? left->since_ns : 0;
    now.step = is_left ? left->step : "a use";
    write(is_left ? entered : passed);
    interrupts.reset();
  }

  /// Nothing is known of how the last step would have gone, nor of what comes.
  void forget() {
    if (now.stops > 0 && !left) {
      write(running);
    } else {
      begun.erase(now.step);
      finish();
    }
    is_kept = false;
  }

  std::string text() const { return fmt::format("{} of {}", now.step, plugin.string()); }

  /// A process that ends from now on has waited in vain.
  void note_wait() {
    if (is_kept && now.word != waiting) write(waiting);
  }

  /// An interrupt's handler exits in the thread of the attempt, with nothing that it may not call.
  void exit_of_handler() const {
    if (is_kept && is_written) note_interrupt(claim->file());
  }

  /// The process exits in the thread of the attempt.
  void exit_within() {
    logging::error("{}: the plugin ends this process within {}", plugin.string(), now.step);
    if (is_kept) write(exiting);
  }
};

struct plugin_records::state {
  folder_on_demand folder;
  std::mutex mutex;
  std::list<mark> begun;

  explicit state(fs::path path) : folder(std::move(path)) {}

  mark& begin(const fs::path& plugin, std::string_view step, silent_ends ends);
  static void keep(mark& made);

  /// In a thread that watches.
  void tell_of_wait(mark& m, std::chrono::seconds time) {
    if (is_exiting()) return;  // which may be what it waits for
    const std::lock_guard lock(mutex);
    logging::warn(
        "{}: waiting for {} since {} s; should this process end before it returns, `auto` passes "
        "over the plugin from then on",
        m.plugin.string(), m.now.step, time.count());
    m.note_wait();
  }
};

plugin_records::plugin_records(fs::path folder)
    : state_(std::make_unique<state>(std::move(folder))) {}
plugin_records::~plugin_records() = default;

std::optional<std::string> plugin_records::failure(const fs::path& plugin) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return std::nullopt;
  const std::string name = record_name(plugin);
  const std::optional<std::string> record = folder->read(name, largest);
  if (!record) return std::nullopt;
  if (auto verdict = verdict_in(*record, plugin)) return verdict;
  const auto before = past_in(*record, plugin);
  // One that still is at it may get its answer yet.
  if (!before) return std::nullopt;
  if ((before->word == waiting || before->word == entered) && !folder->hold(name))
    return std::nullopt;
  return before->why_not();
}

void plugin_records::fail(const fs::path& plugin, std::string_view how) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return;
  try {
    folder->write(record_name(plugin), verdict_text(plugin, how), {});
  } catch (const std::exception&) {  // nothing is kept then
  }
}

void plugin_records::clear(const fs::path& plugin) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const private_folder* const folder = s.folder.open()) folder->remove(record_name(plugin));
}

void plugin_records::end_others() {
  if (is_fork()) return;  // they are the parent's
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (mark& m : s.begun) {
    if (m.claim && is_crash_noted(m.claim->file())) continue;  // a handler has called exit()
    if (m.thread == std::this_thread::get_id())
      m.is_interrupted() ? m.exit_of_handler() : m.exit_within();
    else if (m.is_kept && m.is_written && m.now.word != waiting)
      m.forget();
  }
}

void plugin_records::give_up(const fs::path& plugin) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (mark& m : s.begun) {
    if (m.plugin != plugin || std::exchange(m.is_given_up, true)) continue;
    m.note_wait();
    attempts_under_way::instance().forget_one();
  }
}

plugin_records::attempt::attempt(plugin_records* records, const fs::path& plugin,
                                 std::string_view step, std::chrono::seconds before_a_word,
                                 silent_ends ends)
    : under_way_(step), records_(records) {
  if (records_ == nullptr) return;
  mark_ = &records_->state_->begin(plugin, step, ends);
  slow_.emplace(before_a_word,
                [this, before_a_word] { records_->state_->tell_of_wait(*mark_, before_a_word); });
}

plugin_records::mark& plugin_records::state::begin(const fs::path& plugin, std::string_view step,
                                                   silent_ends ends) {
  const std::lock_guard lock(mutex);
  mark& made = begun.emplace_back();
  made.plugin = plugin;
  made.ends = ends;
  if (const private_folder* const opened = folder.open())
    if (auto claim = opened->hold(record_name(plugin))) made.claim.emplace(std::move(*claim));
  if (made.claim) keep(made);
  made.enter(step);
  made.witness.emplace(made.is_kept ? made.claim->file() : -1, made.text());
  return made;
}

void plugin_records::state::keep(mark& made) {
  made.is_verdict = verdict_in(made.claim->content(), made.plugin).has_value();
  auto before = past_in(made.claim->content(), made.plugin);
  // A crash that was written over "passed" has no other time.
  if (before && before->since_ns == 0) before->since_ns = made.claim->modified_ns();
  if (before) made.now.good = before->good;
  // What is known of the plugin stays, however this process ends, until an attempt goes well.
  if (made.is_verdict || (before && before->why_not())) return;
  made.now.stops = before ? before->all_stops() : 0;
  made.now.since_ns = file_clock_now_ns();
  if (made.now.stops > 0) made.now.since_ns = before->since_ns;
  if (before && before->word == entered && before->is_recent()) made.left = *before;
  // What else an earlier process has left behind is put right in any case.
  made.is_written = !before || (before->word != passed && before->word != entered);
  made.is_kept = true;
}

void plugin_records::attempt::go_on(std::string_view step) {
  if (mark_ == nullptr) return;
  {
    state& s = *records_->state_;
    const std::lock_guard lock(s.mutex);
    mark_->enter(step);
    mark_->witness->tell(mark_->text());
  }
  slow_->restart();
}

plugin_records::attempt::~attempt() {
  if (mark_ == nullptr) return;
  slow_.reset();
  state& s = *records_->state_;
  const std::lock_guard lock(s.mutex);
  under_way_.is_given_up = mark_->is_given_up;
  mark_->finish();
  s.begun.remove_if([&](const mark& m) { return &m == mark_; });
}

plugin_records::attempt::under_way::under_way(std::string_view step) {
  attempts_under_way::instance().begin(step);
}
plugin_records::attempt::under_way::~under_way() {
  attempts_under_way::instance().end(is_given_up);
}

plugin_records& known_plugins() {
  static auto* const instance = [] {
    auto* const made = new plugin_records(program_cache().options().used_folder());
    // A plugin that calls exit() is left marked; what another thread does meanwhile is not to
    // blame.
    static_cast<void>(std::atexit([] { known_plugins().end_others(); }));
    return made;
  }();
  return *instance;
}

}  // namespace tutti::detail
