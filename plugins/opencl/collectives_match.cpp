// SPDX-License-Identifier: Apache-2.0
//
// Matches calls, makes streams wait, and notifies participants of failures. Drivers call back when
// work is done; PoCL 3.1 does not when it fails, so a thread monitors work in progress.
#include <algorithm>

#include "base/signals.hpp"
#include "opencl/collectives.hpp"
#include "sdk/op_info.hpp"

namespace tutti::opencl {
namespace {

constexpr auto watch_interval = std::chrono::milliseconds(5);

owned_event retained(const owned_event& event) {
  check(clRetainEvent(event.get()), "clRetainEvent");
  return owned_event(event.get());
}

tutti_event* handed_out(const collective_operation::part& part) {
  return publish(retained(part.done), {part.result});
}

// PoCL's only status for work that failed because of other work is -1, OpenCL's is -14.
cl_int told(cl_int state) {
  const bool vague = state == -1 || state == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  return vague ? collective_earlier_work : state;
}

// Safe in callbacks: does not throw.
cl_int peek(cl_event event) noexcept {
  cl_int state = CL_QUEUED;
  const cl_int code =
      clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  return code != CL_SUCCESS ? code : state < 0 ? told(state) : state;
}

void CL_CALLBACK on_end(cl_event event, cl_int state, void* data) {
  const std::unique_ptr<shared_operation> held(static_cast<shared_operation*>(data));
  collective_operation& op = **held;
  // PoCL reports a failed event as done if it failed before the callback was set.
  const bool failed = state < 0 || peek(event) < 0;
  if (!failed && --op.unfinished != 0) return;
  const collective_operation::state found = op.progress();
  if (found.failure) {
    op.settle(found.failure);
  } else if (failed) {
    op.settle(error_of(collective_earlier_work, op.name_of(0)));
  } else {
    op.settle(std::nullopt);
  }
}

}  // namespace

std::string collective_operation::name_of(size_t number) const {
  return std::string(sdk::collective_name(shape.kind)) + ": participant " + std::to_string(number);
}

void collective_operation::settle(const std::optional<sdk::plugin_error>& why) {
  for (part& p : parts) {
    if (p.result->settle(why) && p.done) clSetUserEventStatus(p.done.get(), CL_COMPLETE);
  }
  over = true;
}

collective_operation::state collective_operation::progress() const {
  state result{true, std::nullopt};
  const auto look = [&](const owned_event& event, size_t number) {
    const cl_int found = peek(event.get());
    if (found < 0 && !result.failure) result.failure = error_of(found, name_of(number));
    if (found > CL_COMPLETE) result.done = false;
  };
  for (size_t n = 0; n < parts.size(); ++n) {
    look(parts[n].before, n);
    if (const sdk::plugin_error* const why = sdk::failure_among(parts[n].behind);
        why != nullptr && !result.failure)
      result.failure = sdk::plugin_error(why->code, name_of(n) + ": " + why->what(),
                                         why->vendor_code, why->retryable);
  }
  for (size_t n = 0; n < ends.size(); ++n) look(ends[n], n);
  return result;
}

collective_group::collective_group(const std::vector<tutti_device*>& devices)
    : lanes_(devices.size()) {
  for (size_t n = 0; n < devices.size(); ++n) {
    cl_int code = CL_SUCCESS;
    lanes_[n].device = devices[n];
    lanes_[n].queue = owned_queue(
        clCreateCommandQueue(devices[n]->context->get(), devices[n]->info->id, 0, &code));
    check(code, "clCreateCommandQueue");
  }
  const base::blocked_signals none;  // for the monitoring thread
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

collective_group::~collective_group() {
  // As for the release of a stream: waits for enqueued work.
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(running_, [](const auto& op) { return op->over.load(); });
      if (running_.empty()) break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  watcher_ = {};
  for (collective_lane& lane : lanes_) {
    for (const scratch* s : {&lane.staged, &lane.result, &lane.fetched, &lane.carry}) {
      lane.device->allocated -= s->bytes;
    }
  }
}

void collective_group::require_working(const std::string& name) const {
  if (!broken_.why.empty()) sdk::throw_invalid(name, ": ", broken_.why);
  if (broken_.failure)
    throw sdk::plugin_error(broken_.failure->code,
                            name + ": an earlier one failed: " + broken_.failure->what(),
                            broken_.failure->vendor_code);
}

shared_operation collective_group::operation(uint64_t number) {
  while (first_pending_ + pending_.size() <= number) {
    pending_.push_back(std::make_shared<collective_operation>(size()));
  }
  return pending_[number - first_pending_];
}

void collective_group::forget_seen() {
  while (!pending_.empty() && pending_.front()->seen == size()) {
    pending_.pop_front();
    ++first_pending_;
  }
}

// Marks the position in the stream and makes the stream wait for the outcome.
void collective_group::arrive(collective_operation& op, uint32_t rank,
                              const collective_call& call) {
  collective_operation::part& part = op.parts[rank];
  tutti_stream& stream = *call.stream;
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(stream.queue, 0, nullptr, &marker),
        "clEnqueueMarkerWithWaitList");
  owned_event before(marker);
  cl_int code = CL_SUCCESS;
  owned_event done(clCreateUserEvent(stream.device->context->get(), &code));
  check(code, "clCreateUserEvent");
  const cl_event handle = done.get();
  cl_event barrier = nullptr;
  check(clEnqueueBarrierWithWaitList(stream.queue, 1, &handle, &barrier),
        "clEnqueueBarrierWithWaitList");
  part.held = owned_event(barrier);
  part.before = std::move(before);
  part.behind = stream.awaited.open();
  part.done = std::move(done);
  part.in = {call.in.memory, call.in.offset};
  part.out = {call.out.memory, call.out.offset};
  ++op.arrived;
  check(clFlush(stream.queue), "clFlush");
}

tutti_event* collective_group::join(const collective_call& call, uint32_t rank, uint64_t& number) {
  const std::lock_guard lock(mutex_);
  require_working(call.name);
  const shared_operation op = operation(number);
  if (op->seen == 0) {
    op->shape = call.shape;
    op->first_caller = rank;
  } else if (!op->failure && op->shape != call.shape) {
    op->failure = sdk::disagreement(op->first_caller, op->shape, rank, call.shape);
    op->settle(op->failure);
  }
  // Counted in any case, so that the participants stay in step.
  ++number;
  ++op->seen;
  forget_seen();
  if (op->failure) throw sdk::plugin_error(*op->failure);
  try {
    arrive(*op, rank, call);
    if (op->arrived == size()) launch(op, call.name);
  } catch (...) {
    op->failure = sdk::current_failure(call.name);
    op->settle(op->failure);
    throw;
  }
  return call.event != nullptr ? handed_out(op->parts[rank]) : nullptr;
}

void collective_group::launch(const shared_operation& op, const std::string& name) {
  // An event that has failed must not be waited for (see the stream's wait).
  if (const auto state = op->progress(); state.failure) throw sdk::plugin_error(*state.failure);
  const collective_operation::state earlier =
      previous_ ? previous_->progress() : collective_operation::state{true, std::nullopt};
  if (earlier.failure) broken_.failure = earlier.failure;
  require_working(name);
  prepare_collective(lanes_, *op);
  try {
    enqueue_collective(lanes_, *op, earlier.done ? nullptr : previous_.get());
  } catch (...) {
    broken_.failure = sdk::current_failure(name);  // part of it is on the lanes
    throw;
  }
  trim_collective(lanes_);
  previous_ = op;
  follow(op);
}

void collective_group::follow(const shared_operation& op) {
  op->unfinished = static_cast<uint32_t>(op->ends.size());
  const bool idle = running_.empty();
  running_.push_back(op);
  for (const owned_event& end : op->ends) {
    auto held = std::make_unique<shared_operation>(op);
    // Without a callback the monitoring thread detects it.
    if (clSetEventCallback(end.get(), CL_COMPLETE, on_end, held.get()) == CL_SUCCESS) {
      held.release();
    }
  }
  if (idle) wake_.notify_one();
}

sdk::plugin_error collective_group::aborted() const {
  return sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT,
                           "the collective was aborted: " + broken_.why);
}

void collective_group::abort(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (broken_.why.empty()) broken_.why = why;
  for (const auto& op : pending_) op->settle(aborted());
  pending_.clear();
}

void collective_group::stop_running() {
  const std::lock_guard lock(mutex_);
  for (const auto& op : running_) op->settle(aborted());
}

void collective_group::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait(lock, stop, [this] { return !running_.empty(); });
    for (const auto& op : running_) {
      if (op->over) continue;
      collective_operation::state state = op->progress();
      if (state.failure && !broken_.failure) broken_.failure = state.failure;
      // Later work on the same queues cannot be done either.
      if (broken_.failure && !state.failure) state.failure = broken_.failure;
      if (state.failure || state.done) op->settle(state.failure);
      if (state.failure) failed_.push_back(op);
    }
    std::erase_if(running_, [](const auto& op) { return op->over.load(); });
    wake_.wait_for(lock, stop, watch_interval, [] { return false; });
  }
}

}  // namespace tutti::opencl
