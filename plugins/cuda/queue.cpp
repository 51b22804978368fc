// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and event times.
#include <algorithm>
#include <cmath>

#include "cuda/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::cuda {

event_recorder::event_recorder(tutti_stream& stream, tutti_event** wanted)
    : stream_(stream), wanted_(wanted) {
  if (wanted_ == nullptr) return;
  *wanted_ = nullptr;
  event_ = std::make_unique<tutti_event>();
  event_->device = stream.device;
  event_->timed = stream.profile;
  if (!stream.profile) return;
  event_->begin = stream.device->events.take(*stream.device, true);
  check(stream.device, cu().event_record(event_->begin, stream.handle), "cuEventRecord");
}

event_recorder::~event_recorder() {
  if (!event_) return;
  event_->device->events.give(event_->begin, event_->timed);
  event_->device->events.give(event_->end, event_->timed);
}

void event_recorder::finish() {
  if (!event_) return;
  event_->end = stream_.device->events.take(*stream_.device, event_->timed);
  check(stream_.device, cu().event_record(event_->end, stream_.handle), "cuEventRecord");
  if (!stream_.awaited.empty()) event_->behind = stream_.awaited.open();
  event_->ended = stream_.ended;
  event_->number = ++stream_.recorded;
  *wanted_ = event_.release();
}

void record_empty(tutti_stream& stream, tutti_event** event) {
  event_recorder recorder(stream, event);
  recorder.finish();
}

namespace {

// ---- ended work: a stream's work ends in order, so after waiting for the last of many events the
// driver need not be queried for the others

void set_ended(const shared_number& ended, uint64_t number) {
  uint64_t seen = ended->load(std::memory_order_relaxed);
  while (seen < number && !ended->compare_exchange_weak(seen, number, std::memory_order_release)) {
  }
}

bool is_known_to_have_ended(const tutti_event& event) {
  return event.number <= event.ended->load(std::memory_order_acquire) &&
         !event.device->lost.load(std::memory_order_relaxed);
}

// ---- times: distances from a base event, which is replaced so that floats stay precise enough

double elapsed_ns(tutti_device& device, CUevent from, CUevent to) {
  float milliseconds = 0;
  check(&device, cu().event_elapsed(&milliseconds, from, to), "cuEventElapsedTime");
  return std::floor(static_cast<double>(milliseconds) * 1e6);
}

// The base event and its time, created on first use.
std::pair<CUevent, double> clock_base(tutti_device& device) {
  {
    const std::lock_guard lock(device.mutex);
    if (device.clock_base != nullptr) return {device.clock_base, device.clock_ns};
  }
  const CUevent base = device.events.take(device, true);
  check(&device, cu().event_record(base, device.allocation_stream), "cuEventRecord");
  check(&device, cu().event_synchronize(base), "cuEventSynchronize");
  const std::lock_guard lock(device.mutex);
  if (device.clock_base == nullptr) {
    device.clock_base = base;
    device.clock_ns = 0;
  } else {
    device.events.give(base, true);
  }
  return {device.clock_base, device.clock_ns};
}

// A new base for later events.
void move_clock_base(tutti_device& device) {
  const auto [before, before_ns] = clock_base(device);
  const CUevent base = device.events.take(device, true);
  check(&device, cu().event_record(base, device.allocation_stream), "cuEventRecord");
  check(&device, cu().event_synchronize(base), "cuEventSynchronize");
  const double now = before_ns + elapsed_ns(device, before, base);
  const std::lock_guard lock(device.mutex);
  // The old one may be in use by another thread, so it is kept with the device.
  device.old_clocks.push_back(device.clock_base);
  device.clock_base = base;
  device.clock_ns = now;
}

tutti_status* create(tutti_device* device, const tutti_stream_desc* desc, tutti_stream** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "stream") = nullptr;
    const scoped_context context(sdk::deref(device, "device"));
    auto stream = std::make_unique<tutti_stream>();
    stream->device = device;
    stream->profile = sdk::wants_profile(desc);
    if (stream->profile) clock_base(*device);
    check(device, cu().stream_create(&stream->handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    *result = stream.release();
  });
}

void release(tutti_stream* stream) {
  if (stream == nullptr) return;
  const scoped_context context(*stream->device, std::nothrow);
  cu().stream_synchronize(stream->handle);
  cu().stream_destroy(stream->handle);
  delete stream;
}

tutti_status* synchronize(tutti_stream* stream) {
  return sdk::guarded([&] {
    const scoped_context context(*sdk::deref(stream, "stream").device);
    check(stream->device, cu().stream_synchronize(stream->handle), "work on the device failed");
    set_ended(stream->ended, stream->recorded);
    stream->awaited.throw_and_forget();
  });
}

tutti_status* record(tutti_stream* stream, tutti_event** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "event") = nullptr;
    const scoped_context context(*sdk::deref(stream, "stream").device);
    record_empty(*stream, result);
  });
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return sdk::guarded([&] {
    const scoped_context context(*sdk::deref(stream, "stream").device);
    sdk::throw_failure_among(sdk::deref(event, "event").behind);
    check(stream->device, cu().stream_wait(stream->handle, event->end, CU_EVENT_WAIT_DEFAULT),
          "cuStreamWaitEvent");
    stream->awaited.add(event->behind);
  });
}

