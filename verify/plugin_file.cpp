// SPDX-License-Identifier: Apache-2.0
#include "plugin_file.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness.hpp"
#include "sdk/status.hpp"

namespace tutti::conformance {
namespace {

void log_line(void*, int32_t level, const char* message) {
  if (level <= TUTTI_LOG_WARN) std::fprintf(stderr, "plugin: %s\n", message);
}

const char* option(void*, const char* name) {
  return std::getenv(("TUTTI_" + std::string(name)).c_str());
}

// No cache and no statistics: a plugin must work without them.
const tutti_host host = [] {
  tutti_host h{};
  h.struct_size = sizeof h;
  h.abi_major = TUTTI_ABI_MAJOR;
  h.abi_minor = TUTTI_ABI_MINOR;
  h.log = log_line;
  h.option = option;
  return h;
}();

// As many bytes as the plugin declares, and as we know.
template <class T>
void read_sized(const T* given, T& mine) {
  uint64_t size = 0;
  std::memcpy(&size, given, sizeof size);
  mine = {};
  // Partial fields are ignored.
  const uint64_t whole = size - size % sizeof(void*);
  std::memcpy(static_cast<void*>(&mine), given, std::min<uint64_t>(whole, sizeof mine));
  mine.struct_size = size;
}

template <class T>
void take_table(const T*& field, T& mine) {
  if (field == nullptr) return;
  read_sized(field, mine);
  field = &mine;
}

tutti_status* flushes_nothing(tutti_stream*) { return nullptr; }

tutti_status* supports_nothing(tutti_device*, const tutti_operator_desc*, int32_t* support,
                               const char** reason) {
  *support = TUTTI_SUPPORT_NO;
  if (reason != nullptr) *reason = "the plugin has no operators";
  return nullptr;
}

tutti_status* creates_nothing(tutti_device*, const tutti_operator_desc*, tutti_plan**) {
  return sdk::make_status(TUTTI_ERROR_UNSUPPORTED, "the plugin has no operators");
}

}  // namespace

plugin_file::plugin_file(const std::string& path, const step_listener& on_step) {
  on_step("the loading of its file");
  const std::string file = std::filesystem::absolute(path);  // never from a search path
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw failure(dlerror());
  void* const symbol = dlsym(library, "tutti_plugin_entry");
  require(symbol != nullptr, "{} does not export tutti_plugin_entry", path);
  tutti_plugin_entry_fn entry = nullptr;
  std::memcpy(&entry, &symbol, sizeof(symbol));
  on_step("tutti_plugin_entry");
  const tutti_plugin_api* const given = entry(&host);
  require(given != nullptr, "tutti_plugin_entry returned NULL");
  read_sized(given, api_);
  require(api_.abi_major == TUTTI_ABI_MAJOR, "the plugin has ABI {}.{}, this program {}.{}",
          api_.abi_major, api_.abi_minor, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR);
#define TUTTI_TABLE(field, type, need) take_table(api_.field, field##_);
#define TUTTI_FUNCTION(table, name, need)
#define TUTTI_FIELD(table, name)
#define TUTTI_TABLE_END
#include "plugin/functions.def"
  if (api_.op == nullptr) {
    op_.struct_size = sizeof op_;
    op_.supports = supports_nothing;
    op_.create = creates_nothing;
    op_.release = [](tutti_plan*) {};
    op_.workspace = [](tutti_plan*, uint64_t*) -> tutti_status* { return nullptr; };
    op_.launch = [](tutti_stream*, tutti_plan*, const tutti_operator_launch*,
                    tutti_event**) -> tutti_status* { return nullptr; };
    api_.op = &op_;
  }
  // Work of such a plugin starts without flush.
  if (api_.stream != nullptr && stream_.flush == nullptr) stream_.flush = flushes_nothing;
  require_functions();
}

// Everything that plugin.h does not call optional. The core accepts the absence of some of them,
// for older plugins.
void plugin_file::require_functions() const {
  enum class need { required, expected, optional };
#define TUTTI_TABLE(field, type, how)             \
  {                                               \
    [[maybe_unused]] const auto& mine = field##_; \
    [[maybe_unused]] const bool is_there = api_.field != nullptr || need::how != need::optional;
#define TUTTI_FUNCTION(table, name, how)                                    \
  require(!is_there || need::how == need::optional || mine.name != nullptr, \
          "the plugin lacks " #table "." #name);
#define TUTTI_FIELD(table, name)
#define TUTTI_PAIR(table, first, second)                       \
  require((mine.first == nullptr) == (mine.second == nullptr), \
          "the plugin has one of " #table "." #first " and " #table "." #second " alone");
#define TUTTI_TABLE_END }
#include "plugin/functions.def"
}

std::string name_of_file(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  constexpr std::string_view begin = "libtutti_", end = ".so";
  const bool fits =
      file.size() > begin.size() + end.size() && file.starts_with(begin) && file.ends_with(end);
  return fits ? file.substr(begin.size(), file.size() - begin.size() - end.size()) : "";
}

}  // namespace tutti::conformance
