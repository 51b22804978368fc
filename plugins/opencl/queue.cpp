// SPDX-License-Identifier: Apache-2.0
//
// Streams as in-order command queues, events, and event times.
#include <utility>

#include "opencl/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::opencl {
namespace {

tutti_status* create(tutti_device* device, const tutti_stream_desc* desc, tutti_stream** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "stream") = nullptr;
    sdk::deref(device, "device");
    const cl_command_queue_properties wanted =
        sdk::wants_profile(desc) ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_int code = CL_SUCCESS;
    owned_queue queue(
        clCreateCommandQueue(device->context->get(), device->info->id, wanted, &code));
    check(code, "clCreateCommandQueue");
    *result = new tutti_stream{device, queue.get()};
    queue.take();
  });
}

void release(tutti_stream* stream) {
  if (stream == nullptr) return;
  clFinish(stream->queue);
  clReleaseCommandQueue(stream->queue);
  delete stream;
}

tutti_status* flush(tutti_stream* stream) {
  return sdk::guarded([&] { check(clFlush(sdk::deref(stream, "stream").queue), "clFlush"); });
}

tutti_status* synchronize(tutti_stream* stream) {
  return sdk::guarded([&] {
    check(clFinish(sdk::deref(stream, "stream").queue), "clFinish");
    sdk::awaited_outcomes own = std::exchange(stream->own, {});
    stream->awaited.throw_and_forget();
    own.throw_and_forget();
  });
}

tutti_status* record(tutti_stream* stream, tutti_event** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "event") = nullptr;
    *result = record_on(sdk::deref(stream, "stream"));
  });
}

cl_int state_of(cl_event event) {
  cl_int state = 0;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
        "clGetEventInfo");
  return state;
}

}  // namespace

void wait_for(cl_event event) {
  const cl_int code = clWaitForEvents(1, &event);
  if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
    const cl_int state = state_of(event);
    throw_error(state < 0 ? state : code, "work on the device failed");
  }
  check(code, "clWaitForEvents");
}

tutti_event* publish(owned_event event, const sdk::outcomes& behind) {
  return new tutti_event{std::move(event), nullptr, behind};
}

tutti_event* hand_out(tutti_stream& stream, cl_event event) {
  return publish(owned_event(event), stream.awaited.open());
}

tutti_event* record_on(tutti_stream& stream) {
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(stream.queue, 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  return hand_out(stream, event);
}

namespace {

bool is_done(const tutti_event& event) {
  const cl_int state = state_of(event.handle.get());
  if (state < 0) throw_error(state, "work on the device failed");
  if (state != CL_COMPLETE) return false;
  sdk::throw_failure_among(event.behind);
  return true;
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return sdk::guarded([&] {
    sdk::deref(stream, "stream");
    if (event == nullptr) sdk::throw_invalid("stream wait: event is NULL");
    // PoCL 3.1 waits forever for an event that has failed before it is waited for.
    static_cast<void>(is_done(*event));
    sdk::throw_failure_among(event->behind);
    const cl_event source = event->handle.get();
    cl_event barrier = nullptr;
    check(clEnqueueBarrierWithWaitList(stream->queue, 1, &source, &barrier),
          "clEnqueueBarrierWithWaitList");
    const owned_event passed(barrier);
    stream->awaited.add(event->behind);
  });
}

void wait_to_end(const tutti_event& event) {
  wait_for(event.handle.get());
  // So that the worker thread is outside of the driver when the process exits next.
  if (event.run != nullptr && event.run->completion != nullptr) event.run->completion->wait();
  sdk::throw_failure_among(event.behind);
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  return sdk::guarded([&] {
    if (event == nullptr) sdk::throw_invalid("event wait: event is NULL");
    if (timeout_ns == TUTTI_FOREVER) return wait_to_end(*event);
    sdk::poll_until_done(timeout_ns, [&] { return is_done(*event); });
  });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return sdk::guarded([&] {
    sdk::deref(done, "done") = 0;
    if (event == nullptr) sdk::throw_invalid("event query: event is NULL");
    *done = is_done(*event) ? 1 : 0;
  });
}

void event_release(tutti_event* event) { delete event; }

tutti_status* event_create(tutti_device* device, tutti_event** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "event") = nullptr;
    cl_int code = CL_SUCCESS;
    owned_event event(clCreateUserEvent(sdk::deref(device, "device").context->get(), &code));
    check(code, "clCreateUserEvent");
    auto own = std::make_shared<sdk::event_outcome>();
    *result = new tutti_event{std::move(event), own, {own}};
  });
}

