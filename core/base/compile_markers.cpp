// SPDX-License-Identifier: Apache-2.0
//
// A marker is a file that its process holds while it compiles: "running N" and what is compiled,
// after N earlier ends. Found unheld, the process that wrote it has ended within the compilation.
// "settled N" stays after a compilation that had such a past; without a past the file is removed.
//
// Why a process ended nobody can tell afterwards: one that is interrupted or killed leaves what a
// crash of the compiler leaves, and the application's signals are its own. But compilers do the
// same again, and people do not: what ended a process once is tried as before, and counts where the
// next attempt ends as well.
#include "base/compile_markers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "base/disk_cache.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"

namespace tutti::detail {
namespace {

constexpr std::string_view extension = ".compiling";
constexpr std::string_view running = "running ", settled = "settled ";
constexpr uint64_t largest = 65536;  // bytes of a marker
constexpr uint32_t ends_that_count = 2;

uint32_t counted(uint32_t ends) { return ends / ends_that_count; }

struct past {
  uint32_t ends = 0;
  bool is_running = false;
  std::string what;
};

past parse(std::string_view text) {
  past p;
  p.is_running = text.starts_with(running);
  if (!p.is_running && !text.starts_with(settled)) return {};
  text.remove_prefix(running.size());
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), p.ends);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  if (text.starts_with('\n')) p.what = text.substr(1);
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
    uint32_t threads = 1;
  };

  const std::filesystem::path path;
  std::mutex mutex;
  bool opened = false;
  std::unique_ptr<private_folder> folder;
  std::map<std::string, mark, std::less<>> begun;

  explicit state(std::filesystem::path p) : path(std::move(p)) {}

  private_folder* open() {
    if (opened || path.empty()) return folder.get();
    opened = true;
    try {
      folder = std::make_unique<private_folder>(path);
    } catch (const std::exception&) {  // the cache says so
    }
    return folder.get();
  }

  // The attempt went well, so that an end which did not count yet was none of the compiler's.
  void finish(const mark& m) const {
    const uint32_t count = counted(m.ends);
    if (count == 0)
      folder->remove(m.name);
    else
      m.claim.rewrite(line(settled, count * ends_that_count, m.what));
  }
};

compile_markers::compile_markers(std::filesystem::path folder)
    : state_(std::make_unique<state>(std::move(folder))) {}
compile_markers::~compile_markers() = default;

uint32_t compile_markers::begin(std::string_view key, std::string_view what) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const private_folder* const folder = s.open();
  if (folder == nullptr) return 0;
  if (const auto found = s.begun.find(key); found != s.begun.end()) {
    ++found->second.threads;
    return counted(found->second.ends);
  }
  const std::string name = cache_file_name(key, extension);
  std::optional<private_folder::claim> claim = folder->hold(name);
  if (!claim) {
    const std::optional<std::string> text = folder->read(name, largest);
    return text ? counted(parse(*text).ends) : 0;
  }
  const past before = parse(claim->content());
  const uint32_t ends = before.ends + (before.is_running ? 1 : 0);
  claim->rewrite(line(running, ends, what));
  s.begun.emplace(std::string(key), state::mark{name, std::move(*claim), ends, std::string(what)});
  return counted(ends);
}

void compile_markers::end(std::string_view key) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const auto found = s.begun.find(key);
  if (found == s.begun.end() || --found->second.threads > 0) return;
  s.finish(found->second);
  s.begun.erase(found);
}

void compile_markers::end_all() {
  // What runs is the parent's, and so is the mutex, which another thread of it may have held.
  if (is_fork()) return;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (const auto& [key, mark] : s.begun) s.finish(mark);
  s.begun.clear();
}

std::vector<compile_markers::record> compile_markers::records() {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  std::vector<record> all;
  const private_folder* const folder = s.open();
  if (folder == nullptr) return all;
  for (const auto& file : folder->list()) {
    if (!file.name.ends_with(extension)) continue;
    past p;
    bool is_held = true;
    if (const auto claim = folder->hold(file.name)) {
      p = parse(claim->content());
      is_held = false;
    } else if (const auto text = folder->read(file.name, largest)) {
      p = parse(*text);
    }
    const uint32_t ends = p.ends + (p.is_running && !is_held ? 1 : 0);
    if (ends > 0) all.push_back({s.path / file.name, ends, counted(ends), p.what});
  }
  return all;
}

compile_markers& program_markers() {
  static auto* const instance = [] {
    const cache_options& options = program_cache().options();
    auto* const made =
        new compile_markers(options.enabled ? options.folder : std::filesystem::path());
    // A process that exits while another of its threads compiles has not ended by the compiler.
    static_cast<void>(std::atexit([] { program_markers().end_all(); }));
    return made;
  }();
  return *instance;
}

}  // namespace tutti::detail