bool is_done(const tutti_event& event) {
  if (!is_known_to_have_ended(event)) {
    const CUresult code = cu().event_query(event.end);
    if (code == CUDA_ERROR_NOT_READY) return false;
    check(event.device, code, "work on the device failed");
    set_ended(event.ended, event.number);
  }
  sdk::throw_failure_among(event.behind);
  return true;
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  return sdk::guarded([&] {
    if (is_known_to_have_ended(sdk::deref(event, "event")))
      return sdk::throw_failure_among(event->behind);
    const scoped_context context(*event->device);
    if (timeout_ns != TUTTI_FOREVER) {
      sdk::poll_until_done(timeout_ns, [&] { return is_done(*event); });
      return;
    }
    check(event->device, cu().event_synchronize(event->end), "work on the device failed");
    set_ended(event->ended, event->number);
    sdk::throw_failure_among(event->behind);
  });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return sdk::guarded([&] {
    sdk::deref(done, "done") = 0;
    const scoped_context context(*sdk::deref(event, "event").device);
    *done = is_done(*event) ? 1 : 0;
  });
}

struct driver_listener {
  tutti_device* device;
  CUstream stream;
  sdk::event_listener listener;
  sdk::outcomes behind;
};

// Called by the driver when the event is done or the device has failed; no CUDA function may be
// called here.
void CUDA_CB tell(CUstream, CUresult code, void* data) {
  const std::unique_ptr<const driver_listener> mine(static_cast<driver_listener*>(data));
  mine->device->listening.give(mine->stream);
  if (code == CUDA_SUCCESS) return mine->listener.tell(sdk::failure_among(mine->behind));
  const sdk::plugin_error why =
      failure_of(mine->device, code,
                 "work on the device failed: CUDA error " + std::to_string(static_cast<int>(code)));
  mine->listener.tell(&why);
}

// A host function would not be called after an error of the device, as this callback is.
tutti_status* event_notify(tutti_event* event, tutti_event_listener listener, void* context) {
  return sdk::guarded([&] {
    tutti_device& device = *sdk::deref(event, "event").device;
    const sdk::event_listener wanted = sdk::listener_of(listener, context);
    const scoped_context current(device);
    const CUresult state = cu().event_query(event->end);
    if (state == CUDA_SUCCESS) return wanted.tell(sdk::failure_among(event->behind));
    if (state != CUDA_ERROR_NOT_READY) {
      const sdk::plugin_error why =
          failure_of(&device, state, "work on the device failed: " + error_text(state));
      return wanted.tell(&why);
    }
    std::unique_ptr<driver_listener> mine(
        new driver_listener{&device, device.listening.take(device), wanted, event->behind});
    CUresult code = cu().stream_wait(mine->stream, event->end, CU_EVENT_WAIT_DEFAULT);
    if (code == CUDA_SUCCESS) code = cu().stream_callback(mine->stream, tell, mine.get(), 0);
    if (code == CUDA_SUCCESS) return static_cast<void>(mine.release());
    device.listening.give(mine->stream);
    check(&device, code, "cuStreamAddCallback");
  });
}

void event_release(tutti_event* event) {
  if (event == nullptr) return;
  event->device->events.give(event->begin, event->timed);
  event->device->events.give(event->end, event->timed);
  delete event;
}

tutti_status* event_times(tutti_event* event, tutti_event_times* times) {
  return sdk::guarded([&] {
    tutti_device& device = *sdk::deref(event, "event").device;
    const scoped_context context(device);
    if (!event->timed) sdk::throw_unsupported("event times: the stream is not profiled");
    const auto [base, base_ns] = clock_base(device);
    const double since = elapsed_ns(device, base, event->begin);
    const double begin = base_ns + since;
    if (since > 30e9) move_clock_base(device);
    const double duration = elapsed_ns(device, event->begin, event->end);
    const auto at = static_cast<uint64_t>(std::max(begin, 0.0));
    sdk::write_struct(
        times,
        tutti_event_times{sizeof(tutti_event_times), at, at + static_cast<uint64_t>(duration)},
        "times");
  });
}

tutti_status* device_clock(tutti_device* device, uint64_t* now_ns) {
  return sdk::guarded([&] {
    sdk::deref(now_ns, "now_ns") = 0;
    const scoped_context context(sdk::deref(device, "device"));
    const auto [base, base_ns] = clock_base(*device);
    const CUevent now = device->events.take(*device, true);
    check(device, cu().event_record(now, device->allocation_stream), "cuEventRecord");
    check(device, cu().event_synchronize(now), "cuEventSynchronize");
    *now_ns = static_cast<uint64_t>(base_ns + elapsed_ns(*device, base, now));
    device->events.give(now, true);
  });
}

}  // namespace

const tutti_stream_api stream_api = {
    sizeof(tutti_stream_api), create, release,
    nullptr,  // the driver submits work immediately
    synchronize, record, wait, event_wait, event_query, event_release,
    // No events of the host: a stream that waits for one can stop
    // calls of the driver, loading a kernel for one, for all threads.
    nullptr, nullptr, event_notify};
const tutti_profile_api profile_api = {sizeof(tutti_profile_api), event_times, device_clock};

}  // namespace tutti::cuda
