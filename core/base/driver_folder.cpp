// SPDX-License-Identifier: Apache-2.0
//
// Location and size of these folders.
#include "base/driver_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/disk_cache.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/private_folder.hpp"
#include "tutti/error.hpp"

namespace tutti::base {
namespace {

namespace fs = std::filesystem;
using file_time = fs::file_time_type;

constexpr std::chrono::hours recent(1);
// Locked by the processes that use the folder; its time is that of the last scan.
constexpr const char* use_name = ".used";

struct unit {
  fs::path path;
  uint64_t files = 0, bytes = 0;
  file_time used = file_time::min();
};

// The entries at most `levels` down, with the files below them. Other processes may remove files
// meanwhile: missing files count as empty.
std::vector<unit> units_of(const fs::path& folder, int levels) {
  std::vector<unit> all;
  std::error_code error;
  for (fs::recursive_directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    if (i.depth() < levels) all.push_back({i->path()});
    std::error_code gone;
    if (i->path().filename() == use_name || i->is_symlink(gone) || !i->is_regular_file(gone))
      continue;
    const uint64_t bytes = i->file_size(gone);
    const file_time at = gone ? file_time() : i->last_write_time(gone);
    if (gone) continue;
    unit& u = all.back();
    ++u.files;
    u.bytes += bytes;
    u.used = std::max(u.used, at);
  }
  std::erase_if(all, [](const unit& u) { return u.files == 0; });
  return all;
}

// Removes the oldest units until fewer than `goal` bytes are left, but none newer than `newest`.
driver_files remove_oldest(const fs::path& folder, std::vector<unit> all, uint64_t goal,
                           file_time newest) {
  std::sort(all.begin(), all.end(), [](const unit& a, const unit& b) { return a.used < b.used; });
  uint64_t total = 0;
  for (const unit& u : all) total += u.bytes;
  driver_files removed{folder};
  for (const unit& u : all) {
    if (total - removed.bytes < goal || u.used > newest) break;
    std::error_code ignored;
    fs::remove_all(u.path, ignored);
    removed.files += u.files;
    removed.bytes += u.bytes;
  }
  return removed;
}

// Locks the folder until the process ends; one that cannot be locked is used without a lock. True
// if it is to be trimmed: scanning it takes too long for every start of a process.
bool use_folder(const private_folder& ours, const fs::path& folder) {
  static std::mutex mutex;
  static auto* const used = new std::map<fs::path, private_folder::claim>;
  const std::lock_guard lock(mutex);
  for (int attempt = 0; !used->contains(folder) && attempt < 100; ++attempt) {
    if (auto mine = ours.share(use_name))
      used->emplace(folder, std::move(*mine));
    else  // a process that clears the folder holds it briefly
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::error_code error;
  const file_time now = file_time::clock::now();
  const file_time last = fs::last_write_time(folder / use_name, error);
  if (error || now - last < recent) return false;
  fs::last_write_time(folder / use_name, now, error);
  return true;
}

void require_plain(std::string_view name) {
  constexpr std::size_t longest = 100;
  const bool is_plain = !name.empty() && name.size() <= longest && name != "." && name != ".." &&
                        std::none_of(name.begin(), name.end(), [](char c) {
                          return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
                        });
  if (!is_plain) base::fail<value_error>("\"{}\" is no name of a folder", one_line(name, 80));
}

}  // namespace

std::optional<fs::path> driver_folder(std::string_view name) {
  require_plain(name);
  const cache_options& options = program_cache().options();
  std::vector<fs::path> parents;
  if (!options.folder.empty()) parents.push_back(fs::absolute(options.folder));
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (!error) parents.push_back(temporary / ("tutti-" + std::to_string(::geteuid())));
  for (const fs::path& parent : parents) {
    const fs::path folder = parent / name;
    try {
      const private_folder outer(parent), inner(folder);
      if (!inner.writable())
        base::fail<io_error>("{}: the folder is not writable", folder.string());
      if (use_folder(inner, folder)) trim_driver_folder(folder, options.limit_bytes);
      return folder;
    } catch (const std::exception& e) {
      logging::info("folder of a driver: {}", e.what());
    }
  }
  return std::nullopt;
}

std::vector<driver_files> driver_folders_in(const fs::path& folder) {
  std::vector<driver_files> all;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    std::error_code ignored;
    if (!fs::exists(i->path() / use_name, ignored) || i->is_symlink(ignored)) continue;
    driver_files found{i->path()};
    for (const unit& u : units_of(found.folder, 1)) {
      found.files += u.files;
      found.bytes += u.bytes;
    }
    try {
      found.in_use = !private_folder(found.folder).hold(use_name);
    } catch (const std::exception&) {  // nobody uses it
    }
    all.push_back(std::move(found));
  }
  std::sort(all.begin(), all.end(),
            [](const driver_files& a, const driver_files& b) { return a.folder < b.folder; });
  return all;
}

driver_files trim_driver_folder(const fs::path& folder, uint64_t limit_bytes) {
  std::vector<unit> all = units_of(folder, 2);
  uint64_t total = 0;
  for (const unit& u : all) total += u.bytes;
  if (total <= limit_bytes) return {folder};
  return remove_oldest(folder, std::move(all), limit_bytes - limit_bytes / 10,
                       file_time::clock::now() - recent);
}

driver_files clear_driver_folder(const fs::path& folder) {
  if (const auto alone = private_folder(folder).hold(use_name))
    return remove_oldest(folder, units_of(folder, 1), 0, file_time::max());
  driver_files removed = trim_driver_folder(folder, 0);
  removed.in_use = true;
  return removed;
}

}  // namespace tutti::base
