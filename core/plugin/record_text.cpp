// SPDX-License-Identifier: Apache-2.0
#include "plugin/record_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "base/disk_cache.hpp"
#include "base/private_folder.hpp"

namespace tutti::detail {
namespace {

constexpr int64_t day = 24LL * 3600 * 1'000'000'000;
constexpr uint32_t stops_that_count = 2;

/// What changes when the plugin file does.
std::string version_of(const std::filesystem::path& plugin) {
  struct stat info {};
  if (::stat(plugin.c_str(), &info) != 0) return "absent";
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

template <class Number>
bool take_number(std::string_view& text, char end, Number& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<size_t>(stop - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != end) return false;
  text.remove_prefix(length + 1);
  return true;
}

std::string take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

bool plugin_past::is_recent() const { return file_clock_now_ns() - since_ns < day; }

uint32_t plugin_past::all_stops() const {
  const bool is_one = word == record_word::stopped || word == record_word::entered;
  return is_recent() ? stops + (is_one ? 1 : 0) : 0;
}

std::optional<std::string> plugin_past::why_not() const {
  using namespace record_word;
  const auto ended = [&](std::string_view how) {
    return fmt::format("an earlier process ended within {} of it, {}", step, how);
  };
  if (word == crashed) return ended("by a crash");
  if (word == exiting) return ended("by the plugin's exit()");
  if (word == waiting) return fmt::format("an earlier process waited in vain for {} of it", step);
  if (all_stops() < stops_that_count) return std::nullopt;
  return ended(word == entered ? "without a word, and so did one before"
                               : "by a crash, and so did one before");
}

std::string record_name(const std::filesystem::path& plugin) {
  return cache_file_name("plugin file " + plugin.string(), ".plugin");
}

std::optional<std::string> verdict_in(std::string_view record,
                                      const std::filesystem::path& plugin) {
  const std::string start = verdict_text(plugin, {});
  if (!record.starts_with(start)) return std::nullopt;
  return std::string(record.substr(start.size()));
}

std::string verdict_text(const std::filesystem::path& plugin, std::string_view verdict) {
  return fmt::format("{}{}\n{}", record_word::failed, version_of(plugin), verdict);
}

std::optional<plugin_past> past_in(std::string_view record, const std::filesystem::path& plugin) {
  using namespace record_word;
  const std::string version = version_of(plugin) + " ";
  for (const std::string_view word :
       {running, crashed, stopped, exiting, waiting, entered, passed}) {
    if (!record.starts_with(word)) continue;
    plugin_past p;
    p.word = word;
    record.remove_prefix(word.size());
    if (!record.starts_with(version)) return std::nullopt;
    record.remove_prefix(version.size());
    if (!take_number(record, ' ', p.stops) || !take_number(record, '\n', p.since_ns))
      return std::nullopt;
    p.step = take_line(record);
    while (!record.empty()) p.good.insert(take_line(record));
    return p;
  }
  return std::nullopt;
}

std::string past_text(const plugin_past& past, const std::filesystem::path& plugin) {
  std::string text = fmt::format("{}{} {} {}\n{}", past.word, version_of(plugin), past.stops,
                                 past.since_ns, past.step);
  for (const std::string& step : past.good) text += "\n" + step;
  return text;
}

}  // namespace tutti::detail
