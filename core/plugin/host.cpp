// SPDX-License-Identifier: Apache-2.0
//
// The functions of tutti_host. They are called by plugins, so they must not throw.
#include "plugin/host.hpp"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <string_view>

#include "base/compile_progress.hpp"
#include "base/counters.hpp"
#include "base/disk_cache.hpp"
#include "base/driver_folder.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/process.hpp"
#include "base/trace.hpp"
#include "plugin/opened_device.hpp"
#include "safety/journal.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

const host_identity& identity_of(void* context) {
  return *static_cast<const host_identity*>(context);
}

void log_message(void* context, int32_t level, const char* message) {
  try {
    const auto at = level >= TUTTI_LOG_ERROR && level <= TUTTI_LOG_DEBUG
                        ? static_cast<logging::level>(level)
                        : logging::level::warn;
    logging::message(at, "{}: {}", identity_of(context).name,
                     base::printable_lines(message != nullptr ? message : ""));
  } catch (...) {
  }
}

/// Fields prefixed with their lengths, so that different keys differ.
std::string full_key(const host_identity& identity, const char* device_key, const void* key,
                     uint64_t key_size) {
  const std::string_view device = device_key != nullptr ? device_key : "";
  std::string full = identity.cache_prefix;
  full.reserve(full.size() + device.size() + key_size + 32);
  full += std::to_string(device.size()) + ":";
  full += device;
  full += std::to_string(key_size) + ":";
  full.append(static_cast<const char*>(key), key_size);
  return full;
}

int32_t cache_load(void* context, const char* device_key, const void* key, uint64_t key_size,
                   void (*sink)(void*, const void*, uint64_t), void* sink_context) {
  try {
    const host_identity& identity = identity_of(context);
    if (identity.cache_prefix.empty() || key == nullptr) return 0;
    const auto found = base::program_cache().load(full_key(identity, device_key, key, key_size));
    if (!found) return 0;
    sink(sink_context, found->data(), found->size());
    return 1;
  } catch (...) {
    return 0;
  }
}

void cache_store(void* context, const char* device_key, const void* key, uint64_t key_size,
                 const void* data, uint64_t size) {
  try {
    const host_identity& identity = identity_of(context);
    if (identity.cache_prefix.empty() || key == nullptr || data == nullptr) return;
    base::program_cache().store(full_key(identity, device_key, key, key_size),
                                {static_cast<const char*>(data), size});
  } catch (...) {
    // A program that is not cached is compiled again next time.
  }
}

void compiled(void* context, const char* what, double seconds, int32_t from_cache) {
  try {
    const std::string& name = identity_of(context).name;
    const std::string label = what != nullptr ? what : "program";
    if (from_cache == 0) {
      base::count().compiles.add();
      base::count().compile_ns.add(static_cast<uint64_t>(seconds * 1e9));
    }
    if (from_cache != 0)
      logging::debug("{}: loaded {} in {:.1f} ms", name, label, seconds * 1e3);
    else
      logging::info("{}: compiled {} in {:.1f} ms", name, label, seconds * 1e3);
    if (base::trace_enabled()) {
      static const uint32_t track = base::trace_track("host", "compile");
      const uint64_t end = base::trace_now_ns();
      const auto length = static_cast<uint64_t>(seconds * 1e9);
      base::trace_complete(track, (from_cache != 0 ? "load " : "compile ") + label,
                           end > length ? end - length : 0, end, {});
    }
  } catch (...) {
  }
}

const char* folder_of_driver(void* context, const char* name) {
  try {
    if (name == nullptr) return nullptr;
    const auto found = base::driver_folder(name);
    if (!found) return nullptr;
    return base::lasting(found->string());
  } catch (const value_error& e) {
    logging::warn("{}: has asked for a folder for its driver and got none: {}",
                  identity_of(context).name, e.what());
    return nullptr;
  } catch (...) {
    return nullptr;
  }
}

int32_t compile_begin(void* context, const char* device_key, const void* key, uint64_t key_size,
                      const char* what) {
  try {
    const host_identity& identity = identity_of(context);
    if (identity.cache_prefix.empty() || key == nullptr) return 0;
    const std::uint32_t care = safety::process_journal().enter(
        full_key(identity, device_key, key, key_size),
        fmt::format("{}: {}", identity.name, what != nullptr ? what : ""));
    base::progress_of_compilers().begin();
    return care == 1 ? -1 : care == 0 ? 0 : static_cast<int32_t>(care - 1);
  } catch (...) {
    return 0;
  }
}

void compile_end(void* context, const char* device_key, const void* key, uint64_t key_size) {
  try {
    const host_identity& identity = identity_of(context);
    if (identity.cache_prefix.empty() || key == nullptr) return;
    base::progress_of_compilers().end();
    safety::process_journal().leave(full_key(identity, device_key, key, key_size),
                                    safety::journal::past::settled);
  } catch (...) {
  }
}

const char* option(void*, const char* name) {
  try {
    if (name == nullptr) return nullptr;
    const auto value = base::env(("TUTTI_" + std::string(name)).c_str());
    return value ? base::lasting(*value) : nullptr;
  } catch (...) {
    return nullptr;
  }
}

std::string field(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

}  // namespace

const tutti_host* make_host(host_identity** identity) {
  static auto* const all = new std::deque<host_identity>();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  host_identity* const made = &all->emplace_back();
  // Obtaining a binary can cost a driver more than the compilation, so it is only requested if
  // needed.
  const bool keeps = base::program_cache().options().enabled;
  made->table = {sizeof(tutti_host),
                 TUTTI_ABI_MAJOR,
                 TUTTI_ABI_MINOR,
                 made,
                 log_message,
                 keeps ? cache_load : nullptr,
                 keeps ? cache_store : nullptr,
                 compiled,
                 folder_of_driver,
                 keeps ? compile_begin : nullptr,
                 keeps ? compile_end : nullptr,
                 option};
  *identity = made;
  return &made->table;
}

void identify_host(host_identity& identity, const plugin& of) {
  identity.name = of.name;
  identity.cache_prefix = cache_prefix(of);
}

std::string cache_prefix(const plugin& of) {
  return field(std::to_string(TUTTI_ABI_MAJOR) + "." + std::to_string(TUTTI_ABI_MINOR) + "/" +
               std::to_string(of.abi_minor)) +
         field(of.name) + field(of.version) + field(of.build_id);
}

std::string cache_prefix(const opened_device& of) {
  const char* const key = of.limits.cache_key;
  return cache_prefix(*of.plugin) + field(key != nullptr ? key : "") + field(of.properties.driver) +
         field(of.properties.description) + field(of.properties.schedule);
}

}  // namespace tutti::plugins
