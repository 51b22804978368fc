// SPDX-License-Identifier: Apache-2.0
//
// Waiting for work on the host: event_wait and synchronize return when the work is done, and its
// results are then visible to other streams and to direct access. Work is delayed by a host event,
// or by a large amount of other work.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "byte_checks.hpp"
#include "harness.hpp"

namespace tutti::conformance {
namespace {

constexpr std::chrono::milliseconds delay{20};

// A buffer with `before`, and work on `late` that writes `after` to it.
struct late_copy {
  late_copy(session& s, uint64_t bytes)
      : size(bytes),
        before(bytes_of(bytes, s.seed)),
        after(bytes_of(bytes, s.seed + 1)),
        from(s.allocate(bytes)),
        to(s.allocate(bytes)),
        late(s.stream()) {
    s.write(from.get(), 0, after.data(), size);
    s.write(to.get(), 0, before.data(), size);
  }

  handle<tutti_event> enqueue(session& s) const {
    auto held =
        event_of(s, "copy", s.api->transfer->copy, late.get(), from.get(), 0, to.get(), 0, size);
    check(s.api->stream->flush(late.get()), "flush");
    return held;
  }

  // Through a stream that is not ordered after the copy, and by direct access.
  void require_there(session& s, const char* after_what) const {
    void* host = nullptr;
    const bool is_mapped =
        s.properties.unified_memory != 0 && offers(s.api->memory, &tutti_memory_api::unmap) &&
        !take(s.api->memory->map(to.get(), 0, size, TUTTI_MAP_READ, &host)) && host != nullptr;
    if (is_mapped) {
      const auto* bytes = static_cast<const uint8_t*>(host);
      const std::vector<uint8_t> seen(bytes, bytes + size);
      check(s.api->memory->unmap(to.get(), host), "unmap");
      compare(seen, after, (std::string("mapped after ") + after_what).c_str());
    }
    std::vector<uint8_t> got(size);
    s.read(to.get(), 0, got.data(), size);
    compare(got, after, (std::string("read after ") + after_what).c_str());
  }

  uint64_t size;
  std::vector<uint8_t> before, after;
  handle<tutti_buffer> from, to;
  handle<tutti_stream> late;
};

// `wait` for the copy's event or stream, while another thread releases it after a while.
void check_gated(session& s, const char* what,
                 const std::function<tutti_status*(tutti_event*, tutti_stream*)>& wait) {
  const auto* stream = s.api->stream;
  for (int round = 0; round < 2; ++round) {
    const late_copy work(s, 4096);
    const auto gate = event_of(s, "event create", stream->event_create, s.device.get());
    check(stream->wait(work.late.get(), gate.get()), "stream wait");
    const auto copied = work.enqueue(s);
    std::atomic<bool> is_over = false;
    outcome signalled{};
    std::thread other([&] {
      std::this_thread::sleep_for(delay);
      is_over = true;
      signalled = take(stream->event_signal(gate.get(), nullptr));
    });
    const outcome waited = take(wait(copied.get(), work.late.get()));
    const bool is_early = !is_over;
    other.join();
    require(!signalled, "event signal: {}", signalled.message);
    require(!waited, "{}: {}", what, waited.message);
    require(!is_early, "{} is back before the work is done", what);
    work.require_there(s, what);
  }
}

// An amount that takes a while on any device.
void check_busy(session& s, const char* what,
                const std::function<tutti_status*(tutti_event*, tutti_stream*)>& wait) {
  const uint64_t bytes = std::min<uint64_t>(32u << 20, s.properties.max_allocation_bytes / 8);
  const handle<tutti_buffer> a = s.allocate(bytes), b = s.allocate(bytes);
  const late_copy work(s, 4096);
  for (int i = 0; i < 8; ++i)
    check(s.api->transfer->copy(work.late.get(), (i % 2 == 0 ? a : b).get(), 0,
                                (i % 2 == 0 ? b : a).get(), 0, bytes, nullptr),
          "copy");
  const auto copied = work.enqueue(s);
  const outcome waited = take(wait(copied.get(), work.late.get()));
  require(!waited, "{}: {}", what, waited.message);
  work.require_there(s, what);
}

void check_wait(session& s, const char* what,
                const std::function<tutti_status*(tutti_event*, tutti_stream*)>& wait) {
  if (offers(s.api->stream, &tutti_stream_api::event_signal))
    check_gated(s, what, wait);
  else
    check_busy(s, what, wait);
}

void check_event_wait(session& s) {
  const auto* stream = s.api->stream;
  check_wait(s, "event_wait", [&](tutti_event* event, tutti_stream*) {
    return stream->event_wait(event, TUTTI_FOREVER);
  });
  constexpr uint64_t ten_seconds = 10'000'000'000;
  check_wait(s, "event_wait with a limit", [&](tutti_event* event, tutti_stream*) {
    return stream->event_wait(event, ten_seconds);
  });
}

void check_synchronize(session& s) {
  check_wait(s, "synchronize",
             [&](tutti_event*, tutti_stream* late) { return s.api->stream->synchronize(late); });
}

}  // namespace

void add_wait_groups(groups& all, const session&) {
  all.push_back({"stream/event_wait", check_event_wait});
  all.push_back({"stream/synchronize", check_synchronize});
}

}  // namespace tutti::conformance
