// SPDX-License-Identifier: Apache-2.0
//
// The stream, event and profile groups: a stream is an SDK queue with its own thread, and an event
// is the outcome of one piece of work. Short work runs in the calling thread if the queue is idle.
#include <utility>

#include "sdk/host_device/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::host_device {

using sdk::deref;
using sdk::guarded;

namespace {

// Calls `add`, which queues work and returns its completion, and makes that the event. Allocates
// the event first, because queued work cannot be withdrawn.
template <typename F>
void with_event(const tutti_stream& stream, tutti_event** event, const F& add) {
  if (event == nullptr) return static_cast<void>(add());
  *event = nullptr;
  std::unique_ptr<tutti_event> made(new tutti_event{nullptr, stream.profile, false});
  made->state = add();
  *event = made.release();
}

}  // namespace

void enqueue(tutti_stream& stream, tutti_event** event, std::function<void()> work) {
  with_event(stream, event, [&] { return stream.queue.add(std::move(work)); });
}

void enqueue(tutti_stream& stream, tutti_event** event,
             std::shared_ptr<const sdk::joint_work> work) {
  with_event(stream, event, [&] { return stream.queue.add(std::move(work)); });
}

bool hold(tutti_stream& stream, tutti_event** event, std::shared_ptr<const sdk::joint_work> work) {
  bool is_held = false;
  with_event(stream, event, [&] {
    auto done = stream.queue.hold(std::move(work));
    is_held = done != nullptr;
    return done;
  });
  if (!is_held && event != nullptr) delete std::exchange(*event, nullptr);
  return is_held;
}

void run_now(tutti_stream& stream, tutti_event** event, const std::function<void()>& work) {
  with_event(stream, event, [&] { return stream.queue.run(work, stream.profile); });
}

namespace {

tutti_status* create(tutti_device* device, const tutti_stream_desc* desc, tutti_stream** stream) {
  return guarded([&] {
    deref(device, "device");
    deref(stream, "stream") = nullptr;
    *stream = new tutti_stream{device, sdk::wants_profile(desc), {}};
  });
}

void release(tutti_stream* stream) { delete stream; }

tutti_status* flush(tutti_stream* stream) {
  return guarded([&] { deref(stream, "stream").queue.start(); });
}

tutti_status* synchronize(tutti_stream* stream) {
  return guarded([&] { deref(stream, "stream").queue.synchronize(); });
}

tutti_status* record(tutti_stream* stream, tutti_event** event) {
  return guarded([&] {
    deref(event, "event");
    tutti_stream& line = deref(stream, "stream");
    if (line.queue.is_idle()) return run_now(line, event, [] {});
    with_event(line, event, [&] { return line.queue.record(); });
  });
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return guarded([&] {
    const auto other = deref(event, "event").state;
    deref(stream, "stream").queue.wait_for(other);
  });
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  return guarded([&] { deref(event, "event").state->wait(timeout_ns); });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return guarded([&] {
    const auto& state = *deref(event, "event").state;
    deref(done, "done") = 1;  // also after a failure, which is thrown
    *done = state.query() ? 1 : 0;
  });
}

void event_release(tutti_event* event) { delete event; }

tutti_status* event_create(tutti_device* device, tutti_event** event) {
  return guarded([&] {
    deref(device, "device");
    deref(event, "event") = nullptr;
    *event = new tutti_event{std::make_shared<sdk::completion>(), false, true};
  });
}

tutti_status* event_signal(tutti_event* event, const tutti_status* status) {
  return guarded([&] {
    if (!deref(event, "event").host) sdk::throw_invalid(sdk::no_host_event);
    if (!event->state->set(sdk::failure_of(status))) sdk::throw_invalid(sdk::signalled_before);
  });
}

tutti_status* event_notify(tutti_event* event, tutti_event_listener listener, void* context) {
  return guarded([&] { deref(event, "event").state->notify(listener, context); });
}

tutti_status* event_times(tutti_event* event, tutti_event_times* times) {
  return guarded([&] {
    if (!deref(event, "event").timed) {
      sdk::throw_unsupported("event_times: the stream was not created for profiling");
    }
    event->state->outcome();
    sdk::write_struct(times, tutti_event_times{0, event->state->begin_ns, event->state->end_ns},
                      "times");
  });
}

tutti_status* clock(tutti_device* device, uint64_t* result) {
  return guarded([&] {
    deref(device, "device");
    deref(result, "now_ns") = sdk::now_ns();
  });
}

}  // namespace

const tutti_stream_api stream_api = {sizeof(tutti_stream_api),
                                     create,
                                     release,
                                     flush,
                                     synchronize,
                                     record,
                                     wait,
                                     event_wait,
                                     event_query,
                                     event_release,
                                     event_create,
                                     event_signal,
                                     event_notify};

const tutti_profile_api profile_api = {sizeof(tutti_profile_api), event_times, clock};

}  // namespace tutti::host_device
