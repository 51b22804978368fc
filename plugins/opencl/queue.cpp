// SPDX-License-Identifier: Apache-2.0
//
// Streams as in-order command queues, events, and the times of events.
#include <chrono>

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
    *result = new tutti_stream{device, queue.get(), {}};
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
    stream->awaited.throw_and_forget();
  });
}

tutti_status* record(tutti_stream* stream, tutti_event** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "event") = nullptr;
    cl_event event = nullptr;
    check(clEnqueueMarkerWithWaitList(sdk::deref(stream, "stream").queue, 0, nullptr, &event),
          "clEnqueueMarkerWithWaitList");
    *result = hand_out(*stream, event);
  });
}

// Called by the driver when the event of another context is done or has failed.
void CL_CALLBACK pass_on(cl_event, cl_int state, void* user_event) {
  auto event = static_cast<cl_event>(user_event);
  clSetUserEventStatus(event, state < 0 ? state : CL_COMPLETE);
  clReleaseEvent(event);
}

// An event of `context` that is done when `event` of another context is.
owned_event bridge(cl_context context, cl_event event) {
  cl_int code = CL_SUCCESS;
  owned_event local(clCreateUserEvent(context, &code));
  check(code, "clCreateUserEvent");
  clRetainEvent(local.get());
  code = clSetEventCallback(event, CL_COMPLETE, pass_on, local.get());
  if (code != CL_SUCCESS) {
    clSetUserEventStatus(local.get(), code);
    clReleaseEvent(local.get());
    throw_error(code, "clSetEventCallback");
  }
  cl_command_queue source = nullptr;
  if (clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof source, &source, nullptr) ==
          CL_SUCCESS &&
      source != nullptr) {
    clFlush(source);
  }
  return local;
}

// What is known of an event beside its state in OpenCL.
struct published_event {
  sdk::shared_outcome own;  // of a host event
  sdk::outcomes behind;
};

struct published_events {
  std::atomic<size_t> count{0};  // so that others need not look
  std::mutex mutex;
  std::map<cl_event, published_event> all;

  void add(cl_event event, published_event what) {
    const std::lock_guard lock(mutex);
    all.insert_or_assign(event, std::move(what));
    count = all.size();
  }
  published_event find(cl_event event) {
    if (count == 0) return {};
    const std::lock_guard lock(mutex);
    const auto found = all.find(event);
    return found == all.end() ? published_event() : found->second;
  }
  void forget(cl_event event) {
    if (count == 0) return;
    const std::lock_guard lock(mutex);
    all.erase(event);
    count = all.size();
  }
};

published_events& published() {
  static auto* const all = new published_events;
  return *all;
}

}  // namespace

tutti_event* publish(owned_event event, const sdk::outcomes& behind) {
  published().add(event.get(), {nullptr, behind});
  return to_event(event.take());
}

tutti_event* hand_out(tutti_stream& stream, cl_event event) {
  owned_event owned(event);
  if (stream.awaited.empty() || stream.awaited.open().empty()) return to_event(owned.take());
  return publish(std::move(owned), stream.awaited.open());
}

namespace {

cl_int state_of(cl_event event) {
  cl_int state = 0;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
        "clGetEventInfo");
  return state;
}

tutti_status* wait(tutti_stream* stream, tutti_event* event) {
  return sdk::guarded([&] {
    const cl_context context = sdk::deref(stream, "stream").device->context->get();
    cl_event source = to_cl(event);
    if (source == nullptr) sdk::throw_invalid("stream wait: event is NULL");
    cl_context other = nullptr;
    check(clGetEventInfo(source, CL_EVENT_CONTEXT, sizeof other, &other, nullptr),
          "clGetEventInfo");
    // PoCL 3.1 waits for ever for an event that has failed before it is waited for.
    const cl_int state = state_of(source);
    if (state < 0) throw_error(state, "work on the device failed");
    const sdk::outcomes behind = published().find(source).behind;
    sdk::throw_failure_among(behind);
    owned_event local;
    if (other != context) {
      local = bridge(context, source);
      source = local.get();
    }
    check(clEnqueueBarrierWithWaitList(stream->queue, 1, &source, nullptr),
          "clEnqueueBarrierWithWaitList");
    stream->awaited.add(behind);
  });
}

