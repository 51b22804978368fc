// SPDX-License-Identifier: Apache-2.0
#include "cache_contents.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/disk_cache.hpp"
#include "base/private_folder.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

constexpr int64_t hour_ns = int64_t{3600} * 1'000'000'000;

/// Removes "LENGTH:TEXT" from the beginning of `from`, as host.cpp writes its keys.
std::optional<std::string_view> take_field(std::string_view& from) {
  std::size_t length = 0;
  const auto [stop, error] = std::from_chars(from.data(), from.data() + from.size(), length);
  const auto digits = static_cast<std::size_t>(stop - from.data());
  if (error != std::errc() || digits >= from.size() || *stop != ':' ||
      length > from.size() - digits - 1)
    return std::nullopt;
  const std::string_view text = from.substr(digits + 1, length);
  from.remove_prefix(digits + 1 + length);
  return text;
}

/// "PLUGIN: DEVICE" for a key that begins with host.cpp's cache_prefix().
std::optional<std::string> device_of(std::string_view key) {
  std::optional<std::string_view> fields[5];  // ABI, name, version, build, device
  for (auto& field : fields)
    if (!(field = take_field(key))) return std::nullopt;
  std::string device(*fields[4]);
  std::replace_if(
      device.begin(), device.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return std::string(*fields[1]) + ": " + device;
}

/// A file of the folder that is not an entry of the program cache; empty: not Tutti's.
std::string_view kind_of_file(std::string_view name) {
  if (name.ends_with(".entered")) return "entries of the journal";
  if (name.ends_with(".tmp") && name.find(".tutti.") != std::string_view::npos)
    return "unfinished writes";
  return {};
}

void add(std::vector<cache_share>& to, const cache_use& use, uint64_t bytes) {
  const auto found =
      std::find_if(to.begin(), to.end(), [&](const cache_share& s) { return s.use == use; });
  cache_share& share = found != to.end() ? *found : to.emplace_back(cache_share{use, 0, 0});
  ++share.entries;
  share.bytes += bytes;
}

/// Locks that processes hold while they work.
bool is_mark(std::string_view name) { return name.ends_with(".entered"); }

bool is_entry(std::string_view name) { return name.ends_with(".tutti"); }

}  // namespace

cache_use use_of_key(std::string_view key) {
  if (key.starts_with("sha256 of ")) return {"hashes of plugin files", {}};
  if (key.starts_with("throughput of ")) {
    const std::string_view lines = key.substr(std::min(key.find('\n') + 1, key.size()));
    return {"measured speeds", std::string(lines.substr(0, lines.find('\n')))};
  }
  if (key.starts_with("proof ")) {
    const auto device = device_of(key.substr(std::min(key.find('\n') + 1, key.size())));
    return {"answers of devices", device.value_or("")};
  }
  if (auto device = device_of(key)) return {"compiled programs", std::move(*device)};
  return {"others", {}};
}

std::optional<cache_contents> contents_of_cache(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return std::nullopt;
  const base::private_folder ours(folder);
  cache_contents all;
  for (const base::private_folder::entry& file : ours.list()) {
    if (is_entry(file.name)) {
      const auto key = base::key_of_entry(folder / file.name);
      add(all.shares, key ? use_of_key(*key) : cache_use{"damaged", {}}, file.bytes);
    } else if (const std::string_view kind = kind_of_file(file.name); !kind.empty()) {
      add(all.shares, {std::string(kind), {}}, file.bytes);
    }
  }
  std::sort(all.shares.begin(), all.shares.end(),
            [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  all.drivers = base::driver_folders_in(folder);
  return all;
}

cache_removal clear_cache(const fs::path& folder) {
  cache_removal result;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return result;
  const base::private_folder ours(folder);
  const int64_t now = base::file_clock_now_ns();
  for (const base::private_folder::entry& file : ours.list()) {
    const std::string_view kind = kind_of_file(file.name);
    if (!is_entry(file.name) && kind.empty()) continue;
    if (kind == "unfinished writes" && now - file.modified_ns < hour_ns)
      continue;  // of a process that may be working
    if (is_mark(file.name)) {
      const auto claim = ours.hold(file.name);
      if (claim) ours.remove(file.name);
      if (!claim) {
        ++result.held;
        continue;
      }
    } else {
      ours.remove(file.name);
    }
    ++result.files;
    result.bytes += file.bytes;
  }
  for (const base::driver_files& driver : base::driver_folders_in(folder)) {
    const base::driver_files removed = base::clear_driver_folder(driver.folder);
    if (removed.in_use) result.drivers_in_use.push_back(driver.folder);
    result.files += removed.files;
    result.bytes += removed.bytes;
  }
  return result;
}

}  // namespace tutti::tools
