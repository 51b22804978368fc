// SPDX-License-Identifier: Apache-2.0
//
// Which steps may end the process: one small file in the cache's folder for each step under way,
// held by the process that is within it and removed when the step is left. A file that nobody holds
// tells a later process where an earlier one ended. That may have been the application's own crash
// or a kill, so an entry condemns nothing: who finds one tries the step in a child process, or
// takes a safer way. Where the folder cannot be used nothing is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

class TUTTI_INTERNAL_API journal {
 public:
  explicit journal(std::filesystem::path folder);
  ~journal();
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  /// This process enters the step `key`, called `text`, e.g. "device.count of /x/libtutti_x.so". An
  /// earlier entry with another `stamp` is of something else by now. Several threads may be within
  /// the same step. Returns how much care earlier ends ask for: 0: none; 1: one process has ended
  /// there, which may have been its user's doing; 2: two have, one after the other: take a safer
  /// way; 3: four have. One or two ends are forgotten after a day, and so is the last level.
  std::uint32_t enter(std::string_view key, std::string_view text, std::string_view stamp = {});
  /// The same step goes on with something else.
  void go_on(std::string_view key, std::string_view text);
  /// The step is left, in any thread. Earlier ends are forgotten, or with `settled` kept from level
  /// 2 on: what went well now went a safer way.
  enum class past { forgotten, settled };
  void leave(std::string_view key, past before = past::forgotten);
  /// Nobody waits for the step any more: its entry outlives the process, unless it is left.
  void give_up(std::string_view key);
  /// exit() has begun. What other threads are within has not ended the process, and nothing is
  /// entered any more; what this thread is within has called exit(), and stays.
  void close();

  /// What is known of a step that nobody is within: an earlier process ended there, or fail() said
  /// something less than a day ago.
  struct trace {
    bool is_verdict = false;
    std::string text;  ///< of the step, or of the verdict
  };
  std::optional<trace> find(std::string_view key, std::string_view stamp = {});
  void fail(std::string_view key, std::string_view verdict, std::string_view stamp = {});
  void forget(std::string_view key);

  struct record {
    std::filesystem::path file;
    std::uint32_t care = 0;  ///< as enter() would give it
    std::string text;
  };
  /// All steps that earlier processes ended in.
  std::vector<record> all();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The one in the folder of program_cache(); never destroyed.
TUTTI_INTERNAL_API journal& process_journal();

}  // namespace tutti::detail
