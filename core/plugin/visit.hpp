// SPDX-License-Identifier: Apache-2.0
//
// A plugin that is being loaded, enumerated or opened, or its device checked: an entry of the
// journal, for which exit() waits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "safety/journal.hpp"
#include "tutti/export.hpp"

namespace tutti::plugins {

class plugin_visit {
 public:
  /// Nothing is recorded if `notes` is NULL. Throws device_error if the process is exiting.
  plugin_visit(safety::journal* notes, const std::filesystem::path& plugin, std::string_view step);
  /// A step that the journal knows by another key than the plugin.
  plugin_visit(safety::journal& notes, std::string key, std::string_view step);
  ~plugin_visit();
  plugin_visit(plugin_visit&&) = delete;
  /// The next action.
  void go_on(std::string_view step);
  /// The result of journal::enter().
  std::uint32_t ends() const { return ends_; }

 private:
  safety::journal* const notes_;
  const std::filesystem::path plugin_;
  const std::string key_;
  std::uint32_t ends_ = 0;
};

/// With the text "an earlier process ended within device.count of FILE", or the argument of
/// fail_plugin(); nothing if there is no entry for the file in its present state.
TUTTI_INTERNAL_API std::optional<safety::journal::trace> trace_of(
    safety::journal& notes, const std::filesystem::path& plugin);
TUTTI_INTERNAL_API void fail_plugin(safety::journal& notes, const std::filesystem::path& plugin,
                                    std::string_view how);
TUTTI_INTERNAL_API void forget_plugin(safety::journal& notes, const std::filesystem::path& plugin);

}  // namespace tutti::plugins
