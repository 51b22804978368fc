// SPDX-License-Identifier: Apache-2.0
//
// Which calls belong together, what participants wait for, and what they are told when something
// fails. Drivers call back when work is done; PoCL 3.1 does not when it fails, so a thread looks
// after what is under way.
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
  return publish(retained(part.done), part.result);
}

// PoCL's only state of what failed because of something else is -1, OpenCL's -14.
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
  const std::unique_ptr<shared_operation> op(static_cast<shared_operation*>(data));
  // PoCL reports a failed event as done where it failed before the callback was set.
  const cl_int found = state < 0 ? told(state) : peek(event);
  if (found < 0) {
    (*op)->settle(found);
  } else if (--(*op)->unfinished == 0) {
    (*op)->settle(CL_COMPLETE);
  }
}

std::string text(const collective_shape& s) {
  std::string result = collective_name(s.kind);
  if (s.kind == collective_kind::send_receive) result = "a message";
  result += " of " + std::to_string(s.count) + " " + sdk::dtype_name(s.dtype);
  if (s.reduction != TUTTI_REDUCE_NONE) result += ", reduction " + std::to_string(s.reduction);
  if (s.kind == collective_kind::reduce || s.kind == collective_kind::broadcast) {
    result += ", root " + std::to_string(s.root);
  }
  return result;
}

std::string disagreement(uint32_t first, const collective_shape& one, uint32_t second,
                         const collective_shape& other) {
  return std::string(collective_name(other.kind)) + ": participant " + std::to_string(first) +
         " has " + text(one) + ", participant " + std::to_string(second) + " " + text(other);
}

// What others are told of the exception that is being handled.
cl_int state_of_current_exception() {
  try {
    throw;
  } catch (const sdk::plugin_error& error) {
    return error.vendor_code < 0 ? error.vendor_code : CL_OUT_OF_RESOURCES;
  } catch (...) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}

}  // namespace

const char* collective_name(collective_kind kind) {
  static constexpr const char* names[] = {"all_reduce",     "reduce",     "broadcast",
                                          "reduce_scatter", "all_gather", "all_to_all",
                                          "send/receive"};
  return names[static_cast<size_t>(kind)];
}

void collective_operation::settle(cl_int state) noexcept {
  for (part& p : parts) {
    if (!p.done || p.settled.exchange(true)) continue;
    *p.result = state;
    clSetUserEventStatus(p.done.get(), CL_COMPLETE);
  }
  over = true;
}

cl_int collective_operation::progress() const {
  cl_int result = CL_COMPLETE;
  const auto look = [&result](const owned_event& event) {
    const cl_int state = event ? peek(event.get()) : CL_COMPLETE;
    if (state < 0) result = result < 0 ? result : state;
    if (state > CL_COMPLETE && result == CL_COMPLETE) result = CL_QUEUED;
  };
  for (const part& p : parts) look(p.before);
  for (const owned_event& end : ends) look(end);
  return result;
}

