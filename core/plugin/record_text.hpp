// SPDX-License-Identifier: Apache-2.0
//
// What a record of plugin_records says: a file of two lines or more. "failed" with the plugin
// file's size and time of change, and what `tutti doctor` found. Or a word for what became of the
// process that was at the step of the second line, with the same and how many processes had ended
// without a word of the plugin's before, since when. The lines from the third on are the steps that
// processes have come back from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/crash_witness.hpp"
#include "base/interrupt_witness.hpp"

namespace tutti::detail {

/// Words, one of which is written over another.
namespace record_word {

/// Of a process that still is at the step, or was interrupted or killed there, which tells nothing.
inline constexpr std::string_view running = "running ";
/// The same at a step that no process has come back from yet; or one that ended there without a
/// word, by _exit() or a kill, which counts where the next process does so as well within a day.
inline constexpr std::string_view entered = "entered ";
/// By a fault in the thread that called the plugin.
inline constexpr std::string_view crashed = "crashed ";
/// By one in another thread, which may be the application's; counts as "entered" does.
inline constexpr std::string_view stopped = "stopped ";
/// By the plugin's own call of exit().
inline constexpr std::string_view exiting = "exiting ";
/// Of one that had waited for long, however it ended.
inline constexpr std::string_view waiting = "waiting ";
/// Nobody is at anything.
inline constexpr std::string_view passed = "passed  ";
/// What `tutti doctor` found.
inline constexpr std::string_view failed = "failed ";

static_assert(running.size() == crashed.size() && running.size() == stopped.size() &&
              running.size() == exiting.size() && running.size() == waiting.size() &&
              running.size() == entered.size() && running.size() == passed.size() &&
              running.starts_with(interrupted_word) && entered.starts_with(entered_word) &&
              crashed.starts_with(crash_word) && stopped.starts_with(stop_word));

}  // namespace record_word

/// What earlier processes did with the plugin file.
struct plugin_past {
  std::string_view word = record_word::running;
  uint32_t stops = 0;    ///< of processes before the one of the word
  int64_t since_ns = 0;  ///< the begin of the first of them
  std::string step;
  std::set<std::string> good;  ///< steps

  bool is_recent() const;
  uint32_t all_stops() const;
  /// Why not to touch it: "an earlier process ended within device.count of it, by a crash".
  std::optional<std::string> why_not() const;
};

/// The name of the file.
std::string record_name(const std::filesystem::path& plugin);

/// What `tutti doctor` found of the plugin file as it is now, and the record that says so.
std::optional<std::string> verdict_in(std::string_view record, const std::filesystem::path& plugin);
std::string verdict_text(const std::filesystem::path& plugin, std::string_view verdict);

/// The same of what processes did. Nothing where the record is of another file, a verdict or
/// damaged.
std::optional<plugin_past> past_in(std::string_view record, const std::filesystem::path& plugin);
std::string past_text(const plugin_past& past, const std::filesystem::path& plugin);

}  // namespace tutti::detail
