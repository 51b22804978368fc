// SPDX-License-Identifier: Apache-2.0
//
// Steps that may end the process: one small file in the cache folder for each step in progress,
// locked by the process that executes it and removed afterwards. A file without a lock shows a
// later process where an earlier one ended. The reason may have been a crash of the application or
// a kill, so an entry alone proves nothing: a process that finds one repeats the step in a child
// process, or uses a safer method. If the folder cannot be used, nothing is recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::safety {

class TUTTI_INTERNAL_API journal {
 public:
  explicit journal(std::filesystem::path folder);
  ~journal();
  journal(journal&&) = delete;

  /// This process enters the step `key`, called `text`, e.g. "device.count of /x/libtutti_x.so". An
  /// earlier entry with another `stamp` is obsolete. Several threads may be in the same step.
  /// Returns the level of caution after earlier crashes: 0: none; 1: one process ended there,
  /// possibly for unrelated reasons; 2: two did, one after the other: use a safer method; 3: four
  /// did. One or two crashes are forgotten after a day, and so is the last level.
  std::uint32_t enter(std::string_view key, std::string_view text, std::string_view stamp = {});
  /// The same step continues with another action.
  void go_on(std::string_view key, std::string_view text);
  /// The step is left, in any thread. Earlier crashes are forgotten, or with `settled` kept from
  /// level 2 on: the safer method succeeded.
  enum class past { forgotten, settled };
  void leave(std::string_view key, past before = past::forgotten);
  /// exit() has begun. Steps of other threads have not ended the process, and no more steps are
  /// entered; the step of this thread has called exit(), and is kept.
  void close();

  /// What is known of a step that no process executes: an earlier process ended there, or fail()
  /// was called less than a day ago.
  struct trace {
    bool is_verdict = false;
    std::string text;  ///< of the step, or of the verdict
  };
  std::optional<trace> find(std::string_view key, std::string_view stamp = {});
  void fail(std::string_view key, std::string_view verdict, std::string_view stamp = {});
  void forget(std::string_view key);

  struct record {
    std::filesystem::path file;
    std::uint32_t care = 0;  ///< as returned by enter()
    std::string text;
  };
  /// All steps in which earlier processes ended.
  std::vector<record> all();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The one in the folder of program_cache(); never destroyed.
TUTTI_INTERNAL_API journal& process_journal();

}  // namespace tutti::safety
