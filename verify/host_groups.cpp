// SPDX-License-Identifier: Apache-2.0
//
// Events that the host creates, completes and fails; host memory, and direct access to device
// memory.
#include <algorithm>
#include <thread>

#include "byte_checks.hpp"
#include "harness.hpp"

namespace tutti::conformance {
namespace {

// Work after a host event does not run before the signal and runs after it.
void check_host_event(session& s) {
  if (!offers(s.api->stream, &tutti_stream_api::event_signal)) return;
  constexpr uint64_t size = 4096;
  const handle<tutti_buffer> a = s.allocate(size);
  const handle<tutti_stream> gated = s.stream();
  const std::vector<uint8_t> before = bytes_of(size, s.seed), after = bytes_of(size, s.seed + 1);
  std::vector<uint8_t> got(size);
  const auto* stream = s.api->stream;
  for (int round = 0; round < 3; ++round) {
    s.write(a.get(), 0, before.data(), size);
    const auto made = event_of(s, "event create", stream->event_create, s.device.get());
    tutti_event* const gate = made.get();
    check(stream->wait(gated.get(), gate), "stream wait");
    const auto written = event_of(s, "write", s.api->transfer->write, gated.get(), a.get(), 0,
                                  after.data(), size, 0);
    check(stream->flush(gated.get()), "flush");
    int32_t done = -1;
    check(stream->event_query(gate, &done), "event query");
    for (const uint64_t limit : {uint64_t{0}, uint64_t{20'000'000}}) {
      const outcome late = take(stream->event_wait(gate, limit));
      require(late.code == TUTTI_ERROR_TIMEOUT,
              "a wait with a limit for what is not done gives code {}", late.code);
    }
    require(done == 0, "a host event is done before the signal");
    s.read(a.get(), 0, got.data(), size);
    compare(got, before, "before the signal");
    std::thread signaller([&] { check(stream->event_signal(gate, nullptr), "event signal"); });
    check(stream->event_wait(gate, TUTTI_FOREVER), "event wait");
    signaller.join();
    check(stream->event_wait(written.get(), TUTTI_FOREVER), "event wait");
    check(stream->event_query(gate, &done), "event query");
    require(done == 1, "a host event is not done after the signal");
    s.read(a.get(), 0, got.data(), size);
    compare(got, after, "after the signal");
  }
}

void require_told(tutti_status* status, const char* who) {
  const outcome told = take(status);
  require(told.code == TUTTI_ERROR_DRIVER && told.message.find("parcel 17") != std::string::npos,
          "{} is told code {}, '{}', for an event that the host has failed", who, told.code,
          told.message);
}

// An event that the host fails: those that wait get its message, a stream until it is synchronised,
// and others are not affected.
void check_failed_event(session& s) {
  if (!offers(s.api->stream, &tutti_stream_api::event_signal)) return;
  constexpr uint64_t size = 256;
  const handle<tutti_buffer> a = s.allocate(size), b = s.allocate(size);
  const std::vector<uint8_t> sent = bytes_of(size, s.seed);
  std::vector<uint8_t> got(size);
  const auto* stream = s.api->stream;
  const auto* transfer = s.api->transfer;
  const handle<tutti_stream> gated = s.stream(), other = s.stream();
  const tutti_status why = failed_by_host();
  for (int round = 0; round < 2; ++round) {
    const auto made = event_of(s, "event create", stream->event_create, s.device.get());
    tutti_event* const gate = made.get();
    check(stream->wait(gated.get(), gate), "stream wait");
    const auto written =
        event_of(s, "write", transfer->write, gated.get(), a.get(), 0, sent.data(), size, 0);
    check(transfer->write(gated.get(), a.get(), 0, sent.data(), size, 0, nullptr), "write");
    const auto mark = event_of(s, "record", stream->record, gated.get());
    check(stream->flush(gated.get()), "flush");
    check(stream->event_signal(gate, &why), "event signal");
    require(take(stream->event_signal(gate, nullptr)).code == TUTTI_ERROR_INVALID_ARGUMENT,
            "an event may be signalled twice");
    require_told(stream->event_wait(gate, TUTTI_FOREVER), "who waits for the event");
    int32_t done = 0;
    require_told(stream->event_query(gate, &done), "who asks for the event");
    require_told(stream->event_wait(written.get(), TUTTI_FOREVER), "who waits for work behind it");
    require_told(stream->event_wait(mark.get(), TUTTI_FOREVER), "who waits for a mark behind it");
    require_told(transfer->read(gated.get(), a.get(), 0, got.data(), size, 1, nullptr),
                 "a blocking read behind it");
    // Another stream, also one that waits for the failed event only after it was reported.
    check(transfer->write(other.get(), b.get(), 0, sent.data(), size, 1, nullptr), "write beside");
    if (tutti_status* const refused = stream->wait(other.get(), gate))
      require_told(refused, "a stream that waits for a failed event");
    else
      require_told(stream->synchronize(other.get()), "a stream that waits for a failed event");
    static_cast<void>(take(stream->synchronize(gated.get())));
    check(transfer->write(gated.get(), a.get(), 0, sent.data(), size, 1, nullptr),
          "write after synchronize");
    check(transfer->read(gated.get(), a.get(), 0, got.data(), size, 1, nullptr),
          "read after synchronize");
    compare(got, sent, "after synchronize");
    check(stream->synchronize(gated.get()), "synchronize a stream that is sound again");
    check(stream->synchronize(other.get()), "synchronize a stream that is sound again");
  }
  const auto work = event_of(s, "record", stream->record, gated.get());
  require(take(stream->event_signal(work.get(), nullptr)).code == TUTTI_ERROR_INVALID_ARGUMENT,
          "the host may signal an event of work");
}

// Memory of kind HOST, and other memory with direct access if the plugin maps it.
void check_mapped_memory(session& s) {
  if (!offers(s.api->memory, &tutti_memory_api::unmap)) return;
  const auto* memory = s.api->memory;
  for (const uint32_t kind : {TUTTI_MEMORY_HOST, TUTTI_MEMORY_DEVICE}) {
    for (const uint64_t size : {uint64_t{1}, uint64_t{5000}, uint64_t{1} << 20}) {
      tutti_buffer* made = nullptr;
      const tutti_buffer_desc desc{sizeof desc, size, kind, 0};
      const outcome allocated = take(memory->allocate(s.device.get(), &desc, &made));
      if (allocated.code == TUTTI_ERROR_UNSUPPORTED && kind == TUTTI_MEMORY_HOST) break;
      require(!allocated, "allocate: {}", allocated.message);
      const handle<tutti_buffer> a(made, memory->release);
      const std::vector<uint8_t> sent = bytes_of(size, s.seed), back = bytes_of(size, s.seed + 1);
      std::vector<uint8_t> got(size);
      s.write(made, 0, sent.data(), size);
      const uint64_t offset = size / 3;
      void* host = nullptr;
      const outcome mapped = take(memory->map(made, offset, size - offset, TUTTI_MAP_READ, &host));
      if (mapped.code == TUTTI_ERROR_UNSUPPORTED && kind == TUTTI_MEMORY_DEVICE) break;
      require(!mapped && host != nullptr, "map for reading: {}", mapped.message);
      const auto* bytes = static_cast<const uint8_t*>(host);
      compare({bytes, bytes + (size - offset)},
              {sent.begin() + static_cast<int64_t>(offset), sent.end()}, "mapped for reading");
      check(memory->unmap(made, host), "unmap");
      check(memory->map(made, 0, size, TUTTI_MAP_READ | TUTTI_MAP_WRITE, &host), "map");
      std::copy(back.begin(), back.end(), static_cast<uint8_t*>(host));
      check(memory->unmap(made, host), "unmap");
      s.read(made, 0, got.data(), size);
      compare(got, back, "mapped for writing");
      for (const uint32_t flags : {0u, 4u})
        require(static_cast<bool>(take(memory->map(made, 0, size, flags, &host))),
                "map takes flags that are none");
      require(static_cast<bool>(take(memory->map(made, 1, size, TUTTI_MAP_READ, &host))),
              "map goes beyond the buffer");
    }
  }
}

// Requests of a later header are refused by all functions, not misinterpreted.
void check_unknown_memory(session& s) {
  const std::pair<tutti_buffer_desc, const char*> unknown[] = {
      {{sizeof(tutti_buffer_desc), 16, 77, 0}, "of an unknown kind"},
      {{sizeof(tutti_buffer_desc), 16, ~0u, 0}, "of an unknown kind"},
      {{sizeof(tutti_buffer_desc), 16, TUTTI_MEMORY_DEVICE, 1u << 31}, "with an unknown flag"}};
  for (const auto& [desc, what] : unknown) {
    const auto [result, made] =
        tried(s.api->memory->release, s.api->memory->allocate, s.device.get(), &desc);
    require(result.code == TUTTI_ERROR_UNSUPPORTED && !made, "memory {} gives code {}{}", what,
            result.code, made ? ", and a buffer" : "");
  }
}

// Host memory as source and target of transfers.
void check_host_memory(session& s) {
  if (!offers(s.api->memory, &tutti_memory_api::unmap)) return;
  for (const uint64_t size : {uint64_t{1}, uint64_t{5000}, uint64_t{1} << 20}) {
    tutti_buffer* made = nullptr;
    const tutti_buffer_desc desc{sizeof desc, size, TUTTI_MEMORY_HOST, 0};
    if (take(s.api->memory->allocate(s.device.get(), &desc, &made))) return;
    const handle<tutti_buffer> owner(made, s.api->memory->release);
    void* host = nullptr;
    check(s.api->memory->map(made, 0, size, TUTTI_MAP_READ | TUTTI_MAP_WRITE, &host), "map");
    const handle<tutti_buffer> a = s.allocate(size);
    const std::vector<uint8_t> sent = bytes_of(size, s.seed);
    std::copy(sent.begin(), sent.end(), static_cast<uint8_t*>(host));
    s.write(a.get(), 0, host, size);
    std::fill_n(static_cast<uint8_t*>(host), size, uint8_t{0});
    s.read(a.get(), 0, host, size);
    const auto* bytes = static_cast<uint8_t*>(host);
    compare({bytes, bytes + size}, sent, "through host memory");
    check(s.api->memory->unmap(made, host), "unmap");
  }
}

}  // namespace

void add_host_groups(groups& all, const session&) {
  all.push_back({"stream/host_event", check_host_event});
  all.push_back({"stream/failed_event", check_failed_event});
  all.push_back({"memory/unknown", check_unknown_memory});
  all.push_back({"memory/mapped", check_mapped_memory});
  all.push_back({"memory/host", check_host_memory});
}

}  // namespace tutti::conformance
