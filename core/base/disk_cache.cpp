// SPDX-License-Identifier: Apache-2.0
//
// An entry is a file: header (magic, version, sizes, CRC-32), then the full key, then the data. Its
// name is a 128-bit hash of the key, which need not be collision-free since the key is compared.
#include "base/disk_cache.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "base/counters.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "tutti/error.hpp"

namespace tutti::base {
namespace {

constexpr std::string_view cache_extension = ".tutti";
constexpr uint64_t memory_limit = uint64_t{64} << 20;
constexpr int64_t stale_temporary_ns = int64_t{3600} * 1'000'000'000;

struct header {
  char magic[8] = {'T', 'U', 'T', 'T', 'I', 'P', 'C', '\n'};
  uint32_t format = 1;
  uint32_t checksum = 0;
  uint64_t key_bytes = 0;
  uint64_t data_bytes = 0;
};
static_assert(sizeof(header) == 32);

uint32_t checksum(std::string_view key, std::string_view data) {
  const auto add = [](uLong crc, std::string_view part) {
    return crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  };
  return static_cast<uint32_t>(add(add(crc32_z(0, nullptr, 0), key), data));
}

std::string file_name(std::string_view key) { return cache_file_name(key, cache_extension); }

/// The data of an intact entry for `key`; otherwise nothing, and `problem` is set.
std::optional<std::string> unpack(std::string_view content, std::string_view key,
                                  const char*& problem) {
  header head;
  const header expected;
  problem = "truncated";
  if (content.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, content.data(), sizeof head);
  problem = "not an entry of this version";
  if (std::memcmp(head.magic, expected.magic, sizeof head.magic) != 0 ||
      head.format != expected.format)
    return std::nullopt;
  const uint64_t rest = content.size() - sizeof head;
  problem = "of the wrong size";
  if (head.key_bytes > rest || head.data_bytes != rest - head.key_bytes) return std::nullopt;
  const std::string_view its_key = content.substr(sizeof head, head.key_bytes);
  const std::string_view data = content.substr(sizeof head + head.key_bytes);
  problem = "damaged (checksum)";
  if (head.checksum != checksum(its_key, data)) return std::nullopt;
  problem = "for another program";
  if (its_key != key) return std::nullopt;
  return std::string(data);
}

}  // namespace

std::string cache_file_name(std::string_view key, std::string_view ending) {
  const uint64_t forward = fnv1a(key);
  return fmt::format("{:016x}{:016x}{}", forward, fnv1a(key, forward ^ 0x9e3779b97f4a7c15ULL),
                     ending);
}

std::optional<std::string> key_of_entry(const std::filesystem::path& file) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  header head;
  const header expected;
  stream.read(reinterpret_cast<char*>(&head), sizeof head);
  if (error || !stream || std::memcmp(head.magic, expected.magic, sizeof head.magic) != 0 ||
      head.format != expected.format || bytes < sizeof head ||
      head.key_bytes > bytes - sizeof head ||
      head.data_bytes != bytes - sizeof head - head.key_bytes)
    return std::nullopt;
  std::string key(head.key_bytes, '\0');
  stream.read(key.data(), static_cast<std::streamsize>(key.size()));
  if (!stream) return std::nullopt;
  return key;
}

struct disk_cache::state {
  explicit state(cache_options o) : options(std::move(o)) {}

  const cache_options options;
  std::mutex mutex;
  bool opened = false;
  bool warned = false;
  std::unique_ptr<private_folder> folder;
  std::string problem;
  std::optional<uint64_t> disk_bytes;  // known after the first scan
  std::map<std::string, std::string, std::less<>> memory;
  uint64_t memory_bytes = 0;

  void warn_once(const std::string& text) {
    if (!warned)
      logging::warn("program cache: {}; compiled programs are kept for this process only", text);
    warned = true;
  }

  void open() {
    if (opened) return;
    opened = true;
    if (!options.enabled) return;
    try {
      if (options.folder.empty())
        problem = "no folder: neither TUTTI_CACHE_DIR, XDG_CACHE_HOME nor HOME is set";
      else
        folder = std::make_unique<private_folder>(options.folder);
      if (folder && !folder->writable())
        problem = options.folder.string() + ": the folder is not writable";
    } catch (const std::exception& e) {
      problem = e.what();
    }
    if (!problem.empty()) warn_once(problem);
  }