bool is_done(cl_event event) {
  const cl_int state = state_of(event);
  if (state < 0) throw_error(state, "work on the device failed");
  if (state != CL_COMPLETE) return false;
  sdk::throw_failure_among(published().find(event).behind);
  return true;
}

tutti_status* event_wait(tutti_event* event, uint64_t timeout_ns) {
  return sdk::guarded([&] {
    const cl_event handle = to_cl(event);
    if (handle == nullptr) sdk::throw_invalid("event wait: event is NULL");
    if (timeout_ns != TUTTI_FOREVER) {
      sdk::poll_until_done(timeout_ns, [&] { return is_done(handle); });
      return;
    }
    const cl_int code = clWaitForEvents(1, &handle);
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
      const cl_int state = state_of(handle);
      throw_error(state < 0 ? state : code, "work on the device failed");
    }
    check(code, "clWaitForEvents");
    sdk::throw_failure_among(published().find(handle).behind);
  });
}

tutti_status* event_query(tutti_event* event, int32_t* done) {
  return sdk::guarded([&] {
    sdk::deref(done, "done") = 0;
    if (event == nullptr) sdk::throw_invalid("event query: event is NULL");
    *done = is_done(to_cl(event)) ? 1 : 0;
  });
}

void event_release(tutti_event* event) {
  if (event == nullptr) return;
  published().forget(to_cl(event));
  clReleaseEvent(to_cl(event));
}

tutti_status* event_create(tutti_device* device, tutti_event** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "event") = nullptr;
    cl_int code = CL_SUCCESS;
    owned_event event(clCreateUserEvent(sdk::deref(device, "device").context->get(), &code));
    check(code, "clCreateUserEvent");
    const auto own = std::make_shared<sdk::event_outcome>();
    published().add(event.get(), {own, {own}});
    *result = to_event(event.take());
  });
}

tutti_status* event_signal(tutti_event* event, const tutti_status* status) {
  return sdk::guarded([&] {
    if (event == nullptr) sdk::throw_invalid("event signal: event is NULL");
    sdk::signal(published().find(to_cl(event)).own.get(), status);
    check(clSetUserEventStatus(to_cl(event), CL_COMPLETE), "clSetUserEventStatus");
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
    const cl_event handle = to_cl(event);
    if (handle == nullptr) sdk::throw_invalid("event notify: event is NULL");
    std::unique_ptr<driver_listener> mine(
        new driver_listener{sdk::listener_of(listener, context), published().find(handle).behind});
    const cl_int state = state_of(handle);
    if (state <= CL_COMPLETE) return tell(handle, state, mine.release());
    check(clSetEventCallback(handle, CL_COMPLETE, tell, mine.get()), "clSetEventCallback");
    mine.release();
  });
}

tutti_status* event_times(tutti_event* event, tutti_event_times* times) {
  return sdk::guarded([&] {
    if (event == nullptr) sdk::throw_invalid("event times: event is NULL");
    cl_ulong begin = 0, end = 0;
    check(clGetEventProfilingInfo(to_cl(event), CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                  nullptr),
          "clGetEventProfilingInfo");
    check(
        clGetEventProfilingInfo(to_cl(event), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
        "clGetEventProfilingInfo");
    sdk::write_struct(times, tutti_event_times{sizeof(tutti_event_times), begin, end}, "times");
  });
}

// OpenCL 1.2 has no clock to read: the end of an empty command on a queue of its own is one.
tutti_status* device_clock(tutti_device* device, uint64_t* now_ns) {
  return sdk::guarded([&] {
    sdk::deref(now_ns, "now_ns") = 0;
    cl_int code = CL_SUCCESS;
    owned_queue queue(clCreateCommandQueue(sdk::deref(device, "device").context->get(),
                                           device->info->id, CL_QUEUE_PROFILING_ENABLE, &code));
    check(code, "clCreateCommandQueue");
    cl_event handle = nullptr;
    check(clEnqueueMarkerWithWaitList(queue.get(), 0, nullptr, &handle),
          "clEnqueueMarkerWithWaitList");
    const owned_event event(handle);
    check(clFinish(queue.get()), "clFinish");
    cl_ulong end = 0;
    check(clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
          "clGetEventProfilingInfo");
    *now_ns = end;
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
