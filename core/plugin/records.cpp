// SPDX-License-Identifier: Apache-2.0
//
// A record is a file of two lines. "failed" with the plugin file's size and time of change, and
// what `tutti doctor` found. Or a word for what became of the process that was at the step of the
// second line, with the same and how many processes had stopped before, since when: "running" of
// one that still is or was interrupted or killed, which tells nothing of the plugin; "crashed" by a
// fault in the thread that called the plugin; "stopped" by one in another thread, which may be the
// application's and counts where the next process ends so as well, within a day; "exiting" by the
// plugin's own call of exit(); "waiting" of one that had waited for long, however it ended.
#include "plugin/records.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/crash_witness.hpp"
#include "base/disk_cache.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"
#include "plugin/attempts.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".plugin";
constexpr std::string_view running = "running ", crashed = "crashed ", stopped = "stopped ",
                           exiting = "exiting ", waiting = "waiting ", failed = "failed ";
// One is written over another.
static_assert(running.size() == crashed.size() && running.size() == stopped.size() &&
              running.size() == exiting.size() && running.size() == waiting.size() &&
              crashed.starts_with(crash_word) && stopped.starts_with(stop_word));
constexpr int64_t day = 24LL * 3600 * 1'000'000'000;
constexpr uint32_t stops_that_count = 2;
constexpr uint64_t largest = 65536;  // bytes of a record

/// What changes when the plugin file does.
std::string version_of(const fs::path& plugin) {
  struct stat info {};
  if (::stat(plugin.c_str(), &info) != 0) return "absent";
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::string name_of(const fs::path& plugin) {
  return cache_file_name("plugin file " + plugin.string(), extension);
}

/// What `tutti doctor` found of the plugin file as it is now.
std::optional<std::string> verdict_of(std::string_view record, const fs::path& plugin) {
  const std::string start = fmt::format("{}{}\n", failed, version_of(plugin));
  if (!record.starts_with(start)) return std::nullopt;
  return std::string(record.substr(start.size()));
}

/// What earlier processes did with the plugin file as it is now.
struct past {
  std::string_view word = running;
  uint32_t stops = 0;    ///< of processes before the one of the word
  int64_t since_ns = 0;  ///< the begin of the first of them
  std::string step;

  bool is_recent() const { return file_clock_now_ns() - since_ns < day; }
  uint32_t all_stops() const { return is_recent() ? stops + (word == stopped ? 1 : 0) : 0; }

  std::optional<std::string> why_not() const {
    const auto ended = [&](std::string_view how) {
      return fmt::format("an earlier process ended within {} of it, {}", step, how);
    };
    if (word == crashed) return ended("by a crash");
    if (word == exiting) return ended("by the plugin's exit()");
    if (word == waiting) return fmt::format("an earlier process waited in vain for {} of it", step);
    if (all_stops() >= stops_that_count) return ended("by a crash, and so did one before");
    return std::nullopt;
  }
};

std::string to_text(const past& p, const fs::path& plugin) {
  return fmt::format("{}{} {} {}\n{}", p.word, version_of(plugin), p.stops, p.since_ns, p.step);
}

template <class Number>
bool take_number(std::string_view& text, char end, Number& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<size_t>(stop - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != end) return false;
  text.remove_prefix(length + 1);
  return true;
}

std::optional<past> past_of(std::string_view record, const fs::path& plugin) {
  past p;
  const std::string version = version_of(plugin) + " ";
  for (const std::string_view word : {running, crashed, stopped, exiting, waiting}) {
    if (!record.starts_with(word)) continue;
    p.word = word;
    record.remove_prefix(word.size());
    if (!record.starts_with(version)) return std::nullopt;
    record.remove_prefix(version.size());
    if (!take_number(record, ' ', p.stops) || !take_number(record, '\n', p.since_ns))
      return std::nullopt;
    p.step = record;
    return p;
  }
  return std::nullopt;
}

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
  past now;
  std::optional<private_folder::claim>
      claim;                ///< none: nothing is kept, or another process is at it
  bool is_verdict = false;  ///< the record, which stays
  bool is_kept = false;     ///< what becomes of it: the record does not tell of an end already
  std::optional<crash_witness> witness;
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
};

struct plugin_records::state {
  folder_on_demand folder;
  std::mutex mutex;
  std::list<mark> begun;

  explicit state(fs::path path) : folder(std::move(path)) {}

  mark& begin(const fs::path& plugin, std::string_view step);
  void keep(mark& made);

  void finish(const mark& m) {
    if (m.claim && !m.is_verdict) folder.open()->remove(name_of(m.plugin));
  }

  std::string text_of(const mark& m) const {
    return fmt::format("{} of {}", m.now.step, m.plugin.string());
  }

