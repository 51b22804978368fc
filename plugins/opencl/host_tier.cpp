// SPDX-License-Identifier: Apache-2.0
//
// Queues and lanes.
#include "opencl/host_tier.hpp"

#include <new>

namespace tutti::opencl {

sdk::host_parallel_for shared_by(tutti_device& device) {
  return [&device](uint64_t count, const std::function<void(uint64_t)>& work) {
    device.team->split(count, 1, [&](uint64_t begin, uint64_t end) {
      const plain_arithmetic mode;
      for (uint64_t n = begin; n < end; ++n) work(n);
    });
  };
}

tutti_event* done_on_host(tutti_stream& stream, const host_times& when) {
  return new tutti_event{{}, nullptr, {}, stream.device, when.begin_ns, when.end_ns, nullptr, true};
}

namespace {

std::optional<sdk::plugin_error> failure_of(const std::function<host_times()>& work,
                                            lane_run& run) {
  try {
    const host_times when = work();
    run.begin_ns = when.begin_ns;
    run.end_ns = when.end_ns;
    return std::nullopt;
  } catch (const sdk::plugin_error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory", 0, true);
  } catch (const std::exception& error) {
    return sdk::plugin_error(TUTTI_ERROR_INTERNAL, error.what());
  }
}

owned_event retained(cl_event event) {
  check(clRetainEvent(event), "clRetainEvent");
  return owned_event(event);
}

// Work behind all that a stream has. It does not run where that has failed, and fails likewise.
struct ordered_work {
  sdk::outcomes behind;
  std::function<host_times()> work;
  std::shared_ptr<lane_run> run = std::make_shared<lane_run>();
  sdk::shared_outcome outcome = std::make_shared<sdk::event_outcome>();

  void operator()(std::optional<sdk::plugin_error> failure = std::nullopt) {
    if (const auto* earlier = sdk::failure_among(behind)) failure = *earlier;
    if (!failure) failure = failure_of(work, *run);
    work = nullptr;
    outcome->settle(failure);
  }
};

// The event that `done`, which never fails, is made into. A failure is its event's, and the
// stream's when that is synchronized; one without an event is told by those that come after it.
void publish(tutti_stream& stream, const ordered_work& work, cl_event done, tutti_event** event) {
  if (event == nullptr) return stream.awaited.add({work.outcome});
  auto made = std::make_unique<tutti_event>(
      tutti_event{retained(done), nullptr, work.behind, stream.device, 0, 0, work.run, true});
  made->behind.push_back(work.outcome);
  if (sdk::failure_among(stream.own.open()) == nullptr) stream.own.add({work.outcome});
  *event = made.release();
}

// One piece of work in a lane, and what it goes between.
struct lane_task {
  owned_event before;  // none: all of it was done
  ordered_work own;
  owned_event done;  // the queue waits for it; always completed successfully (opencl::publish)

  void operator()() {
    std::optional<sdk::plugin_error> failure;
    const cl_event first = before.get();
    if (first != nullptr) {
      const cl_int code = clWaitForEvents(1, &first);
      if (code != CL_SUCCESS) failure = error_of(code, "work on the device failed");
    }
    own(failure);
    clSetUserEventStatus(done.get(), CL_COMPLETE);
    before = {};
    done = {};
  }
};

// In a thread of the driver's.
void CL_CALLBACK run_native(void* arguments) {
  const std::unique_ptr<ordered_work> mine(*static_cast<ordered_work**>(arguments));
  (*mine)();
}

}  // namespace

void run_in_queue(tutti_stream& stream, std::function<host_times()> work, tutti_event** event) {
  // Threads of the driver's are bound to a core, and those that they start would be.
  stream.device->team->start();
  auto mine = std::make_unique<ordered_work>();
  mine->behind = stream.awaited.open();
  mine->work = std::move(work);
  const ordered_work kept{mine->behind, nullptr, mine->run, mine->outcome};
  ordered_work* argument = mine.get();
  cl_event done = nullptr;
  check(clEnqueueNativeKernel(stream.queue(), run_native, &argument, sizeof argument, 0, nullptr,
                              nullptr, 0, nullptr, &done),
        "clEnqueueNativeKernel");
  mine.release();
  const owned_event own(done);
  stream.ends_with(done);
  publish(stream, kept, done, event);
}

void run_in_lane(tutti_stream& stream, std::function<host_times()> work, tutti_event** event) {
  auto task = std::make_shared<lane_task>();
  task->before = stream.last_event();
  if (task->before) check(clFlush(stream.driver_queue()), "clFlush");
  task->own.behind = stream.awaited.open();
  task->own.work = std::move(work);
  cl_int code = CL_SUCCESS;
  task->done = owned_event(clCreateUserEvent(stream.device->context->get(), &code));
  check(code, "clCreateUserEvent");
  const owned_event done = retained(task->done.get());
  const cl_event first = done.get();
  cl_event barrier = nullptr;
  if (!stream.lane) stream.lane.emplace();
  check(clEnqueueBarrierWithWaitList(stream.queue(), 1, &first, &barrier),
        "clEnqueueBarrierWithWaitList");
  const owned_event passed(barrier);
  stream.ends_with(barrier);
  publish(stream, task->own, first, event);
  const std::shared_ptr<lane_run> run = task->own.run;
  try {
    run->completion = stream.lane->add([task] { (*task)(); });
  } catch (...) {  // no thread, or no memory for one: all that comes before is waited for here
    (*task)();
    run->completion = std::make_shared<sdk::completion>();
    run->completion->set(std::nullopt);
  }
}

}  // namespace tutti::opencl
