// SPDX-License-Identifier: Apache-2.0
//
// Buffers, transfers, streams, events, profiling and native handles; failures propagated by events;
// out of memory. Host events and host memory are tested in host_groups.cpp.
#include <algorithm>
#include <chrono>
#include <thread>

#include "byte_checks.hpp"
#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

// The last in more chunks than plugins keep for transfers in chunks.
void check_round_trip(session& s) {
  for (const uint64_t size : {1, 3, 64, 1000, 4097, 3'000'001, (12 << 20) + 77}) {
    const handle<tutti_buffer> buffer = s.allocate(size);
    const std::vector<uint8_t> sent = bytes_of(size, s.seed + size);
    std::vector<uint8_t> got(size);
    s.write(buffer.get(), 0, sent.data(), size);
    s.read(buffer.get(), 0, got.data(), size);
    compare(got, sent, "round trip");
  }
}

void check_offsets(session& s) {
  constexpr uint64_t size = 10'000;
  const handle<tutti_buffer> buffer = s.allocate(size);
  std::vector<uint8_t> mirror = bytes_of(size, s.seed), got(size);
  s.write(buffer.get(), 0, mirror.data(), size);
  generator random(s.seed);
  for (int i = 0; i < 50; ++i) {
    const uint64_t offset = random() % size, count = random() % (size - offset) + 1;
    const std::vector<uint8_t> piece = bytes_of(count, random());
    const auto written = event_of(s, "write", s.api->transfer->write, s.main_stream.get(),
                                  buffer.get(), offset, piece.data(), count, 0);
    check(s.api->stream->event_wait(written.get(), TUTTI_FOREVER), "event wait");
    std::copy(piece.begin(), piece.end(), mirror.begin() + static_cast<std::ptrdiff_t>(offset));
    std::vector<uint8_t> part(count);
    s.read(buffer.get(), offset, part.data(), count);
    compare(part, piece, "part");
  }
  s.read(buffer.get(), 0, got.data(), size);
  compare(got, mirror, "whole");
}

void check_copy(session& s) {
  constexpr uint64_t size = 5000;
  const handle<tutti_buffer> from = s.allocate(size), to = s.allocate(size);
  const std::vector<uint8_t> a = bytes_of(size, s.seed);
  std::vector<uint8_t> b = bytes_of(size, s.seed + 1), got(size);
  const auto* transfer = s.api->transfer;
  tutti_stream* stream = s.main_stream.get();
  s.write(from.get(), 0, a.data(), size);
  s.write(to.get(), 0, b.data(), size);
  const auto copy = [&](uint64_t at, uint64_t into, uint64_t count) {
    check(transfer->copy(stream, from.get(), at, to.get(), into, count, nullptr), "copy");
    std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(at), count,
                b.begin() + static_cast<std::ptrdiff_t>(into));
  };
  copy(0, 1, 1);
  copy(17, 1003, 3001);
  copy(4999, 0, 1);
  s.read(to.get(), 0, got.data(), size);
  compare(got, b, "copy");
  check(transfer->copy(stream, to.get(), 0, to.get(), 2500, 2500, nullptr), "copy within");
  std::copy_n(b.begin(), 2500, b.begin() + 2500);
  s.read(to.get(), 0, got.data(), size);
  compare(got, b, "copy within one buffer");
}

// Write on one stream, copy on a second, read on a third, ordered only by events.
void check_streams(session& s) {
  constexpr uint64_t size = 1 << 20;
  const handle<tutti_stream> first = s.stream(), second = s.stream();
  const handle<tutti_buffer> a = s.allocate(size), b = s.allocate(size);
  for (uint64_t round = 0; round < 10; ++round) {
    const std::vector<uint8_t> sent = bytes_of(size, s.seed + round);
    std::vector<uint8_t> got(size);
    const auto written =
        event_of(s, "write", s.api->transfer->write, first.get(), a.get(), 0, sent.data(), size, 0);
    check(s.api->stream->flush(first.get()), "flush");
    check(s.api->stream->wait(second.get(), written.get()), "stream wait");
    const auto copied =
        event_of(s, "copy", s.api->transfer->copy, second.get(), a.get(), 0, b.get(), 0, size);
    const auto mark = event_of(s, "record", s.api->stream->record, second.get());
    check(s.api->stream->flush(second.get()), "flush");
    check(s.api->stream->wait(s.main_stream.get(), mark.get()), "stream wait");
    s.read(b.get(), 0, got.data(), size);
    compare(got, sent, "three streams");
    check(s.api->stream->event_wait(written.get(), TUTTI_FOREVER), "event wait");
    check(s.api->stream->event_wait(written.get(), TUTTI_FOREVER), "second event wait");
    int32_t done = 0;
    check(s.api->stream->event_query(copied.get(), &done), "event query");
    require(done == 1, "an event that other work waited for is not done");
  }
  check(s.api->stream->synchronize(first.get()), "synchronize");
  check(s.api->stream->synchronize(second.get()), "synchronize");
}

