// SPDX-License-Identifier: Apache-2.0
//
// Services of the host for a plugin: log, caches, and a journal of compilations. Each may be
// missing; then the functions do nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "sdk/device_layer/description.hpp"

namespace tutti::sdk {

/// For tutti_plugin_entry: stores a well-formed host of the matching major version.
void meet_host(const tutti_host* host) noexcept;

void log(tutti_log_level level, const std::string& message);
bool has_cache();
bool cache_load(const device_description& device, const std::string& key, std::vector<char>& data);
void cache_store(const device_description& device, const std::string& key,
                 const std::vector<char>& data);
/// A host-specific directory for the caches of a driver; null if there is none.
const char* driver_folder(const char* name);

/// Surrounds compiler calls for the program `key`; `what` is its readable name.
class compilation {
 public:
  compilation(const device_description& device, std::string key, const std::string& what);
  ~compilation();
  compilation(compilation&&) = delete;
  /// Additional options that avoid the crashes of earlier processes: none, or `safer`, which is
  /// logged. Throws plugin_error UNSUPPORTED if processes have crashed with these as well.
  std::string careful_options(const char* safer) const;
  /// Marks the calls as finished for now; the driver may complete a program at its first launch. A
  /// program that is never launched does not count as running, unless a process has crashed in it.
  void pause();
  void resume();

 private:
  const device_description& device_;
  std::string key_;
  std::string what_;
  int32_t ends_ = 0;  // from compile_begin of tutti_host
  bool is_under_way_ = false;
};

/// The value of TUTTI_NAME; nothing if it is unset or empty.
std::optional<std::string> option(const char* name);

/// The same as a number; `otherwise` if it is unset or empty. Throws plugin_error,
/// INVALID_ARGUMENT, if it is not a number from 1 to `most`.
uint32_t number_option(const std::string& name, uint32_t otherwise, uint32_t most);
/// TUTTI_HOST_DEVICES: the number of devices into which the processor is divided.
uint32_t host_devices();

/// Reports a compilation that began at `start`.
void report_compiled(const std::string& what, std::chrono::steady_clock::time_point start,
                     bool from_cache);

}  // namespace tutti::sdk
