// SPDX-License-Identifier: Apache-2.0
//
// A file has three parts: "WORD ENDS SINCE", the stamp, and the text. ENDS is the number of
// processes that ended within the step before, the last of them SINCE nanoseconds after 1970. The
// word is "entered" while a process is within the step or if it ended there, "settled" after a step
// with such a past has succeeded, "failed" for a verdict.
#include "safety/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/disk_cache.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"

namespace tutti::safety {
namespace {

constexpr std::string_view entry_ending = ".entered";
constexpr std::uint64_t largest = 65536;  // bytes of a file
constexpr std::int64_t day = 24LL * 3600 * 1'000'000'000;
constexpr std::uint32_t ends_of_the_usual_way = 2, ends_of_the_safer_way = 4;

struct content {
  std::string word, stamp, text;
  std::uint32_t ends = 0;
  std::int64_t since_ns = 0;

  bool is_recent() const { return base::file_clock_now_ns() - since_ns < day; }
  std::uint32_t care() const {
    if (ends >= ends_of_the_safer_way && is_recent()) return 3;
    if (ends > ends_of_the_usual_way || (ends == ends_of_the_usual_way && is_recent())) return 2;
    return ends == 1 && is_recent() ? 1 : 0;
  }
  std::string written() const {
    return fmt::format("{} {} {}\n{}\n{}", word, ends, since_ns, stamp, text);
  }
};

/// Up to `end`, which is removed with it; everything if it does not occur.
std::string_view cut(std::string_view& from, char end) {
  const std::size_t at = std::min(from.find(end), from.size());
  const std::string_view part = from.substr(0, at);
  from.remove_prefix(std::min(at + 1, from.size()));
  return part;
}

template <class Number>
bool read_number(std::string_view text, Number& to) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && stop == text.data() + text.size();
}

/// Nothing if a file is damaged.
content read_entry(std::string_view file) {
  content c;
  c.word = cut(file, ' ');
  const bool is_whole = (c.word == "entered" || c.word == "settled" || c.word == "failed") &&
                        read_number(cut(file, ' '), c.ends) &&
                        read_number(cut(file, '\n'), c.since_ns);
  if (!is_whole) return {};
  c.stamp = cut(file, '\n');
  c.text = file;
  return c;
}

/// For a file that no process held: the process that entered the step ended there.
content past_of(const base::private_folder::claim& found) {
  content c = read_entry(found.content());
  if (c.word != "entered") return c;
  ++c.ends;
  c.since_ns = found.modified_ns();
  return c;
}

std::string file_of(std::string_view key) { return base::cache_file_name(key, entry_ending); }

}  // namespace

struct journal::state {
  struct mark {
    base::private_folder::claim claim;
    content now;
    std::vector<std::thread::id> threads{};  // one for each time that it was entered
  };

  const std::filesystem::path path;
  std::unique_ptr<base::private_folder> opened;
  std::mutex mutex;
  std::map<std::string, mark, std::less<>> entered;
  bool is_opened = false, is_closed = false;

  explicit state(std::filesystem::path folder) : path(std::move(folder)) {}
  /// Null if the path is empty or the folder cannot be used, which the cache's warning reports.
  const base::private_folder* folder() {
    if (is_opened || path.empty()) return opened.get();
    is_opened = true;
    try {
      opened = std::make_unique<base::private_folder>(path);
    } catch (const std::exception&) {
    }
    return opened.get();
  }
};

journal::journal(std::filesystem::path folder)
    : state_(std::make_unique<state>(std::move(folder))) {}
journal::~journal() = default;