tutti_status* event_signal(tutti_event* event, const tutti_status* status) {
  return sdk::guarded([&] {
    if (event == nullptr) sdk::throw_invalid("event signal: event is NULL");
    sdk::signal(event->own.get(), status);
    check(clSetUserEventStatus(event->handle.get(), CL_COMPLETE), "clSetUserEventStatus");
  });
}

struct driver_listener {
  sdk::event_listener listener;
  sdk::outcomes behind;
};

// Called by the driver when the event is done or has failed.
void CL_CALLBACK tell(cl_event, cl_int state, void* data) {
  const std::unique_ptr<const driver_listener> mine(static_cast<driver_listener*>(data));
  if (state >= 0) return mine->listener.tell(sdk::failure_among(mine->behind));
  const sdk::plugin_error why = error_of(state, "work on the device failed");
  mine->listener.tell(&why);
}

tutti_status* event_notify(tutti_event* event, tutti_event_listener listener, void* context) {
  return sdk::guarded([&] {
    if (event == nullptr) sdk::throw_invalid("event notify: event is NULL");
    std::unique_ptr<driver_listener> mine(
        new driver_listener{sdk::listener_of(listener, context), event->behind});
    const cl_event handle = event->handle.get();
    const cl_int state = state_of(handle);
    if (state <= CL_COMPLETE) return tell(handle, state, mine.release());
    check(clSetEventCallback(handle, CL_COMPLETE, tell, mine.get()), "clSetEventCallback");
    mine.release();
  });
}

// OpenCL 1.2 has no clock to read: the end of an empty command on a separate queue is used.
uint64_t clock_of(tutti_device& device) {
  cl_int code = CL_SUCCESS;
  const owned_queue queue(clCreateCommandQueue(device.context->get(), device.info->id,
                                               CL_QUEUE_PROFILING_ENABLE, &code));
  check(code, "clCreateCommandQueue");
  cl_event handle = nullptr;
  check(clEnqueueMarkerWithWaitList(queue.get(), 0, nullptr, &handle),
        "clEnqueueMarkerWithWaitList");
  const owned_event event(handle);
  check(clFinish(queue.get()), "clFinish");
  cl_ulong end = 0;
  check(clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
        "clGetEventProfilingInfo");
  return end;
}

// For an event without times from a driver command.
std::optional<tutti_event_times> times_on_host(const tutti_event& event) {
  if (event.run == nullptr) return std::nullopt;
  if (!is_done(event)) sdk::throw_invalid("event times: the work is not done");
  tutti_device& device = *event.device;
  std::call_once(device.clock_once, [&] {
    device.clock_offset_ns =
        static_cast<int64_t>(clock_of(device)) - static_cast<int64_t>(sdk::now_ns());
  });
  const auto on_device = [&](uint64_t host_ns) {
    return static_cast<uint64_t>(static_cast<int64_t>(host_ns) + device.clock_offset_ns);
  };
  return tutti_event_times{sizeof(tutti_event_times), on_device(event.run->begin_ns),
                           on_device(event.run->end_ns)};
}

tutti_status* event_times(tutti_event* event, tutti_event_times* times) {
  return sdk::guarded([&] {
    if (event == nullptr) sdk::throw_invalid("event times: event is NULL");
    if (const auto on_host = times_on_host(*event))
      return sdk::write_struct(times, *on_host, "times");
    cl_ulong begin = 0, end = 0;
    check(clGetEventProfilingInfo(event->handle.get(), CL_PROFILING_COMMAND_START, sizeof begin,
                                  &begin, nullptr),
          "clGetEventProfilingInfo");
    check(clGetEventProfilingInfo(event->handle.get(), CL_PROFILING_COMMAND_END, sizeof end, &end,
                                  nullptr),
          "clGetEventProfilingInfo");
    sdk::write_struct(times, tutti_event_times{sizeof(tutti_event_times), begin, end}, "times");
  });
}

tutti_status* device_clock(tutti_device* device, uint64_t* now_ns) {
  return sdk::guarded([&] {
    sdk::deref(now_ns, "now_ns") = 0;
    *now_ns = clock_of(sdk::deref(device, "device"));
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
const tutti_profile_api profile_api = {sizeof(tutti_profile_api), event_times, device_clock};

}  // namespace tutti::opencl
