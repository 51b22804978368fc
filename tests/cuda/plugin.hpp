// SPDX-License-Identifier: Apache-2.0
//
// The cuda plugin as the core loads it, over the emulator, for tests: its table, a status that is
// checked and released, a host with a cache in memory, an open device.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/control.hpp"
#include "tutti/plugin.h"
#include "tutti_test/paths.hpp"

namespace tutti::test {

struct outcome {
  int code = TUTTI_OK;
  int vendor_code = 0;
  bool retryable = false;
  std::string message;
};

inline outcome take(tutti_status* status) {
  if (status == nullptr) return {};
  outcome result{status->code, status->vendor_code, status->retryable != 0, status->message};
  status->release(status);
  return result;
}

inline void good(tutti_status* status) {
  const outcome result = take(status);
  if (result.code != TUTTI_OK) throw std::runtime_error(result.message);
}

// What the plugin was told and gave to keep.
struct fake_host {
  std::map<std::string, std::string> cache;
  std::vector<std::string> compiled;  // "label fresh" or "label cached"
  int32_t ends = 0;                   // what compile_begin gives
  int compilations = 0;               // begun
  int open_compilations = 0;          // and not ended
  tutti_host table{};

  fake_host() {
    table.struct_size = sizeof table;
    table.abi_major = TUTTI_ABI_MAJOR;
    table.abi_minor = TUTTI_ABI_MINOR;
    table.context = this;
    table.log = [](void*, int32_t, const char*) {};
    table.cache_load = [](void* self, const char* device, const void* key, uint64_t size,
                          void (*sink)(void*, const void*, uint64_t), void* to) -> int32_t {
      auto& kept = static_cast<fake_host*>(self)->cache;
      const auto found = kept.find(device + std::string(static_cast<const char*>(key), size));
      if (found == kept.end()) return 0;
      sink(to, found->second.data(), found->second.size());
      return 1;
    };
    table.cache_store = [](void* self, const char* device, const void* key, uint64_t size,
                           const void* data, uint64_t bytes) {
      static_cast<fake_host*>(self)
          ->cache[device + std::string(static_cast<const char*>(key), size)] =
          std::string(static_cast<const char*>(data), bytes);
    };
    table.option = [](void*, const char* name) -> const char* {
      return std::getenv((std::string("TUTTI_") + name).c_str());
    };
    table.compile_begin = [](void* self, const char*, const void*, uint64_t,
                             const char*) -> int32_t {
      ++static_cast<fake_host*>(self)->compilations;
      ++static_cast<fake_host*>(self)->open_compilations;
      return static_cast<fake_host*>(self)->ends;
    };
    table.compile_end = [](void* self, const char*, const void*, uint64_t) {
      --static_cast<fake_host*>(self)->open_compilations;
    };
    table.compiled = [](void* self, const char* what, double, int32_t cached) {
      static_cast<fake_host*>(self)->compiled.push_back(what +
                                                        std::string(cached ? " cached" : " fresh"));
    };
  }
};

template <typename F>
F* emulator_function(const char* name) {
  static void* const library = dlopen(
      (std::string(std::getenv("TUTTI_CUDA_LIBRARIES")) + "/libcuda.so.1").c_str(), RTLD_NOW);
  void* found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) throw std::runtime_error(std::string("the emulator lacks ") + name);
  return reinterpret_cast<F*>(found);
}
#define CALL(name) ::tutti::test::emulator_function<decltype(::name)>(#name)

inline fake_host& host() {
  static auto* const instance = new fake_host;
  return *instance;
}

inline const tutti_plugin_api& plugin() {
  static const tutti_plugin_api* const api = [] {
    void* library = dlopen(tutti_test::paths::cuda_plugin, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    auto entry = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"));
    return entry(&host().table);
  }();
  return *api;
}

inline tutti_status* allocate(tutti_device* device, uint64_t bytes, tutti_buffer** buffer) {
  const tutti_buffer_desc desc{sizeof desc, bytes, TUTTI_MEMORY_DEVICE, 0};
  return plugin().memory->allocate(device, &desc, buffer);
}

inline tutti_status* create_stream(tutti_device* device, uint32_t flags, tutti_stream** stream) {
  const tutti_stream_desc desc{sizeof desc, flags, 0};
  return plugin().stream->create(device, &desc, stream);
}

struct open_device {
  tutti_device* device = nullptr;
  tutti_stream* stream = nullptr;
  explicit open_device(uint32_t index = 0, uint32_t flags = 0) {
    good(plugin().device->open(index, &device));
    good(create_stream(device, flags, &stream));
  }
  open_device(const open_device&) = delete;
  open_device& operator=(const open_device&) = delete;
  ~open_device() {
    plugin().stream->release(stream);
    plugin().device->release(device);
  }
  tutti_buffer* buffer(uint64_t bytes) const {
    tutti_buffer* result = nullptr;
    good(allocate(device, bytes, &result));
    return result;
  }
};

}  // namespace tutti::test
