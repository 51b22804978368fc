// SPDX-License-Identifier: Apache-2.0
//
// What the host offers a plugin: log, caches, reports of compilations and of those that took a
// process down. Each may be absent; then nothing happens.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/device_layer/description.hpp"

namespace tutti::sdk {

/// For tutti_plugin_entry: takes the host of a matching major version, and none that is malformed.
void meet_host(const tutti_host* host) noexcept;

void log(tutti_log_level level, const std::string& message);
bool has_cache();
bool cache_load(const device_description& device, const std::string& key, std::vector<char>& data);
void cache_store(const device_description& device, const std::string& key,
                 const std::vector<char>& data);
/// A folder of the host's own for what a driver keeps between runs; null where there is none.
const char* driver_folder(const char* name);

/// Lives around calls of a compiler for the program `key`, named `what` to people.
class compilation {
 public:
  compilation(const device_description& device, std::string key, const std::string& what);
  ~compilation();
  compilation(const compilation&) = delete;
  compilation& operator=(const compilation&) = delete;
  /// Further options that keep clear of what earlier processes ended in: none, or `safer`, which is
  /// logged. Throws plugin_error UNSUPPORTED where processes have ended with these as well.
  std::string careful_options(const char* safer) const;
  /// The calls are over for now; more come where the driver finishes a program at its first launch.
  /// One that is never launched is not under way, unless a process has ended within it.
  void pause();
  void resume();

 private:
  const device_description& device_;
  std::string key_;
  std::string what_;
  int32_t ends_ = 0;  // as compile_begin of tutti_host gives it
  bool is_under_way_ = false;
};

/// What the user set as TUTTI_NAME; nothing where that is not set, or empty.
std::optional<std::string> option(const char* name);

void report_compiled(const std::string& what, double seconds, bool from_cache);

}  // namespace tutti::sdk