std::uint32_t journal::enter(std::string_view key, std::string_view text, std::string_view stamp) {
  if (base::is_fork()) return 0;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const base::private_folder* const folder = s.folder();
  if (folder == nullptr || s.is_closed) return 0;
  if (const auto found = s.entered.find(key); found != s.entered.end()) {
    found->second.threads.push_back(std::this_thread::get_id());
    return found->second.now.care();
  }
  auto claim = folder->hold(file_of(key));
  if (!claim) {  // another process is within it
    const auto file = folder->read(file_of(key), largest);
    return file ? read_entry(*file).care() : 0;
  }
  content now = past_of(*claim);
  if (now.stamp != stamp || now.word == "failed") now = {};
  now.word = "entered";
  now.stamp = stamp;
  now.text = text;
  const std::uint32_t care = now.care();
  claim->rewrite(now.written());
  s.entered.emplace(std::string(key),
                    state::mark{std::move(*claim), std::move(now), {std::this_thread::get_id()}});
  return care;
}

void journal::go_on(std::string_view key, std::string_view text) {
  if (base::is_fork()) return;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const auto found = s.entered.find(key);
  if (found == s.entered.end()) return;
  found->second.now.text = text;
  found->second.claim.rewrite(found->second.now.written());
}

void journal::leave(std::string_view key, past before) {
  if (base::is_fork()) return;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const auto found = s.entered.find(key);
  if (found == s.entered.end()) return;
  state::mark& m = found->second;
  const auto mine = std::find(m.threads.begin(), m.threads.end(), std::this_thread::get_id());
  m.threads.erase(mine != m.threads.end() ? mine : m.threads.begin());
  if (!m.threads.empty()) return;
  if (before == past::settled && m.now.care() > 1) {
    m.now.word = "settled";
    m.claim.rewrite(m.now.written());
  } else {
    s.folder()->remove(file_of(key));
  }
  s.entered.erase(found);
}

void journal::close() {
  if (base::is_fork()) return;  // they are the parent's, and so may the mutex be
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.is_closed = true;
  std::erase_if(s.entered, [&](const auto& entry) {
    const state::mark& m = entry.second;
    if (std::find(m.threads.begin(), m.threads.end(), std::this_thread::get_id()) !=
        m.threads.end()) {
      logging::error("this process ends within {}", m.now.text);
      return false;
    }
    if (m.claim.content().empty())
      s.folder()->remove(file_of(entry.first));
    else
      m.claim.rewrite(m.claim.content());
    return true;
  });
}

std::optional<journal::trace> journal::find(std::string_view key, std::string_view stamp) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const base::private_folder* const folder = s.folder();
  if (folder == nullptr || s.entered.contains(key) || !folder->read(file_of(key), largest))
    return std::nullopt;
  const auto claim = folder->hold(file_of(key));
  if (!claim) return std::nullopt;  // a process that is still within it may return
  const content c = past_of(*claim);
  const bool tells = c.word == "entered" || (c.word == "failed" && c.is_recent());
  if (!tells || c.stamp != stamp) return std::nullopt;
  return trace{c.word == "failed", c.text};
}

void journal::fail(std::string_view key, std::string_view verdict, std::string_view stamp) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const base::private_folder* const folder = s.folder();
  if (folder == nullptr) return;
  content c;
  c.word = "failed";
  c.since_ns = base::file_clock_now_ns();
  c.stamp = stamp;
  c.text = verdict;
  try {
    folder->write(file_of(key), c.written(), {});
  } catch (const std::exception&) {  // nothing is stored then
  }
}

void journal::forget(std::string_view key) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const base::private_folder* const folder = s.folder()) folder->remove(file_of(key));
}

std::vector<journal::record> journal::all() {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  std::vector<record> found;
  const base::private_folder* const folder = s.folder();
  if (folder == nullptr) return found;
  for (const auto& file : folder->list()) {
    if (!file.name.ends_with(entry_ending)) continue;
    const auto claim = folder->hold(file.name);
    if (!claim) continue;
    const content c = past_of(*claim);
    if (c.ends > 0) found.push_back({s.path / file.name, c.care(), c.text});
  }
  return found;
}

journal& process_journal() {
  static auto* const instance = [] {
    auto* const made = new journal(base::program_cache().options().used_folder());
    static_cast<void>(std::atexit([] { process_journal().close(); }));
    return made;
  }();
  return *instance;
}

}  // namespace tutti::safety
