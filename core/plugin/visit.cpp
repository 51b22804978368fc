// SPDX-License-Identifier: Apache-2.0
#include "plugin/visit.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/exit.hpp"
#include "base/process.hpp"

namespace tutti::plugins {
namespace {

thread_local constinit int visits_here = 0;

/// The visits of all threads, recorded or not, for which exit() waits.
struct visits_under_way {
  std::mutex mutex;
  std::condition_variable changed;
  std::once_flag told;
  int all = 0;

  bool wait(std::chrono::steady_clock::time_point deadline) {
    if (visits_here > 0) return true;  // a plugin that exits, with locks that others may wait for
    std::unique_lock lock(mutex);
    return changed.wait_until(lock, deadline, [this] { return all == 0; });
  }
};

visits_under_way& visits() {
  static auto* const made = new visits_under_way;
  return *made;
}

void end_visit() {
  --visits_here;
  {
    const std::lock_guard lock(visits().mutex);
    --visits().all;
  }
  visits().changed.notify_all();
}

// Throws device_error if the process is exiting.
void begin_visit(std::string_view step) {
  {
    const std::lock_guard lock(visits().mutex);
    ++visits().all;
    ++visits_here;
  }
  // A process that exits from now on waits for this visit, and one that is exiting is detected.
  try {
    std::call_once(visits().told, [] {
      base::wait_at_exit([](auto deadline) { return visits().wait(deadline); });
    });
  } catch (...) {
    end_visit();
    throw;
  }
  if (!base::is_exiting()) return;
  end_visit();
  base::require_computing(step);
}

std::string key_of(const std::filesystem::path& plugin) { return "plugin file " + plugin.string(); }

/// Changes when the plugin file changes.
std::string stamp_of(const std::filesystem::path& plugin) {
  struct stat info {};
  if (::stat(plugin.c_str(), &info) != 0) return "absent";
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::string text_of(const std::filesystem::path& plugin, std::string_view step) {
  return fmt::format("{} of {}", step, plugin.string());
}

}  // namespace

plugin_visit::plugin_visit(safety::journal* notes, const std::filesystem::path& plugin,
                           std::string_view step)
    : notes_(notes), plugin_(plugin), key_(key_of(plugin)) {
  begin_visit(step);
  if (notes != nullptr) ends_ = notes->enter(key_, text_of(plugin, step), stamp_of(plugin));
}

plugin_visit::plugin_visit(safety::journal& notes, std::string key, std::string_view step)
    : notes_(&notes), key_(std::move(key)) {
  begin_visit(step);
  ends_ = notes.enter(key_, step);
}

plugin_visit::~plugin_visit() {
  if (notes_ != nullptr) notes_->leave(key_);
  end_visit();
}

void plugin_visit::go_on(std::string_view step) {
  if (notes_ != nullptr) notes_->go_on(key_, text_of(plugin_, step));
}

std::optional<safety::journal::trace> trace_of(safety::journal& notes,
                                               const std::filesystem::path& plugin) {
  auto found = notes.find(key_of(plugin), stamp_of(plugin));
  if (found && !found->is_verdict) found->text.insert(0, "an earlier process ended within ");
  return found;
}

void fail_plugin(safety::journal& notes, const std::filesystem::path& plugin,
                 std::string_view how) {
  notes.fail(key_of(plugin), how, stamp_of(plugin));
}

void forget_plugin(safety::journal& notes, const std::filesystem::path& plugin) {
  notes.forget(key_of(plugin));
}

}  // namespace tutti::plugins
