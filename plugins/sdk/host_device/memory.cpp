// SPDX-License-Identifier: Apache-2.0
//
// The memory group: aligned host memory. A size beyond the machine's memory is refused at once,
// since the operating system would grant it and fail at the first touch.
#include <new>
#include <string>

#include "sdk/host_device/objects.hpp"
#include "sdk/host_layer/host_info.hpp"
#include "sdk/validate.hpp"

namespace tutti::host_device {
namespace {

constexpr std::align_val_t alignment{buffer_alignment};

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** buffer) {
  return sdk::guarded([&] {
    const tutti_buffer_desc wanted = sdk::read_struct(desc, "buffer description");
    sdk::memory_kind_of(wanted);  // all are the host's
    const uint64_t bytes = wanted.bytes;
    sdk::deref(device, "device");
    sdk::deref(buffer, "buffer") = nullptr;
    if (bytes > sdk::physical_memory()) {
      throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                              "allocate: " + std::to_string(bytes) + " bytes of a host with " +
                                  std::to_string(sdk::physical_memory()));
    }
    auto made = std::make_unique<tutti_buffer>();
    void* data = ::operator new(bytes > 0 ? bytes : 1, alignment, std::nothrow);
    if (data == nullptr) {
      throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                              "allocate: no room for " + std::to_string(bytes) + " bytes", 0, true);
    }
    *made = {device, static_cast<std::byte*>(data), bytes, nullptr, nullptr, true};
    *buffer = made.release();
  });
}

void release(tutti_buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->owned) ::operator delete(buffer->memory, alignment);
  if (buffer->deleter != nullptr) buffer->deleter(buffer->deleter_context);
  delete buffer;
}

tutti_status* map(tutti_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t flags,
                  void** host) {
  return sdk::guarded([&] {
    sdk::deref(host, "host") = nullptr;
    sdk::validate_map(offset, bytes, flags, sdk::deref(buffer, "buffer").bytes);
    *host = buffer->memory + offset;
  });
}

tutti_status* unmap(tutti_buffer* buffer, void* host) {
  return sdk::guarded([&] {
    sdk::deref(buffer, "buffer");
    if (host == nullptr) sdk::throw_invalid("unmap: host is NULL");
  });
}

}  // namespace

const tutti_memory_api memory_api = {sizeof(tutti_memory_api), allocate, release, map, unmap};

}  // namespace tutti::host_device
