// SPDX-License-Identifier: Apache-2.0
//
// What became of plugin files in earlier processes. A plugin that crashes in the thread that calls
// it, or calls exit(), takes a process down once: a file in the cache's folder, held while the
// plugin is being loaded, asked for devices, opened or asked for the basic known answers, tells the
// next process. One that does not come back for some seconds is said to be waited for, and the file
// tells that too, however the process ends then. One that was interrupted earlier leaves no trace
// that counts. One that ends without a word, by _exit() or a kill, counts the second time within a
// day, and only at a step that no process has come back from yet: a step of the plugin file that
// has gone well costs no write any more. `tutti doctor` leaves its verdict in the same place, also
// on plugins that never return. A plugin file of another size or time starts anew.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/slow_step.hpp"
#include "tutti/export.hpp"

namespace tutti::detail {

class TUTTI_INTERNAL_API plugin_records {
  struct state;
  struct mark;

 public:
  /// Keeps nothing where `folder` is empty or cannot be used.
  explicit plugin_records(std::filesystem::path folder);
  ~plugin_records();
  plugin_records(const plugin_records&) = delete;
  plugin_records& operator=(const plugin_records&) = delete;

  /// Why not to touch the plugin: "an earlier process ended within device.count of it, by a crash".
  std::optional<std::string> failure(const std::filesystem::path& plugin);

  /// Remembers `how` the plugin failed, or that it does not.
  void fail(const std::filesystem::path& plugin, std::string_view how);
  void clear(const std::filesystem::path& plugin);

  /// Of a process at a step that none has come back from. A compiler takes long, and not everybody
  /// waits for it.
  enum class silent_ends { count, tell_nothing };

  /// Of steps: a driver may look for its devices for a while, and a compiler on a busy machine
  /// needs longer.
  static constexpr std::chrono::seconds patience{5}, patience_with_compilers{20};

  /// Between its making and its end the process may go down by the plugin. exit() in another thread
  /// waits for its end.
  class TUTTI_INTERNAL_API attempt {
   public:
    /// Keeps nothing where `records` is NULL. Throws device_error where the process exits.
    attempt(plugin_records* records, const std::filesystem::path& plugin, std::string_view step,
            std::chrono::seconds before_a_word = patience, silent_ends ends = silent_ends::count);
    ~attempt();
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;
    /// What comes next.
    void go_on(std::string_view step);

   private:
    struct under_way {
      explicit under_way(std::string_view step);
      ~under_way();
      under_way(const under_way&) = delete;
      under_way& operator=(const under_way&) = delete;
      bool is_given_up = false;
    };
    under_way under_way_;
    plugin_records* records_;
    mark* mark_ = nullptr;
    std::optional<slow_step> slow_;  // goes first: it looks at the mark
  };

  /// Nobody waits any more for what is attempted with the plugin: later processes learn of it, and
  /// the end of this one does not wait.
  void give_up(const std::filesystem::path& plugin);

  /// The process exits: what other threads than this one attempt has not failed, unless it has been
  /// waited for for long, and what this one attempts has called exit(), which the log says, unless
  /// the handler of an interrupt has.
  void end_others();

 private:
  std::unique_ptr<state> state_;
};

/// Those in the folder of program_cache(); never destroyed.
TUTTI_INTERNAL_API plugin_records& known_plugins();

}  // namespace tutti::detail
