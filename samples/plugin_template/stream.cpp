// SPDX-License-Identifier: Apache-2.0
//
// The stream group: a stream is a queue with its own thread, which shares loops with the threads of
// the device; an event is the outcome of one piece of work.
#include <utility>

#include "objects.hpp"

namespace threads {
namespace {

// Calls `add`, which queues work and returns its completion, and makes that the event. Allocates
// the event first, because queued work cannot be withdrawn.
template <typename F>
void with_event(tutti_event** event, const F& add) {
  if (event == nullptr) return static_cast<void>(add());
  *event = nullptr;
  auto made = std::make_unique<tutti_event>();
  made->state = add();
  *event = made.release();
}

tutti_status* create(tutti_device* device, const tutti_stream_desc* desc, tutti_stream** stream) {
  return guarded([&] {
    deref(stream, "stream") = nullptr;
    sdk::wants_profile(desc);  // refuses unknown flags; times are not recorded
    *stream = new tutti_stream{deref(device, "device").team, {}};
  });
}

void release(tutti_stream* stream) { delete stream; }

tutti_status* synchronize(tutti_stream* stream) {
  return guarded([&] { deref(stream, "stream").queue.synchronize(); });
}

tutti_status* record(tutti_stream* stream, tutti_event** event) {
  return guarded([&] {
    deref(event, "event");
    with_event(event, [&] { return deref(stream, "stream").queue.record(); });
  });
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return guarded([&] { deref(stream, "stream").queue.wait_for(deref(event, "event").state); });
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  return guarded([&] { deref(event, "event").state->wait(timeout_ns); });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return guarded([&] {
    deref(done, "done") = 1;  // also after a failure, which is thrown
    *done = deref(event, "event").state->query() ? 1 : 0;
  });
}

void event_release(tutti_event* event) { delete event; }

tutti_status* event_notify(tutti_event* event, tutti_event_listener listener, void* context) {
  return guarded([&] { deref(event, "event").state->notify(listener, context); });
}

}  // namespace

void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work) {
  with_event(event, [&] { return stream.queue.add(std::move(work)); });
}

const tutti_stream_api stream_api = {sizeof(tutti_stream_api),
                                     create,
                                     release,
                                     nullptr,  // flush: queued work starts immediately
                                     synchronize,
                                     record,
                                     wait,
                                     event_wait,
                                     event_query,
                                     event_release,
                                     nullptr,  // host events are optional
                                     nullptr,
                                     event_notify};

}  // namespace threads