// The data of a blocking write are visible to work on another stream that waits for nothing.
void check_blocking_write(session& s) {
  const handle<tutti_stream> writer = s.stream(), other = s.stream();
  for (const uint64_t size : {4, 20, 300, 5000}) {
    const handle<tutti_buffer> from = s.allocate(size), to = s.allocate(size);
    std::vector<uint8_t> got(size);
    for (uint64_t round = 0; round < 50; ++round) {
      const std::vector<uint8_t> sent = bytes_of(size, s.seed + round);
      s.write(from.get(), 0, sent.data(), size, writer.get());
      check(s.api->transfer->copy(other.get(), from.get(), 0, to.get(), 0, size, nullptr), "copy");
      s.read(to.get(), 0, got.data(), size, other.get());
      compare(got, sent, "what another stream finds after a blocking write");
    }
  }
}

void check_query(session& s) {
  const handle<tutti_buffer> buffer = s.allocate(4096);
  const std::vector<uint8_t> sent(4096, 1);
  const auto event = event_of(s, "write", s.api->transfer->write, s.main_stream.get(), buffer.get(),
                              0, sent.data(), 4096, 0);
  check(s.api->stream->flush(s.main_stream.get()), "flush");
  int32_t done = 0;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (done == 0 && std::chrono::steady_clock::now() < limit) {
    check(s.api->stream->event_query(event.get(), &done), "event query");
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  require(done == 1, "flushed work was not done within 20 seconds");
}

void check_out_of_memory(session& s) {
  for (const uint64_t bytes : {uint64_t{1} << 62, s.properties.memory_bytes * 8}) {
    tutti_buffer* buffer = nullptr;
    const tutti_buffer_desc desc{sizeof desc, bytes, TUTTI_MEMORY_DEVICE, 0};
    const outcome result = take(s.api->memory->allocate(s.device.get(), &desc, &buffer));
    require(result.code == TUTTI_ERROR_OUT_OF_MEMORY,
            "allocating {} bytes gives code {}, expected out of memory ({})", bytes, result.code,
            result.message);
    require(!result.message.empty(), "out of memory without a message");
    require(buffer == nullptr, "a failed allocation returned a buffer");
  }
  check_round_trip(s);  // the device continues to work
}

// A transfer beyond the end of a buffer must not succeed: it is refused immediately, or its event
// and the stream report it; then the stream works again.
void check_poison(session& s) {
  const handle<tutti_stream> stream = s.stream();
  const handle<tutti_buffer> buffer = s.allocate(64);
  std::vector<uint8_t> room(4096);
  tutti_event* event = nullptr;
  const outcome refused =
      take(s.api->transfer->read(stream.get(), buffer.get(), 32, room.data(), 4096, 0, &event));
  const handle<tutti_event> held(event, s.api->stream->event_release);
  if (refused) {
    require(event == nullptr || take(s.api->stream->event_wait(event, TUTTI_FOREVER)),
            "a refused read handed out an event that succeeds");
    require(!refused.message.empty(), "refused without a message");
  } else {
    require(event != nullptr, "neither a status nor an event");
    const outcome first = take(s.api->stream->event_wait(event, TUTTI_FOREVER));
    require(bool(first), "a read beyond the end of its buffer succeeded");
    require(!first.message.empty(), "failed without a message");
    require(bool(take(s.api->stream->event_wait(event, TUTTI_FOREVER))),
            "the second event wait succeeded");
    const handle<tutti_stream> other = s.stream();
    check(s.api->stream->wait(other.get(), event), "stream wait");
    tutti_event* later = nullptr;
    const outcome enqueued =
        take(s.api->transfer->read(other.get(), buffer.get(), 0, room.data(), 8, 0, &later));
    const handle<tutti_event> later_held(later, s.api->stream->event_release);
    require(enqueued || take(s.api->stream->event_wait(later, TUTTI_FOREVER)),
            "work behind a failed event succeeded");
    take(s.api->stream->synchronize(other.get()));
    require(bool(take(s.api->stream->synchronize(stream.get()))),
            "synchronize did not tell of the failure");
  }
  take(s.api->stream->synchronize(stream.get()));
  check(s.api->transfer->read(stream.get(), buffer.get(), 0, room.data(), 64, 1, nullptr),
        "a read after a failure");
  check(s.api->stream->synchronize(stream.get()), "synchronize after a failure");
}

void check_blocking_failure(session& s) {
  const handle<tutti_stream> stream = s.stream();
  const handle<tutti_buffer> buffer = s.allocate(64);
  std::vector<uint8_t> room(256);
  const auto* transfer = s.api->transfer;
  require(bool(take(transfer->read(stream.get(), buffer.get(), 0, room.data(), 256, 1, nullptr))),
          "a blocking read beyond the end succeeded");
  require(bool(take(transfer->write(stream.get(), buffer.get(), 60, room.data(), 5, 1, nullptr))),
          "a blocking write beyond the end succeeded");
  require(bool(take(transfer->read(stream.get(), buffer.get(), ~uint64_t{0} - 3, room.data(), 8, 1,
                                   nullptr))),
          "a blocking read at an offset that wraps succeeded");
}

void check_profile(session& s) {
  if (s.api->profile == nullptr) throw skipped("no profile group");
  const handle<tutti_stream> stream = s.stream(TUTTI_STREAM_PROFILE);
  const handle<tutti_buffer> buffer = s.allocate(1 << 22);
  const std::vector<uint8_t> sent(1 << 22, 7);
  uint64_t before = 0, after = 0;
  check(s.api->profile->clock(s.device.get(), &before), "clock");
  const auto event = event_of(s, "write", s.api->transfer->write, stream.get(), buffer.get(), 0,
                              sent.data(), sent.size(), 0);
  check(s.api->stream->event_wait(event.get(), TUTTI_FOREVER), "event wait");
  check(s.api->profile->clock(s.device.get(), &after), "clock");
  tutti_event_times times{};
  times.struct_size = sizeof(times);
  check(s.api->profile->event_times(event.get(), &times), "event times");
  require(times.begin_ns <= times.end_ns, "an event ends before it begins");
  require(before <= after, "the device's clock goes back");
  require(times.end_ns > 0, "the end of an event is 0");
  constexpr uint64_t slack = 1'000'000'000;
  require(times.begin_ns + slack >= before && times.end_ns <= after + slack,
          "event times {} to {} are not on the clock, which went from {} to {}", times.begin_ns,
          times.end_ns, before, after);
}

int deleted = 0;
void count_deletion(void*) { ++deleted; }

void check_native(session& s) {
  if (s.api->native == nullptr) throw skipped("no native group");
  const handle<tutti_buffer> buffer = s.allocate(256);
  void* handle_of_buffer = nullptr;
  check(s.api->native->buffer(buffer.get(), &handle_of_buffer), "native buffer");
  require(handle_of_buffer != nullptr, "a native handle is NULL");
  tutti_buffer* refused = nullptr;
  deleted = 0;
  require(bool(take(s.api->native->wrap(s.device.get(), nullptr, 100, count_deletion, nullptr,
                                        &refused))),
          "wrap takes NULL for 100 bytes");
  require(deleted == 0 && refused == nullptr, "a wrap that failed called the deleter");
  if (s.api->native->kind != TUTTI_NATIVE_HOST) return;
  const std::vector<uint8_t> sent = bytes_of(256, s.seed);
  s.write(buffer.get(), 0, sent.data(), 256);
  const auto* memory = static_cast<const uint8_t*>(handle_of_buffer);
  compare(std::vector<uint8_t>(memory, memory + 256), sent, "host pointer");
  std::vector<uint8_t> foreign = bytes_of(100, s.seed + 1), got(100);
  tutti_buffer* wrapped = nullptr;
  deleted = 0;
  check(s.api->native->wrap(s.device.get(), foreign.data(), 100, count_deletion, nullptr, &wrapped),
        "wrap");
  s.read(wrapped, 0, got.data(), 100);
  compare(got, foreign, "wrapped memory");
  s.api->memory->release(wrapped);
  require(deleted == 1, "the deleter ran {} times", deleted);
}

void check_available(session& s) {
  uint64_t bytes = 0;
  check(s.api->device->memory_available(s.device.get(), &bytes), "memory available");
  require(bytes > 0 && bytes <= s.properties.memory_bytes, "{} bytes available of {}", bytes,
          s.properties.memory_bytes);
}

// Streams of one device used by separate threads.
void check_threads(session& s) {
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < errors.size(); ++t) {
    threads.emplace_back([&s, &error = errors[t], t] {
      try {
        const handle<tutti_stream> stream = s.stream();
        for (uint64_t round = 0; round < 20; ++round) {
          const handle<tutti_buffer> buffer = s.allocate(10'000);
          const std::vector<uint8_t> sent = bytes_of(10'000, t * 100 + round);
          std::vector<uint8_t> got(10'000);
          s.write(buffer.get(), 0, sent.data(), 10'000, stream.get());
          s.read(buffer.get(), 0, got.data(), 10'000, stream.get());
          compare(got, sent, "thread");
        }
      } catch (const std::exception& e) {
        error = e.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) require(error.empty(), "{}", error);
}

}  // namespace

void add_memory_groups(groups& all, const session&) {
  all.push_back({"memory/round_trip", check_round_trip});
  all.push_back({"memory/offsets", check_offsets});
  all.push_back({"memory/copy", check_copy});
  all.push_back({"memory/available", check_available});
  all.push_back({"memory/out_of_memory", check_out_of_memory});
  all.push_back({"stream/order", check_streams});
  all.push_back({"stream/blocking_write", check_blocking_write});
  all.push_back({"stream/query", check_query});
  all.push_back({"stream/poison", check_poison});
  all.push_back({"stream/blocking_failure", check_blocking_failure});
  all.push_back({"stream/threads", check_threads});
  all.push_back({"profile", check_profile});
  all.push_back({"native", check_native});
}

}  // namespace tutti::conformance
