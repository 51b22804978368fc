// SPDX-License-Identifier: Apache-2.0
//
// The transfer group: copies between the caller's memory and buffers, and between buffers.
#include <cstring>
#include <functional>
#include <utility>

#include "sdk/host_device/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

void copy_bytes(void* to, const void* from, uint64_t bytes) {
  if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
}

// Longer copies run on the stream's thread: about 0.1 ms.
constexpr uint64_t most_bytes_at_once = 1 << 20;

// Copies immediately if the queue is idle and the copy is short or blocking.
template <typename F>
void copy_in_line(tutti_stream& stream, tutti_event** event, uint64_t bytes, bool blocking,
                  const F& copy) {
  if (stream.queue.is_idle() && (blocking || bytes <= most_bytes_at_once))
    return run_now(stream, event, std::cref(copy));
  enqueue(stream, event, copy);
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
    deref(to, "write: buffer");
    sdk::validate_host("write", host, bytes);
    copy_in_line(deref(stream, "write: stream"), event, bytes, blocking != 0, [=] {
      sdk::validate_span("write", offset, bytes, to->bytes);
      copy_bytes(to->memory + offset, host, bytes);
    });
    if (blocking != 0) finish(*stream, event);
  });
}

tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                   uint64_t bytes, int32_t blocking, tutti_event** event) {
  return guarded([&] {
    deref(from, "read: buffer");
    sdk::validate_host("read", host, bytes);
    copy_in_line(deref(stream, "read: stream"), event, bytes, blocking != 0, [=] {
      sdk::validate_span("read", offset, bytes, from->bytes);
      copy_bytes(host, from->memory + offset, bytes);
    });
    if (blocking != 0) finish(*stream, event);
  });
}

tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  return guarded([&] {
    deref(from, "copy: from");
    deref(to, "copy: to");
    copy_in_line(deref(stream, "copy: stream"), event, bytes, false, [=] {
      sdk::validate_span("copy: from", from_offset, bytes, from->bytes);
      sdk::validate_span("copy: to", to_offset, bytes, to->bytes);
      copy_bytes(to->memory + to_offset, from->memory + from_offset, bytes);
    });
  });
}

}  // namespace

const tutti_transfer_api transfer_api = {sizeof(tutti_transfer_api), write, read, copy};

}  // namespace tutti::host_device
