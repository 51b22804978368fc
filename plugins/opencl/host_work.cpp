// SPDX-License-Identifier: Apache-2.0
#include "opencl/host_work.hpp"

#include "sdk/host_layer/plain_arithmetic.hpp"

namespace tutti::opencl {
namespace {

owned_event retained(cl_event event) {
  check(clRetainEvent(event), "clRetainEvent");
  return owned_event(event);
}

// One piece of work, and the events before and after it.
struct host_task {
  owned_event before, done;  // the queue waits for `done`, which always succeeds (opencl::publish)
  sdk::outcomes behind;
  std::function<void()> work;
  std::shared_ptr<host_run> run = std::make_shared<host_run>();
  sdk::shared_outcome outcome = std::make_shared<sdk::event_outcome>();

  void operator()() {
    outcome->settle(failure());
    work = nullptr;
    clSetUserEventStatus(done.get(), CL_COMPLETE);
    before = {};
    done = {};
  }

 private:
  // Does not run after failed work, and fails in the same way.
  std::optional<sdk::plugin_error> failure() {
    const cl_event first = before.get();
    const cl_int code = clWaitForEvents(1, &first);
    if (const auto* earlier = sdk::failure_among(behind)) return *earlier;
    if (code != CL_SUCCESS) return error_of(code, "work on the device failed");
    return sdk::failure_of([this] {
      const sdk::plain_arithmetic mode;
      run->begin_ns = sdk::now_ns();
      work();
      run->end_ns = sdk::now_ns();
    });
  }
};

// A failure belongs to its event, and to the stream when that is synchronized; a failure without an
// event is reported by later ones.
void hand_out(tutti_stream& stream, const host_task& task, tutti_event** event) {
  if (event == nullptr) return stream.awaited.add({task.outcome});
  auto made = std::make_unique<tutti_event>(
      tutti_event{retained(task.done.get()), nullptr, task.behind, stream.device, task.run});
  made->behind.push_back(task.outcome);
  if (sdk::failure_among(stream.own.open()) == nullptr) stream.own.add({task.outcome});
  *event = made.release();
}

}  // namespace

void run_on_host(tutti_stream& stream, std::function<void()> work, tutti_event** event) {
  auto task = std::make_shared<host_task>();
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(stream.queue, 0, nullptr, &marker),
        "clEnqueueMarkerWithWaitList");
  task->before = owned_event(marker);
  check(clFlush(stream.queue), "clFlush");
  task->behind = stream.awaited.open();
  task->work = std::move(work);
  cl_int code = CL_SUCCESS;
  task->done = owned_event(clCreateUserEvent(stream.device->context->get(), &code));
  check(code, "clCreateUserEvent");
  const cl_event done = task->done.get();
  if (!stream.worker) stream.worker.emplace();
  check(clEnqueueBarrierWithWaitList(stream.queue, 1, &done, nullptr),
        "clEnqueueBarrierWithWaitList");
  hand_out(stream, *task, event);
  const std::shared_ptr<host_run> run = task->run;
  try {
    run->completion = stream.worker->add([task] { (*task)(); });
  } catch (...) {  // no thread, or no memory for one: all earlier work is waited for here
    (*task)();
    run->completion = std::make_shared<sdk::completion>();
    run->completion->set(std::nullopt);
  }
}

}  // namespace tutti::opencl