  /// A process that ends from now on has waited in vain.
  void note_wait(mark& m) {
    if (!m.is_kept || m.now.word == waiting) return;
    m.now.word = waiting;
    m.claim->rewrite(to_text(m.now, m.plugin));
  }

  /// In a thread that watches.
  void tell_of_wait(mark& m, std::chrono::seconds time) {
    const std::lock_guard lock(mutex);
    logging::warn(
        "{}: waiting for {} since {} s; should this process end before it returns, `auto` passes "
        "over the plugin from then on",
        m.plugin.string(), m.now.step, time.count());
    note_wait(m);
  }

  /// The process exits in the thread of the attempt.
  void exit_within(mark& m) {
    if (m.is_interrupted()) return;
    logging::error("{}: the plugin ends this process within {}", m.plugin.string(), m.now.step);
    if (!m.is_kept) return;
    m.now.word = exiting;
    m.claim->rewrite(to_text(m.now, m.plugin));
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
  const std::string name = name_of(plugin);
  const std::optional<std::string> record = folder->read(name, largest);
  if (!record) return std::nullopt;
  if (auto verdict = verdict_of(*record, plugin)) return verdict;
  const auto before = past_of(*record, plugin);
  // One that still waits may get its answer yet.
  if (!before || (before->word == waiting && !folder->hold(name))) return std::nullopt;
  return before->why_not();
}

void plugin_records::fail(const fs::path& plugin, std::string_view how) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return;
  try {
    folder->write(name_of(plugin), fmt::format("{}{}\n{}", failed, version_of(plugin), how), {});
  } catch (const std::exception&) {  // nothing is kept then
  }
}

void plugin_records::clear(const fs::path& plugin) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const private_folder* const folder = s.folder.open()) folder->remove(name_of(plugin));
}

void plugin_records::end_others() {
  if (is_fork()) return;  // they are the parent's
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (mark& m : s.begun) {
    if (m.claim && is_crash_noted(m.claim->file())) continue;  // a handler has called exit()
    if (m.thread == std::this_thread::get_id())
      s.exit_within(m);
    else if (m.is_kept && m.now.stops == 0 && m.now.word != waiting)
      s.finish(m);
  }
}

void plugin_records::give_up(const fs::path& plugin) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (mark& m : s.begun) {
    if (m.plugin != plugin || std::exchange(m.is_given_up, true)) continue;
    s.note_wait(m);
    attempts_under_way::instance().forget_one();
  }
}

plugin_records::attempt::attempt(plugin_records* records, const fs::path& plugin,
                                 std::string_view step, std::chrono::seconds before_a_word)
    : under_way_(step), records_(records) {
  if (records_ == nullptr) return;
  mark_ = &records_->state_->begin(plugin, step);
  slow_.emplace(before_a_word,
                [this, before_a_word] { records_->state_->tell_of_wait(*mark_, before_a_word); });
}

plugin_records::mark& plugin_records::state::begin(const fs::path& plugin, std::string_view step) {
  const std::lock_guard lock(mutex);
  mark& made = begun.emplace_back();
  made.plugin = plugin;
  made.now.step = step;
  if (const private_folder* const opened = folder.open())
    if (auto claim = opened->hold(name_of(plugin))) made.claim.emplace(std::move(*claim));
  if (made.claim) keep(made);
  made.witness.emplace(made.is_kept ? made.claim->file() : -1, text_of(made));
  return made;
}

void plugin_records::state::keep(mark& made) {
  made.is_verdict = verdict_of(made.claim->content(), made.plugin).has_value();
  const auto before = past_of(made.claim->content(), made.plugin);
  // What is known of the plugin stays, however this process ends, until an attempt goes well.
  if (made.is_verdict || (before && before->why_not())) return;
  made.now.stops = before ? before->all_stops() : 0;
  made.now.since_ns = made.now.stops > 0 ? before->since_ns : file_clock_now_ns();
  made.claim->rewrite(to_text(made.now, made.plugin));
  made.is_kept = true;
}

void plugin_records::attempt::go_on(std::string_view step) {
  if (mark_ == nullptr) return;
  {
    state& s = *records_->state_;
    const std::lock_guard lock(s.mutex);
    mark_->now.step = step;
    mark_->now.word = running;
    if (mark_->is_kept) mark_->claim->rewrite(to_text(mark_->now, mark_->plugin));
    mark_->witness->tell(s.text_of(*mark_));
  }
  slow_->restart();
}

plugin_records::attempt::~attempt() {
  if (mark_ == nullptr) return;
  slow_.reset();
  state& s = *records_->state_;
  const std::lock_guard lock(s.mutex);
  under_way_.is_given_up = mark_->is_given_up;
  s.finish(*mark_);
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