collective_group::collective_group(std::vector<tutti_device*> devices) : lanes_(devices.size()) {
  for (size_t n = 0; n < devices.size(); ++n) {
    cl_int code = CL_SUCCESS;
    lanes_[n].device = devices[n];
    lanes_[n].queue = owned_queue(
        clCreateCommandQueue(devices[n]->context->get(), devices[n]->info->id, 0, &code));
    check(code, "clCreateCommandQueue");
  }
  const detail::blocked_signals none;  // for the watcher
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

collective_group::~collective_group() {
  // As the release of a stream: what was enqueued is awaited.
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

void collective_group::require_working(const collective_shape& shape) const {
  const std::string name = collective_name(shape.kind);
  if (!broken_.why.empty()) sdk::throw_invalid(name + ": " + broken_.why);
  if (broken_.state < 0) throw_error(broken_.state, name + ": an earlier one failed");
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

// Marks the place in the stream and, where the work will not be on it, makes the stream wait.
void collective_group::arrive(collective_operation& op, size_t number, tutti_stream& stream,
                              place in, place out, bool waits) {
  collective_operation::part& part = op.parts[number];
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(stream.queue, 0, nullptr, &marker),
        "clEnqueueMarkerWithWaitList");
  owned_event before(marker), done, held;
  if (waits) {
    cl_int code = CL_SUCCESS;
    done = owned_event(clCreateUserEvent(stream.device->context->get(), &code));
    check(code, "clCreateUserEvent");
    const cl_event handle = done.get();
    cl_event barrier = nullptr;
    check(clEnqueueBarrierWithWaitList(stream.queue, 1, &handle, &barrier),
          "clEnqueueBarrierWithWaitList");
    held = owned_event(barrier);
  }
  part.held = std::move(held);
  part.before = std::move(before);
  part.done = std::move(done);
  part.in = in;
  part.out = out;
  part.arrived = true;
  ++op.arrived;
  check(clFlush(stream.queue), "clFlush");
}

tutti_event* collective_group::join(uint32_t rank, uint64_t& number, tutti_stream& stream,
                                    const collective_shape& shape, place in, place out,
                                    bool wanted) {
  const std::lock_guard lock(mutex_);
  require_working(shape);
  const shared_operation op = operation(number);
  if (op->seen == 0) {
    op->shape = shape;
    op->first_caller = rank;
  } else if (op->failure.empty() && op->shape != shape) {
    op->failure = disagreement(op->first_caller, op->shape, rank, shape);
    op->settle(collective_disagreement);
  }
  const bool agrees = op->failure.empty();
  if (agrees) arrive(*op, rank, stream, in, out, true);
  ++number;
  ++op->seen;
  forget_seen();
  if (!agrees) sdk::throw_invalid(op->failure);
  if (op->arrived == size()) launch(op);
  return wanted ? handed_out(op->parts[rank]) : nullptr;
}

void collective_group::launch(const shared_operation& op) {
  bool begun = false;
  try {
    const std::string name = collective_name(op->shape.kind);
    for (uint32_t n = 0; n < size(); ++n) {
      // An event that has failed must not be waited for (see the stream's wait).
      const cl_int state = peek(op->parts[n].before.get());
      if (state < 0) throw_error(state, name + ": participant " + std::to_string(n));
    }
    const cl_int earlier = previous_ ? previous_->progress() : CL_COMPLETE;
    if (earlier < 0) broken_.state = earlier;
    require_working(op->shape);
    prepare_collective(lanes_, *op);
    begun = true;
    enqueue_collective(lanes_, *op, earlier == CL_COMPLETE ? nullptr : previous_.get());
  } catch (...) {
    const cl_int state = state_of_current_exception();
    if (begun) broken_.state = state;
    op->settle(state);
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
    // Without a callback the watcher sees it.
    if (clSetEventCallback(end.get(), CL_COMPLETE, on_end, held.get()) == CL_SUCCESS) {
      held.release();
    }
  }
  if (idle) wake_.notify_one();
}

tutti_event* collective_group::meet(bool sends, uint32_t rank, uint32_t peer, tutti_stream& stream,
                                    const collective_shape& shape, place where, bool wanted) {
  const std::lock_guard lock(mutex_);
  require_working(shape);
  auto& queue = messages_[sends ? std::pair(rank, peer) : std::pair(peer, rank)];
  const size_t mine = sends ? 0 : 1;
  if (queue.empty() || queue.front()->parts[mine].arrived) {
    auto op = std::make_shared<collective_operation>(2);
    op->shape = shape;
    arrive(*op, mine, stream, where, where, true);
    queue.push_back(op);
    return wanted ? handed_out(op->parts[mine]) : nullptr;
  }
  const shared_operation op = queue.front();
  queue.pop_front();
  if (op->shape != shape) {
    op->settle(collective_disagreement);
    sdk::throw_invalid(disagreement(peer, op->shape, rank, shape));
  }
  op->parts[mine].in = op->parts[mine].out = where;
  deliver(op, mine, stream);
  return wanted ? to_event(retained(op->ends.front()).take()) : nullptr;
}

// A message goes over the stream of who calls last: nothing but its own work can hold it up there.
void collective_group::deliver(const shared_operation& op, size_t part, tutti_stream& stream) {
  const cl_event early = op->parts[1 - part].before.get();
  try {
    if (const cl_int state = peek(early); state < 0) throw_error(state, "send/receive: the other");
    const uint64_t bytes = op->shape.count * sdk::dtype_size(op->shape.dtype);
    const place from = op->parts[0].in, to = op->parts[1].out;
    cl_event end = nullptr;
    check(bytes == 0 ? clEnqueueBarrierWithWaitList(stream.queue, 1, &early, &end)
                     : clEnqueueCopyBuffer(stream.queue, from.memory, to.memory, from.offset,
                                           to.offset, bytes, 1, &early, &end),
          "clEnqueueCopyBuffer");
    op->ends.emplace_back(end);
    check(clFlush(stream.queue), "clFlush");
  } catch (...) {
    op->settle(state_of_current_exception());
    throw;
  }
  follow(op);
}

void collective_group::abort(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (broken_.why.empty()) broken_.why = why;
  for (const auto& op : pending_) op->settle(collective_aborted);
  for (const auto& [pair, queue] : messages_) {
    for (const auto& op : queue) op->settle(collective_aborted);
  }
  pending_.clear();
  messages_.clear();
}

void collective_group::stop_running() {
  const std::lock_guard lock(mutex_);
  for (const auto& op : running_) op->settle(collective_aborted);
}

void collective_group::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait(lock, stop, [this] { return !running_.empty(); });
    for (const auto& op : running_) {
      const bool message = op->shape.kind == collective_kind::send_receive;
      cl_int state = op->over ? CL_QUEUED : op->progress();
      if (state < 0 && !message) broken_.state = state;
      // What comes later on the same queues cannot be done either.
      if (broken_.state < 0 && !message) state = broken_.state;
      if (state <= CL_COMPLETE) op->settle(state);
      if (state < 0) failed_.push_back(op);
    }
    std::erase_if(running_, [](const auto& op) { return op->over.load(); });
    wake_.wait_for(lock, stop, watch_interval, [] { return false; });
  }
}

}  // namespace tutti::opencl
