// SPDX-License-Identifier: Apache-2.0
//
// The transfer group of the ABI for a backend: checks, then copies by the backend.
#pragma once

#include "sdk/device_layer/backend.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {

/// Requires, besides device_backend: B::write(stream, memory, offset, host, bytes, blocking,
/// event), B::read with the same parameters, and B::copy(stream, from, from_offset, to, to_offset,
/// bytes, event). The arguments are checked; `bytes` may be 0, and an event must still be created.
template <device_backend B>
struct transfer_functions {
  static tutti_status* write(tutti_stream* stream, tutti_buffer* to, uint64_t offset,
                             const void* host, uint64_t bytes, int32_t blocking,
                             tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      typename B::stream& s = deref(stream, "stream");
      const typename B::memory memory = span_of(s, to, offset, bytes, "write");
      if (bytes == 0 && event == nullptr) return;
      if (host == nullptr && bytes != 0) throw_invalid("write: host pointer is NULL");
      [[maybe_unused]] const typename B::scope scope(*s.device);
      B::write(s, memory, offset, host, bytes, blocking != 0, event);
    });
  }

  static tutti_status* read(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                            uint64_t bytes, int32_t blocking, tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      typename B::stream& s = deref(stream, "stream");
      const typename B::memory memory = span_of(s, from, offset, bytes, "read");
      if (host == nullptr && bytes != 0) throw_invalid("read: host pointer is NULL");
      [[maybe_unused]] const typename B::scope scope(*s.device);
      B::read(s, memory, offset, host, bytes, blocking != 0, event);
    });
  }

  static tutti_status* copy(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset,
                            tutti_buffer* to, uint64_t to_offset, uint64_t bytes,
                            tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      typename B::stream& s = deref(stream, "stream");
      typename B::buffer& source = deref(from, "source");
      typename B::buffer& target = deref(to, "target");
      validate_span("copy, source", from_offset, bytes, source.bytes);
      validate_span("copy, target", to_offset, bytes, target.bytes);
      [[maybe_unused]] const typename B::scope scope(*s.device);
      B::copy(s, source, from_offset, target, to_offset, bytes, event);
    });
  }

  static constexpr tutti_transfer_api api = {sizeof(tutti_transfer_api), write, read, copy};

 private:
  static typename B::memory span_of(const typename B::stream& stream, tutti_buffer* given,
                                    uint64_t offset, uint64_t bytes, const char* what) {
    const typename B::memory memory = memory_on<B>(*stream.device, given, what);
    const typename B::buffer& buffer = *given;
    validate_span(what, offset, bytes, buffer.bytes);
    return memory;
  }
};

}  // namespace tutti::sdk
