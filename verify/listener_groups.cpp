// SPDX-License-Identifier: Apache-2.0
//
// A listener of an event is called once: for an event that is done, that is done later, that has
// failed, that is released meanwhile, one of many.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "byte_checks.hpp"
#include "harness.hpp"

namespace tutti::conformance {
namespace {

// The calls of a listener; shared by those that may outlive a failed check.
class heard {
 public:
  static void listen(void* self, const tutti_status* failure) {
    auto& mine = *static_cast<heard*>(self);
    const std::lock_guard lock(mine.mutex_);
    ++mine.calls_;
    mine.code_ = failure != nullptr ? failure->code : TUTTI_OK;
    mine.message_ = failure != nullptr && failure->message != nullptr ? failure->message : "";
    mine.changed_.notify_all();
  }

  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  void set_patience(std::chrono::seconds longest) {
    const std::lock_guard lock(mutex_);
    patience_ = longest;
  }

  // Waits for the call. Throws `failure` if it does not come, or reports something else.
  void require_told(int32_t code, const std::string& words, const char* what) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, patience_, [this] { return calls_ > 0; });
    if (!came) fail("nobody is told of {} within {} seconds", what, patience_.count());
    require(calls_ == 1, "a listener is told {} times of {}", calls_, what);
    require(code_ == code && message_.find(words) != std::string::npos,
            "a listener is told code {}, '{}', of {}", code_, message_, what);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
  int32_t code_ = TUTTI_OK;
  std::string message_;
  std::chrono::seconds patience_{0};
};

// Never freed after a failed check: the plugin may still call it.
struct listeners {
  explicit listeners(size_t count) : all(new heard[count]) {}
  heard& operator[](size_t n) const { return all[n]; }
  void done() { delete[] std::exchange(all, nullptr); }
  heard* all;
};

// After a failed check, pending work is released and awaited before its memory is freed. Declared
// after that memory.
struct awaited {
  const tutti_stream_api& api;
  std::vector<tutti_stream*> streams;
  tutti_event* gate = nullptr;  // that they wait for
  ~awaited() {
    if (gate != nullptr) take(api.event_signal(gate, nullptr));
    for (tutti_stream* const stream : streams) take(api.synchronize(stream));
  }
};

void listen(session& s, tutti_event* event, heard& who) {
  who.set_patience(s.patience);
  check(s.api->stream->event_notify(event, heard::listen, &who), "event notify");
}

// A write of `sent` on `stream`, flushed.
handle<tutti_event> written(session& s, tutti_stream* stream, tutti_buffer* to,
                            const std::vector<uint8_t>& sent) {
  auto held =
      event_of(s, "write", s.api->transfer->write, stream, to, 0, sent.data(), sent.size(), 0);
  check(s.api->stream->flush(stream), "flush");
  return held;
}

void require_listeners(const session& s) {
  if (!offers(s.api->stream, &tutti_stream_api::event_notify))
    throw skipped("the plugin has no listeners for events");
}

void check_listeners(session& s) {
  require_listeners(s);
  const handle<tutti_stream> stream = s.stream();
  const std::vector<uint8_t> sent = bytes_of(1 << 20, s.seed);
  const handle<tutti_buffer> a = s.allocate(sent.size());
  const awaited before_memory_goes{*s.api->stream, {stream.get()}};
  listeners who(3);
  require(take(s.api->stream->event_notify(nullptr, heard::listen, &who[0])).code ==
              TUTTI_ERROR_INVALID_ARGUMENT,
          "a listener for no event is not refused");
  const handle<tutti_event> event = written(s, stream.get(), a.get(), sent);
  require(take(s.api->stream->event_notify(event.get(), nullptr, &who[0])).code ==
              TUTTI_ERROR_INVALID_ARGUMENT,
          "no listener is not refused");
  listen(s, event.get(), who[0]);  // before or after its end
  check(s.api->stream->event_wait(event.get(), TUTTI_FOREVER), "event wait");
  listen(s, event.get(), who[1]);
  listen(s, event.get(), who[2]);
  who[0].require_told(TUTTI_OK, "", "work under way");
  who[1].require_told(TUTTI_OK, "", "work that is done");
  who[2].require_told(TUTTI_OK, "", "work that is done");
  who.done();
}

// Many events, each released immediately, some of them with two listeners.
void check_many(session& s) {
  require_listeners(s);
  constexpr size_t count = 200;
  const handle<tutti_stream> streams[] = {s.stream(), s.stream()};
  const std::vector<uint8_t> sent = bytes_of(4096, s.seed);
  const handle<tutti_buffer> buffers[] = {s.allocate(sent.size()), s.allocate(sent.size())};
  const awaited before_memory_goes{*s.api->stream, {streams[0].get(), streams[1].get()}};
  listeners who(2 * count);
  for (size_t n = 0; n < count; ++n) {
    const auto event = written(s, streams[n % 2].get(), buffers[n % 2].get(), sent);
    listen(s, event.get(), who[2 * n]);
    listen(s, event.get(), who[2 * n + 1]);
  }
  for (size_t n = 0; n < 2 * count; ++n) who[n].require_told(TUTTI_OK, "", "one event of many");
  for (const auto& stream : streams) check(s.api->stream->synchronize(stream.get()), "synchronize");
  for (size_t n = 0; n < 2 * count; ++n)
    require(who[n].calls() == 1, "a listener is told a second time");
  who.done();
}

// No listener is called for work that waits for the host before the host has signalled, and all are
// afterwards.
void check_gated(session& s) {
  require_listeners(s);
  if (!offers(s.api->stream, &tutti_stream_api::event_signal))
    throw skipped("the plugin has no events of the host");
  const auto* stream = s.api->stream;
  const std::vector<uint8_t> sent = bytes_of(4096, s.seed);
  const handle<tutti_buffer> a = s.allocate(sent.size());
  const tutti_status why = failed_by_host();
  for (const bool fails : {false, true, false}) {
    const handle<tutti_stream> gated = s.stream();
    listeners who(4);
    const auto made = event_of(s, "event create", stream->event_create, s.device.get());
    tutti_event* const gate = made.get();
    const awaited before_memory_goes{*stream, {gated.get()}, gate};
    listen(s, gate, who[0]);
    check(stream->wait(gated.get(), gate), "stream wait");
    {
      const auto released = written(s, gated.get(), a.get(), sent);
      listen(s, released.get(), who[1]);
    }
    const auto mark = event_of(s, "record", stream->record, gated.get());
    check(stream->flush(gated.get()), "flush");
    listen(s, mark.get(), who[2]);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (size_t n = 0; n < 3; ++n)
      require(who[n].calls() == 0, "a listener is told before the host has signalled");
    check(stream->event_signal(gate, fails ? &why : nullptr), "event signal");
    listen(s, gate, who[3]);
    const int32_t code = fails ? TUTTI_ERROR_DRIVER : TUTTI_OK;
    const std::string words = fails ? "parcel 17" : "";
    who[0].require_told(code, words, "a host event");
    who[1].require_told(code, words, "a released event behind a host event");
    who[2].require_told(code, words, "a mark behind a host event");
    who[3].require_told(code, words, "a host event that was signalled");
    int32_t done = 0;
    const outcome asked = take(stream->event_query(mark.get(), &done));
    require(fails ? asked.code == code : done == 1, "what a listener was told of is not done");
    static_cast<void>(take(stream->synchronize(gated.get())));
    who.done();
  }
}

}  // namespace

void add_listener_groups(groups& all, const session&) {
  all.push_back({"stream/listeners", check_listeners});
  all.push_back({"stream/many_listeners", check_many});
  all.push_back({"stream/gated_listeners", check_gated});
}

}  // namespace tutti::conformance
