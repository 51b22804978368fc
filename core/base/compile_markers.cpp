// SPDX-License-Identifier: Apache-2.0
//
// A marker is a file that its process holds while it compiles: "running N" and what is compiled,
// after N earlier ends. "crashed N" is of a process that went down by a fault in the thread that
// compiles, "stopped N" of one that did by a fault in another thread, or that waited in vain.
// "settled N" stays after a compilation that had such a past; without a past the file is removed.
//
// A fault in another thread may be the application's. But compilers do the same again: what ended a
// process so once is tried as before, and counts where the next attempt ends so as well, within a
// day. A process that is interrupted or killed leaves "running N", which tells nothing of the
// compiler and counts for nothing.
#include "base/compile_markers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "base/crash_witness.hpp"
#include "base/disk_cache.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"

namespace tutti::detail {
namespace {

constexpr std::string_view marker_extension = ".compiling";
constexpr std::string_view running = "running ", crashed = "crashed ", stopped = "stopped ",
                           settled = "settled ";
// One is written over another.
static_assert(running.size() == crashed.size() && running.size() == stopped.size() &&
              running.size() == settled.size() && crashed.starts_with(crash_word) &&
              stopped.starts_with(stop_word));
constexpr uint64_t largest = 65536;  // bytes of a marker
constexpr int64_t day = 24LL * 3600 * 1'000'000'000;
constexpr uint32_t ends_that_count = 2;

uint32_t counted(uint32_t ends) { return ends / ends_that_count; }

struct past {
  uint32_t ends = 0;
  bool has_stopped = false;
  bool has_crashed = false;
  std::string what;

  /// With the one of the process that left it, where that is gone. A crash counts at once.
  uint32_t all_ends() const {
    if (has_crashed) return (counted(ends) + 1) * ends_that_count;
    return ends + (has_stopped ? 1 : 0);
  }
};

past parse(std::string_view text) {
  past p;
  p.has_stopped = text.starts_with(stopped);
  p.has_crashed = text.starts_with(crashed);
  if (!p.has_stopped && !p.has_crashed && !text.starts_with(running) && !text.starts_with(settled))
    return {};
  text.remove_prefix(running.size());
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), p.ends);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  if (text.starts_with('\n')) p.what = text.substr(1);
  return p;
}

/// What nobody holds; an end that does not count yet is forgotten after a day.
past past_of(const private_folder::claim& left) {
  past p = parse(left.content());
  if (p.has_crashed || file_clock_now_ns() - left.modified_ns() < day) return p;
  p.has_stopped = p.has_stopped && p.ends % ends_that_count != 0;
  if (!p.has_stopped) p.ends = counted(p.ends) * ends_that_count;
  return p;
}

std::string line(std::string_view word, uint32_t ends, std::string_view what) {
  return fmt::format("{}{}\n{}", word, ends, what);
}

}  // namespace

struct compile_markers::state {
  struct mark {
    std::string name;
    private_folder::claim claim;
    uint32_t ends;
    std::string what;
    uint32_t holders;                     // that have begun it and not ended
    std::vector<crash_witness> threads;   // those of them that compile it themselves
    std::optional<crash_witness> others;  // where threads of the driver's go on with it

    bool drop_own_thread() {
      const auto mine = std::find_if(threads.begin(), threads.end(),
                                     [](const crash_witness& w) { return w.is_of_this_thread(); });
      if (mine == threads.end()) return false;
      threads.erase(mine);
      return true;
    }
  };

  folder_on_demand folder;
  std::mutex mutex;
  std::map<std::string, mark, std::less<>> begun;

  explicit state(std::filesystem::path path) : folder(std::move(path)) {}

  // The attempt went well, so that an end which did not count yet was none of the compiler's.
  void finish(const mark& m) {
    const uint32_t count = counted(m.ends);
    if (count == 0)
      folder.open()->remove(m.name);
    else
      m.claim.rewrite(line(settled, count * ends_that_count, m.what));
  }
};

compile_markers::compile_markers(std::filesystem::path folder)
    : state_(std::make_unique<state>(std::move(folder))) {}
compile_markers::~compile_markers() = default;

uint32_t compile_markers::begin(std::string_view key, std::string_view what,
                                std::string_view at_crash) {
  if (at_crash.empty()) at_crash = what;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return 0;
  if (const auto found = s.begun.find(key); found != s.begun.end()) {
    ++found->second.holders;
    found->second.threads.emplace_back(found->second.claim.file(), at_crash);
    return counted(found->second.ends);
  }
  const std::string name = cache_file_name(key, marker_extension);
  std::optional<private_folder::claim> claim = folder->hold(name);
  if (!claim) {
    const std::optional<std::string> text = folder->read(name, largest);
    return text ? counted(parse(*text).ends) : 0;
  }
  const uint32_t ends = past_of(*claim).all_ends();
  claim->rewrite(line(running, ends, what));
  const int file = claim->file();
  const auto made = s.begun.emplace(
      std::string(key), state::mark{name, std::move(*claim), ends, std::string(what), 1, {}, {}});
  made.first->second.threads.emplace_back(file, at_crash);
  return counted(ends);
}

void compile_markers::continue_elsewhere(std::string_view key) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const auto found = s.begun.find(key);
  if (found == s.begun.end()) return;
  found->second.drop_own_thread();
  if (!found->second.others)
    found->second.others.emplace(
        crash_witness::of_other_threads(found->second.claim.file(), found->second.what));
}

void compile_markers::end(std::string_view key) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const auto found = s.begun.find(key);
  if (found == s.begun.end()) return;
  state::mark& m = found->second;
  // Where it has gone on elsewhere, this thread has one of another holder at most.
  if (m.threads.size() == m.holders && !m.drop_own_thread()) m.threads.pop_back();
  if (--m.holders > 0) return;
  s.finish(m);
  s.begun.erase(found);
}

void compile_markers::leave(std::string_view key) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const auto found = s.begun.find(key);
  if (found == s.begun.end()) return;
  const state::mark& m = found->second;
  m.claim.rewrite(line(stopped, m.ends, m.what));
  s.begun.erase(found);
}

void compile_markers::end_all() {
  // What runs is the parent's, and so is the mutex, which another thread of it may have held.
  if (is_fork()) return;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (const auto& [key, mark] : s.begun)
    if (!is_crash_noted(mark.claim.file())) s.finish(mark);  // else a handler has called exit()
  s.begun.clear();
}

std::vector<compile_markers::record> compile_markers::records() {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  std::vector<record> all;
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return all;
  for (const auto& file : folder->list()) {
    if (!file.name.ends_with(marker_extension)) continue;
    past p;
    bool is_held = true;
    if (const auto claim = folder->hold(file.name)) {
      p = past_of(*claim);
      is_held = false;
    } else if (const auto text = folder->read(file.name, largest)) {
      p = parse(*text);
    }
    const uint32_t ends = is_held ? p.ends : p.all_ends();
    if (ends > 0) all.push_back({s.folder.path() / file.name, ends, counted(ends), p.what});
  }
  return all;
}

compile_markers& program_markers() {
  static auto* const instance = [] {
    auto* const made = new compile_markers(program_cache().options().used_folder());
    // A process that exits while another of its threads compiles has not ended by the compiler.
    static_cast<void>(std::atexit([] { program_markers().end_all(); }));
    return made;
  }();
  return *instance;
}

}  // namespace tutti::detail
