// SPDX-License-Identifier: Apache-2.0
//
// The memory group: aligned host memory.
#include "sdk/host_device/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::host_device {
namespace {

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** buffer) {
  return sdk::guarded([&] {
    const tutti_buffer_desc wanted = sdk::read_struct(desc, "buffer description");
    sdk::memory_kind_of(wanted);  // all kinds are host memory
    sdk::deref(device, "device");
    sdk::deref(buffer, "buffer") = nullptr;
    auto made = std::make_unique<tutti_buffer>();
    const sdk::host_block block = sdk::allocate_block(wanted.bytes, buffer_alignment);
    *made = {device, block.data, block.bytes, nullptr, nullptr, true};
    *buffer = made.release();
  });
}

void release(tutti_buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->owned) sdk::free_block(memory_of(*buffer), buffer_alignment);
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
