// SPDX-License-Identifier: Apache-2.0
//
// A record is a file of two lines: a word with the plugin file's size and time of change, and a
// text. "running": the text is the step that a process is at that holds the record, or within which
// it has ended; "failed": the text is what `tutti doctor` found.
#include "plugin/records.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>

#include "base/disk_cache.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".plugin";
constexpr std::string_view running = "running ", failed = "failed ";
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

std::string content(std::string_view word, const fs::path& plugin, std::string_view text) {
  return fmt::format("{}{}\n{}", word, version_of(plugin), text);
}

/// The text of a record of that word and of the plugin file as it is now.
std::optional<std::string> text_of(std::string_view record, std::string_view word,
                                   const fs::path& plugin) {
  const std::string start = content(word, plugin, {});
  if (!record.starts_with(start)) return std::nullopt;
  return std::string(record.substr(start.size()));
}

}  // namespace

struct plugin_records::mark {
  fs::path plugin;
  std::string step;
  std::optional<private_folder::claim>
      claim;           ///< none: nothing is kept, or another process is at it
  std::string before;  ///< a verdict that stays; empty: none
  std::thread::id thread = std::this_thread::get_id();
};

struct plugin_records::state {
  folder_on_demand folder;
  std::mutex mutex;
  std::list<mark> begun;

  explicit state(fs::path path) : folder(std::move(path)) {}

  void finish(const mark& m) {
    if (!m.claim) return;
    if (m.before.empty())
      folder.open()->remove(name_of(m.plugin));
    else
      m.claim->rewrite(m.before);
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
  if (auto verdict = text_of(*record, failed, plugin)) return verdict;
  if (!text_of(*record, running, plugin)) return std::nullopt;
  // Held: its process is at it right now.
  const auto claim = folder->hold(name);
  if (!claim) return std::nullopt;
  const auto step = text_of(claim->content(), running, plugin);
  if (!step) {
    if (claim->content().empty()) folder->remove(name);  // made by hold()
    return std::nullopt;
  }
  return fmt::format("an earlier process ended within {} of it, by itself or by force", *step);
}

void plugin_records::fail(const fs::path& plugin, std::string_view how) {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return;
  try {
    folder->write(name_of(plugin), content(failed, plugin, how), {});
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
  for (const mark& m : s.begun) {
    if (m.thread != std::this_thread::get_id())
      s.finish(m);
    else
      logging::error("{}: the plugin ends this process within {}", m.plugin.string(), m.step);
  }
}

plugin_records::attempt::attempt(plugin_records* records, const fs::path& plugin,
                                 std::string_view step)
    : records_(records) {
  if (records_ == nullptr) return;
  state& s = *records_->state_;
  const std::lock_guard lock(s.mutex);
  mark& made = s.begun.emplace_back();
  mark_ = &made;
  made.plugin = plugin;
  made.step = step;
  const private_folder* const folder = s.folder.open();
  if (folder == nullptr) return;
  if (auto claim = folder->hold(name_of(plugin))) made.claim.emplace(std::move(*claim));
  if (!made.claim) return;
  if (text_of(made.claim->content(), failed, plugin)) made.before = made.claim->content();
  made.claim->rewrite(content(running, plugin, step));
}

void plugin_records::attempt::go_on(std::string_view step) {
  if (mark_ == nullptr) return;
  const std::lock_guard lock(records_->state_->mutex);
  mark_->step = step;
  if (mark_->claim) mark_->claim->rewrite(content(running, mark_->plugin, step));
}

plugin_records::attempt::~attempt() {
  if (mark_ == nullptr) return;
  state& s = *records_->state_;
  const std::lock_guard lock(s.mutex);
  s.finish(*mark_);
  s.begun.remove_if([&](const mark& m) { return &m == mark_; });
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
