// SPDX-License-Identifier: Apache-2.0
//
// Location and size of these folders.
#include "base/driver_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/disk_cache.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/private_folder.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;
using file_time = fs::file_time_type;

constexpr std::chrono::hours recent(1);
constexpr const char* stamp_name = ".trimmed";
constexpr const char* use_name = ".used";  // locked by the processes that use the folder

struct unit {
  fs::path path;
  uint64_t bytes = 0;
  file_time used = file_time::min();
};

// Other processes may remove files meanwhile: missing files count as empty.
void count_file(const fs::directory_entry& file, unit& into) {
  std::error_code gone;
  const file_time at = file.last_write_time(gone);
  if (!gone) into.used = std::max(into.used, at);
  if (!file.is_regular_file(gone) || file.is_symlink(gone)) return;
  const uint64_t bytes = file.file_size(gone);
  if (!gone) into.bytes += bytes;
}

unit measure(const fs::directory_entry& entry) {
  unit u{entry.path()};
  count_file(entry, u);
  std::error_code error;
  if (entry.is_symlink(error) || !entry.is_directory(error)) return u;
  for (fs::recursive_directory_iterator i(entry.path(), error), end; !error && i != end;
       i.increment(error))
    count_file(*i, u);
  return u;
}

std::vector<unit> units_of(const fs::path& folder) {
  std::vector<unit> all;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    std::error_code ignored;
    const fs::path name = i->path().filename();
    if (i->is_symlink(ignored) || name == stamp_name || name == use_name) continue;
    if (!i->is_directory(ignored)) {
      all.push_back(measure(*i));
      continue;
    }
    std::error_code inner;
    for (fs::directory_iterator j(i->path(), inner); !inner && j != end; j.increment(inner))
      all.push_back(measure(*j));
  }
  return all;
}

// Scanning everything takes too long for every start of a process.
bool is_due(const fs::path& folder) {
  const fs::path stamp = folder / stamp_name;
  std::error_code error;
  const file_time last = fs::last_write_time(stamp, error);
  if (!error && file_time::clock::now() - last < recent) return false;
  std::ofstream(stamp, std::ios::trunc).flush();
  fs::last_write_time(stamp, file_time::clock::now(), error);
  return true;
}

// Empty if it is usable, otherwise the problem.
std::string prepare(const fs::path& parent, const fs::path& folder) {
  try {
    const private_folder outer(parent);
    const private_folder inner(folder);
    return inner.writable() ? std::string() : folder.string() + ": the folder is not writable";
  } catch (const std::exception& e) {
    return e.what();
  }
}

// Until the process ends. A process that clears the folder holds it only briefly; if it cannot be
// locked at all, it is used without a lock.
void use_folder(const fs::path& folder) {
  static std::mutex mutex;
  static auto* const used = new std::map<fs::path, private_folder::claim>;
  const std::lock_guard lock(mutex);
  if (used->contains(folder)) return;
  try {
    const private_folder ours(folder);
    for (int attempt = 0; attempt < 100; ++attempt) {
      if (auto mine = ours.share(use_name)) {
        used->emplace(folder, std::move(*mine));
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  } catch (const std::exception& e) {
    logging::debug("folder of a driver: {}", e.what());
  }
}

void require_plain(std::string_view name) {
  constexpr std::size_t longest = 100;
  const bool is_plain = !name.empty() && name.size() <= longest && name != "." && name != ".." &&
                        std::none_of(name.begin(), name.end(), [](char c) {
                          return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
                        });
  if (!is_plain)
    throw value_error(fmt::format("\"{}\" is no name of a folder", one_line(name, 80)));
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
    if (const std::string problem = prepare(parent, folder); !problem.empty()) {
      logging::info("folder of a driver: {}", problem);
      continue;
    }
    use_folder(folder);
    if (is_due(folder)) trim_driver_folder(folder, options.limit_bytes);
    return folder;
  }
  return std::nullopt;
}

std::vector<fs::path> driver_folders_in(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    std::error_code ignored;
    const bool is_ours =
        fs::exists(i->path() / use_name, ignored) || fs::exists(i->path() / stamp_name, ignored);
    if (is_ours && !i->is_symlink(ignored) && i->is_directory(ignored)) all.push_back(i->path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

driver_folder_size size_of_driver_folder(const fs::path& folder) {
  driver_folder_size size;
  std::error_code error;
  for (fs::recursive_directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    const fs::path name = i->path().filename();
    std::error_code gone;
    if (name == stamp_name || name == use_name || i->is_symlink(gone) || !i->is_regular_file(gone))
      continue;
    const uint64_t bytes = i->file_size(gone);
    if (gone) continue;
    ++size.files;
    size.bytes += bytes;
  }
  return size;
}

bool is_driver_folder_used(const fs::path& folder) {
  try {
    return !private_folder(folder).hold(use_name).has_value();
  } catch (const std::exception&) {
    return false;
  }
}

bool clear_driver_folder(const fs::path& folder) {
  const private_folder ours(folder);
  const auto alone = ours.hold(use_name);
  if (!alone) {
    trim_driver_folder(folder, 0);
    return false;
  }
  std::error_code error;
  std::vector<fs::path> all;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
    if (i->path().filename() != use_name) all.push_back(i->path());
  for (const fs::path& one : all) fs::remove_all(one, error);
  return true;
}

void trim_driver_folder(const fs::path& folder, uint64_t limit_bytes) {
  std::vector<unit> all = units_of(folder);
  uint64_t total = 0;
  for (const unit& u : all) total += u.bytes;
  if (total <= limit_bytes) return;
  std::sort(all.begin(), all.end(), [](const unit& a, const unit& b) { return a.used < b.used; });
  const uint64_t goal = limit_bytes - limit_bytes / 10;
  const file_time now = file_time::clock::now();
  for (const unit& u : all) {
    if (total <= goal || now - u.used < recent) return;
    std::error_code ignored;
    fs::remove_all(u.path, ignored);
    total -= u.bytes;
  }
}

}  // namespace tutti::detail