  void keep_in_memory(std::string_view key, std::string_view data) {
    if (data.size() > memory_limit) return;
    if (memory_bytes + data.size() > memory_limit) {
      memory.clear();
      memory_bytes = 0;
    }
    std::string& slot = memory[std::string(key)];
    memory_bytes += data.size() - slot.size();
    slot = data;
  }

  /// Removes the least recently used entries until a tenth of the limit is free again.
  void trim() {
    std::vector<private_folder::entry> entries;
    uint64_t total = 0;
    const int64_t now = file_clock_now_ns();
    for (auto& file : folder->list()) {
      if (file.name.ends_with(".tmp") && file.name.find(cache_extension) != std::string::npos &&
          now - file.modified_ns > stale_temporary_ns)
        folder->remove(file.name);
      if (!file.name.ends_with(cache_extension)) continue;
      total += file.bytes;
      entries.push_back(std::move(file));
    }
    if (total > options.limit_bytes) {
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return a.modified_ns < b.modified_ns; });
      const uint64_t goal = options.limit_bytes - options.limit_bytes / 10;
      for (const auto& file : entries) {
        if (total <= goal) break;
        folder->remove(file.name);
        total -= file.bytes;
      }
    }
    disk_bytes = total;
  }
};

disk_cache::disk_cache(cache_options options)
    : state_(std::make_unique<state>(std::move(options))) {}
disk_cache::~disk_cache() = default;

const cache_options& disk_cache::options() const noexcept { return state_->options; }

std::string disk_cache::problem() {
  const std::lock_guard lock(state_->mutex);
  state_->open();
  return state_->problem;
}

std::optional<std::string> disk_cache::load(std::string_view key) {
  state& s = *state_;
  if (!s.options.enabled) return std::nullopt;
  {
    const std::lock_guard lock(s.mutex);
    s.open();
    if (const auto found = s.memory.find(key); found != s.memory.end()) {
      count().memory_cache_hits.add();
      return found->second;
    }
    if (!s.folder) return std::nullopt;
  }
  const std::string name = file_name(key);
  if (auto content = s.folder->read(name, s.options.limit_bytes)) {
    const char* problem = "";
    auto data = unpack(*content, key, problem);
    if (data) {
      count().disk_cache_hits.add();
      return data;
    }
    logging::debug("program cache: {} is {}, ignored", name, problem);
  }
  count().disk_cache_misses.add();
  return std::nullopt;
}

void disk_cache::store(std::string_view key, std::string_view data) {
  state& s = *state_;
  if (!s.options.enabled) return;
  const std::lock_guard lock(s.mutex);
  s.open();
  header head;
  head.checksum = checksum(key, data);
  head.key_bytes = key.size();
  head.data_bytes = data.size();
  const uint64_t bytes = sizeof head + key.size() + data.size();
  if (!s.folder || !s.problem.empty() || bytes > s.options.limit_bytes)
    return s.keep_in_memory(key, data);
  try {
    std::string front(reinterpret_cast<const char*>(&head), sizeof head);
    front += key;
    s.folder->write(file_name(key), front, data);
    if (s.disk_bytes) *s.disk_bytes += bytes;
    if (!s.disk_bytes || *s.disk_bytes > s.options.limit_bytes) s.trim();
  } catch (const std::exception& e) {
    s.warn_once(e.what());
    s.keep_in_memory(key, data);
  }
}

cache_options cache_options_from_environment() {
  cache_options options;
  if (const auto folder = env("TUTTI_CACHE_DIR"))
    options.folder = *folder;
  else if (const auto xdg = env("XDG_CACHE_HOME"); xdg && xdg->front() == '/')
    options.folder = std::filesystem::path(*xdg) / "tutti";
  else if (const auto home = env("HOME"))
    options.folder = std::filesystem::path(*home) / ".cache" / "tutti";
  try {
    options.limit_bytes = env_megabytes("TUTTI_CACHE_MB").value_or(options.limit_bytes);
  } catch (const value_error& e) {
    logging::warn("{}; using {}", e.what(), options.limit_bytes >> 20);
  }
  options.enabled = options.limit_bytes > 0;
  return options;
}

disk_cache& program_cache() {
  static auto* const instance = new disk_cache(cache_options_from_environment());
  return *instance;
}

}  // namespace tutti::base
