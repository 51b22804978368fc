// SPDX-License-Identifier: Apache-2.0
//
// The memory and transfer groups: aligned memory of the host, and copies from, to and between.
#include <cstring>
#include <utility>

#include "objects.hpp"

namespace threads {
namespace {

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** buffer) {
  return guarded([&] {
    const tutti_buffer_desc wanted = sdk::read_struct(desc, "buffer description");
    sdk::memory_kind_of(wanted);  // refuses unknown kinds; all memory is host memory
    deref(device, "device");
    deref(buffer, "buffer") = nullptr;
    auto made = std::make_unique<tutti_buffer>();
    made->memory = sdk::allocate_block(wanted.bytes, buffer_alignment);
    *buffer = made.release();
  });
}

void release(tutti_buffer* buffer) {
  if (buffer != nullptr) sdk::free_block(buffer->memory, buffer_alignment);
  delete buffer;
}

// Ranges of one buffer may overlap.
void copy_bytes(void* to, const void* from, uint64_t bytes) {
  if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
}

// A blocking call reports the stream's failure itself; its event is released on failure.
void finish(tutti_stream& stream, tutti_event** event) {
  try {
    stream.queue.drain();
  } catch (...) {
    if (event != nullptr) delete std::exchange(*event, nullptr);
    throw;
  }
}

tutti_status* write(tutti_stream* stream, tutti_buffer* to, uint64_t offset, const void* host,
                    uint64_t bytes, int32_t blocking, tutti_event** event) {
  return guarded([&] {
    sdk::validate_span("write", offset, bytes, deref(to, "write: buffer").memory.bytes);
    sdk::validate_host("write", host, bytes);
    enqueue(deref(stream, "write: stream"), event,
            [=] { copy_bytes(to->memory.data + offset, host, bytes); });
    if (blocking != 0) finish(*stream, event);
  });
}

tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                   uint64_t bytes, int32_t blocking, tutti_event** event) {
  return guarded([&] {
    sdk::validate_span("read", offset, bytes, deref(from, "read: buffer").memory.bytes);
    sdk::validate_host("read", host, bytes);
    enqueue(deref(stream, "read: stream"), event,
            [=] { copy_bytes(host, from->memory.data + offset, bytes); });
    if (blocking != 0) finish(*stream, event);
  });
}

tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  return guarded([&] {
    sdk::validate_span("copy: from", from_offset, bytes, deref(from, "copy: from").memory.bytes);
    sdk::validate_span("copy: to", to_offset, bytes, deref(to, "copy: to").memory.bytes);
    enqueue(deref(stream, "copy: stream"), event, [=] {
      copy_bytes(to->memory.data + to_offset, from->memory.data + from_offset, bytes);
    });
  });
}

}  // namespace

const tutti_memory_api memory_api = {sizeof(tutti_memory_api), allocate, release, nullptr, nullptr};

const tutti_transfer_api transfer_api = {sizeof(tutti_transfer_api), write, read, copy};

}  // namespace threads
