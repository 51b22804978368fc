// SPDX-License-Identifier: Apache-2.0
//
// Calls into the host; the plugin keeps a copy of its function table.
#include "sdk/device_layer/host.hpp"

#include <charconv>
#include <utility>

#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

tutti_host the_host{};

}  // namespace

void meet_host(const tutti_host* host) noexcept {
  // After a major version mismatch the host reads the versions and calls nothing else.
  if (host == nullptr || host->abi_major != TUTTI_ABI_MAJOR) return;
  try {
    the_host = read_struct(host, "host");
  } catch (...) {  // as without a host
  }
}

void log(tutti_log_level level, const std::string& message) {
  if (the_host.log != nullptr) the_host.log(the_host.context, level, message.c_str());
}

bool has_cache() { return the_host.cache_load != nullptr && the_host.cache_store != nullptr; }

bool cache_load(const device_description& device, const std::string& key, std::vector<char>& data) {
  if (!has_cache()) return false;
  const auto sink = [](void* to, const void* from, uint64_t size) {
    const auto* bytes = static_cast<const char*>(from);
    static_cast<std::vector<char>*>(to)->assign(bytes, bytes + size);
  };
  return the_host.cache_load(the_host.context, device.cache_key.c_str(), key.data(), key.size(),
                             sink, &data) == 1;
}

void cache_store(const device_description& device, const std::string& key,
                 const std::vector<char>& data) {
  if (!has_cache()) return;
  the_host.cache_store(the_host.context, device.cache_key.c_str(), key.data(), key.size(),
                       data.data(), data.size());
}

const char* driver_folder(const char* name) {
  return the_host.driver_folder != nullptr ? the_host.driver_folder(the_host.context, name)
                                           : nullptr;
}

compilation::compilation(const device_description& device, std::string key, const std::string& what)
    : device_(device), key_(std::move(key)), what_(what) {
  resume();
}

compilation::~compilation() {
  ends_ = 0;
  pause();
}

void compilation::resume() {
  if (is_under_way_) return;
  if (the_host.compile_begin == nullptr || the_host.compile_end == nullptr) return;
  ends_ = the_host.compile_begin(the_host.context, device_.cache_key.c_str(), key_.data(),
                                 key_.size(), (what_ + " on " + device_.name).c_str());
  is_under_way_ = true;
}

void compilation::pause() {
  if (ends_ != 0 || !std::exchange(is_under_way_, false)) return;
  the_host.compile_end(the_host.context, device_.cache_key.c_str(), key_.data(), key_.size());
}

std::optional<std::string> option(const char* name) {
  if (the_host.option == nullptr) return std::nullopt;
  const char* const value = the_host.option(the_host.context, name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

uint32_t number_option(const std::string& name, uint32_t otherwise, uint32_t most) {
  const auto wanted = option(name.c_str());
  if (!wanted) return otherwise;
  uint32_t number = 0;
  const char* const end = wanted->data() + wanted->size();
  const auto [stop, error] = std::from_chars(wanted->data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > most)
    throw_invalid("TUTTI_", name, "=", *wanted, ": expected a number from 1 to ", most);
  return number;
}

uint32_t host_devices() { return number_option("HOST_DEVICES", 1, 64); }

std::string compilation::careful_options(const char* safer) const {
  if (ends_ <= 0) return {};
  const std::string past = what_ + ": processes ended while " + device_.driver + " compiled it";
  if (ends_ > 1)
    throw_unsupported(past,
                      ", and others with safer options; it is left out (`tutti doctor` tells ",
                      "how to try it again)");
  log(TUTTI_LOG_WARN, past +
                          "; compiled with safer options, slower code (`tutti doctor` tells how "
                          "to try without)");
  return safer;
}

void report_compiled(const std::string& what, std::chrono::steady_clock::time_point start,
                     bool from_cache) {
  if (the_host.compiled == nullptr) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  the_host.compiled(the_host.context, what.c_str(), took.count(), from_cache ? 1 : 0);
}

}  // namespace tutti::sdk
