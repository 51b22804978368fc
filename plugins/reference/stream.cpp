// SPDX-License-Identifier: Apache-2.0
//
// The stream, event and profile groups. Work runs when it is enqueued; what is asynchronous here is
// only the news of a failure, which goes the way the ABI lays down: into the event and the stream.
#include <chrono>
#include <new>

#include "reference/objects.hpp"

namespace tutti::reference {

using sdk::deref;
using sdk::guarded;

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void enqueue(tutti_stream& stream, tutti_event** event, const std::function<void()>& work) {
  if (event != nullptr) *event = nullptr;
  auto done = std::make_unique<tutti_event>();
  done->timed = stream.profile;
  done->failure = stream.blocked;
  done->begin_ns = now_ns();
  if (!done->failure) {
    try {
      work();
    } catch (const sdk::plugin_error& error) {
      done->failure = error;
    } catch (const std::bad_alloc&) {
      done->failure = sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory", 0, true);
    } catch (const std::exception& error) {
      done->failure = sdk::plugin_error(TUTTI_ERROR_INTERNAL, error.what());
    }
  }
  done->end_ns = now_ns();
  if (done->failure && !stream.unreported) stream.unreported = done->failure;
  if (event != nullptr) *event = done.release();
}

void throw_unreported(tutti_stream& stream) {
  if (!stream.unreported) return;
  const sdk::plugin_error failure = *stream.unreported;
  stream.unreported.reset();
  throw failure;
}

namespace {

tutti_status* create(tutti_device* device, uint32_t flags, tutti_stream** stream) {
  return guarded([&] {
    deref(device, "device");
    deref(stream, "stream") = nullptr;
    auto made = std::make_unique<tutti_stream>();
    made->profile = (flags & TUTTI_STREAM_PROFILE) != 0;
    *stream = made.release();
  });
}

void release(tutti_stream* stream) { delete stream; }

tutti_status* flush(tutti_stream* stream) {
  return guarded([&] { deref(stream, "stream"); });
}

tutti_status* synchronize(tutti_stream* stream) {
  return guarded([&] {
    deref(stream, "stream").blocked.reset();
    throw_unreported(*stream);
  });
}

// The event stands for all work before it, so it fails where that has failed.
tutti_status* record(tutti_stream* stream, tutti_event** event) {
  return guarded([&] {
    deref(event, "event");
    enqueue(deref(stream, "stream"), event, [&] {
      if (stream->unreported) throw sdk::plugin_error(*stream->unreported);
    });
  });
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return guarded([&] {
    deref(stream, "stream");
    if (deref(event, "event").failure && !stream->blocked) stream->blocked = event->failure;
  });
}

tutti_status* event_wait(tutti_event* event) {
  return guarded([&] {
    if (deref(event, "event").failure) throw sdk::plugin_error(*event->failure);
  });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return guarded([&] {
    deref(event, "event");
    deref(done, "done") = 1;
  });
}

void event_release(tutti_event* event) { delete event; }

tutti_status* event_times(tutti_event* event, tutti_event_times* times) {
  return guarded([&] {
    if (!deref(event, "event").timed) {
      sdk::throw_unsupported("event_times: the stream was not created for profiling");
    }
    sdk::write_struct(times, tutti_event_times{0, event->begin_ns, event->end_ns}, "times");
  });
}

tutti_status* clock(tutti_device* device, uint64_t* result) {
  return guarded([&] {
    deref(device, "device");
    deref(result, "now_ns") = now_ns();
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
                                     event_release};

const tutti_profile_api profile_api = {sizeof(tutti_profile_api), event_times, clock};

}  // namespace tutti::reference
