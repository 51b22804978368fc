// SPDX-License-Identifier: Apache-2.0
#include "plugin/visit.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "plugin/attempts.hpp"

namespace tutti::detail {
namespace {

std::string key_of(const std::filesystem::path& plugin) { return "plugin file " + plugin.string(); }

/// Changes when the plugin file changes.
std::string stamp_of(const std::filesystem::path& plugin) {
  struct stat info {};
  if (::stat(plugin.c_str(), &info) != 0) return "absent";
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::string text_of(const std::filesystem::path& plugin, std::string_view step) {
  return fmt::format("{} of {}", step, plugin.string());
}

}  // namespace

plugin_visit::plugin_visit(journal* notes, const std::filesystem::path& plugin,
                           std::string_view step)
    : notes_(notes), plugin_(plugin), key_(key_of(plugin)) {
  attempts_under_way::instance().begin(step);
  if (notes != nullptr) ends_ = notes->enter(key_, text_of(plugin, step), stamp_of(plugin));
}

plugin_visit::plugin_visit(journal& notes, std::string key, std::string_view step)
    : notes_(&notes), key_(std::move(key)) {
  attempts_under_way::instance().begin(step);
  ends_ = notes.enter(key_, step);
}

plugin_visit::~plugin_visit() {
  if (notes_ != nullptr) notes_->leave(key_);
  attempts_under_way::instance().end();
}

void plugin_visit::go_on(std::string_view step) {
  if (notes_ != nullptr) notes_->go_on(key_, text_of(plugin_, step));
}

std::optional<plugin_trace> trace_of(journal& notes, const std::filesystem::path& plugin) {
  const auto found = notes.find(key_of(plugin), stamp_of(plugin));
  if (!found) return std::nullopt;
  if (found->is_verdict) return plugin_trace{true, found->text};
  return plugin_trace{false, "an earlier process ended within " + found->text};
}

void fail_plugin(journal& notes, const std::filesystem::path& plugin, std::string_view how) {
  notes.fail(key_of(plugin), how, stamp_of(plugin));
}

void forget_plugin(journal& notes, const std::filesystem::path& plugin) {
  notes.forget(key_of(plugin));
}

}  // namespace tutti::detail
