// SPDX-License-Identifier: Apache-2.0
//
// Direct access to device memory, on devices that use host memory: reading and writing need no
// copy.
#pragma once

#include <cstdint>

#include "plugin/raii.hpp"

namespace tutti::runtime {

/// Part of a buffer in the host's address space, during the lifetime of this object. The caller has
/// ensured that no work writes there meanwhile, and that none reads what the caller writes.
class mapped_memory {
 public:
  /// Null if the device has no unified memory or the plugin does not map this buffer: use transfers
  /// then.
  mapped_memory(const detail::opened_device& device, tutti_buffer* buffer, std::uint64_t offset,
                std::uint64_t bytes, tutti_map_flags flags)
      : device_(device), buffer_(buffer) {
    void* host = nullptr;
    if (device.limits.unified_memory == 0 ||
        plugins::ignore(device.plugin->memory.map(buffer, offset, bytes,
                                                  static_cast<std::uint32_t>(flags), &host)))
      return;
    if (host == nullptr && bytes > 0)
      plugins::throw_nothing_made(device, device.plugin->memory.map.name());
    host_ = static_cast<char*>(host);
  }
  mapped_memory(mapped_memory&&) = delete;
  ~mapped_memory() {
    if (host_ != nullptr) plugins::ignore(device_.plugin->memory.unmap(buffer_, host_));
  }

  explicit operator bool() const { return host_ != nullptr; }
  char* get() const { return host_; }

  /// After writing: throws if the data could not be written.
  void finish() {
    if (char* const host = std::exchange(host_, nullptr))
      plugins::check(device_.plugin->memory.unmap(buffer_, host), device_, "write",
                     "mapped memory");
  }

 private:
  const detail::opened_device& device_;
  tutti_buffer* const buffer_;
  char* host_ = nullptr;
};

/// Host memory that transfers of a device access without an additional copy.
class host_memory {
 public:
  /// Ordinary memory if the device has none of this kind. Throws out_of_memory.
  host_memory(const detail::opened_device& device, std::uint64_t bytes);
  host_memory(host_memory&&) = delete;
  ~host_memory();

  char* get() const { return host_; }

 private:
  const detail::opened_device& device_;
  plugins::buffer_handle buffer_;  // null: `host_` is ordinary memory
  char* host_ = nullptr;
};

}  // namespace tutti::runtime
