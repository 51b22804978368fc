// SPDX-License-Identifier: Apache-2.0
//
// Matches calls, makes streams wait, and notifies participants of failures.
#include <algorithm>

#include "cuda/collectives.hpp"
#include "sdk/op_info.hpp"

namespace tutti::cuda {
namespace {

constexpr const char* was_aborted = "was aborted";

sdk::plugin_error disagreement(const collective_call& one, const collective_call& other) {
  return sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT,
                           other.name +
                               ": the participants disagree: " + sdk::text_of(other.shape) +
                               ", but " + one.name + ": " + sdk::text_of(one.shape));
}

CUstream stream_of(const collective_meeting::part& part) {
  return part.before != nullptr ? part.member->lane : part.call.stream->handle;
}

// NCCL reads data that an exchange has already written.
bool overwrites_input(const collective_call& call) {
  return call.shape.kind == TUTTI_COLLECTIVE_ALL_TO_ALL && call.shape.count > 0 &&
         call.in.memory + call.in.offset == call.out.memory + call.out.offset;
}

void copy_input(collective_meeting::part& part, CUstream stream) {
  tutti_device& device = *part.member->device;
  const uint64_t bytes = part.call.shape.count * sdk::dtype_size(part.call.shape.dtype);
  CUdeviceptr memory = 0;
  check(&device,
        device.pool != nullptr ? cu().memory_allocate_async(&memory, bytes, stream)
                               : cu().memory_allocate(&memory, bytes),
        (part.call.name + ": a copy of " + std::to_string(bytes) + " bytes").c_str());
  part.copy = memory;
  check(&device,
        cu().copy_on_device(memory, part.call.in.memory + part.call.in.offset, bytes, stream),
        "cuMemcpyDtoDAsync");
}

// For work that will not be done. Before let_go().
void drop_copy(collective_meeting::part& part) noexcept {
  if (part.copy == 0) return;
  tutti_device& device = *part.member->device;
  const scoped_context context(device, std::nothrow);
  if (device.pool != nullptr) {
    cu().memory_free_async(part.copy, stream_of(part));
  } else {
    cu().memory_free(part.copy);
  }
  part.copy = 0;
}

// Whether a participant of both called `later` in a later unit.
bool follows(const collective_meeting& later, const collective_meeting& earlier) {
  return std::any_of(later.parts.begin(), later.parts.end(), [&](const auto& one) {
    return std::any_of(earlier.parts.begin(), earlier.parts.end(), [&](const auto& other) {
      return one.member == other.member && one.unit > other.unit;
    });
  });
}

// Lets the stream of an early caller continue, after the work of its lane.
void let_go(collective_meeting::part& part) noexcept {
  if (part.before == nullptr) return;
  tutti_communicator& member = *part.member;
  const scoped_context context(*member.device, std::nothrow);
  cu().stream_write_value(member.lane, reinterpret_cast<CUdeviceptr>(part.until.at),
                          part.until.target, CU_STREAM_WRITE_VALUE_DEFAULT);
  member.device->events.give(std::exchange(part.before, nullptr), false);
  try {
    member.words.push_back(part.until);
  } catch (...) {  // the word is not reused
  }
}

}  // namespace

collective_team::collective_team(uint32_t size, const std::vector<nccl_comm>& handles)
    : size_(size), is_whole_(handles.size() == size) {
  for (const nccl_comm handle : handles) handles_.emplace_back(handle);
}

shared_meeting collective_team::find(const collective_call& call) {
  const uint64_t number = call.communicator->calls++;
  for (const shared_meeting& one : waiting_)
    if (one->number == number) return one;
  auto made = std::make_shared<collective_meeting>();
  made->number = number;
  made->expected = members_.size();
  waiting_.push_back(made);
  return made;
}

shared_meeting collective_team::arrive(collective_call& call, uint64_t unit) {
  if (!stopped_.empty()) sdk::throw_invalid(call.name, ": ", stopped_);
  const shared_meeting meeting = find(call);
  ++meeting->seen;
  if (!meeting->parts.empty() && !meeting->failure &&
      meeting->parts.front().call.shape != call.shape) {
    const sdk::plugin_error why = disagreement(meeting->parts.front().call, call);
    fail(*meeting, why);
    if (!is_whole_) stop("an earlier one failed: " + std::string(why.what()), why);
  }
  if (meeting->failure) {
    if (meeting->seen == meeting->expected) std::erase(waiting_, meeting);
    throw sdk::plugin_error(*meeting->failure);
  }
  collective_meeting::part& part = meeting->parts.emplace_back();
  part.member = call.communicator;
  part.call = call;
  part.behind = call.stream->awaited.open();
  part.unit = unit;
  return meeting;
}

// What can begin as one group of NCCL: calls of one unit for each participant. The lane releases
// the streams after the whole group, and a later call of the same participant may be enqueued
// behind an earlier one.
std::vector<shared_meeting> collective_team::take_ready() {
  std::vector<shared_meeting> ready;
  for (const shared_meeting& one : waiting_)  // by number
    if (one->is_complete() && (ready.empty() || !follows(*one, *ready.front())))
      ready.push_back(one);
  for (const shared_meeting& one : ready) std::erase(waiting_, one);
  return ready;
}

void collective_team::enqueue(const std::vector<collective_call*>& calls) {
  const std::lock_guard lock(mutex_);
  settle_ended();
  const uint64_t unit = ++units_;
  std::exception_ptr first;
  const auto trying = [&](auto&& step) {
    try {
      step();
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  };
  // Profiled streams get their first event before any work of the group.
  std::vector<std::unique_ptr<event_recorder>> recorders;
  for (const collective_call* call : calls) {
    const scoped_context context(*call->communicator->device);
    recorders.push_back(std::make_unique<event_recorder>(*call->stream, call->event));
  }
  std::vector<shared_meeting> meetings(calls.size());
  for (size_t n = 0; n < calls.size(); ++n) trying([&] { meetings[n] = arrive(*calls[n], unit); });
  for (auto ready = take_ready(); !ready.empty(); ready = take_ready())
    trying([&] { begin(ready); });
  const auto each = [&](auto&& step) {
    for (size_t n = 0; n < calls.size(); ++n) {
      if (meetings[n] == nullptr || meetings[n]->failure) continue;
      trying([&] {
        const scoped_context context(*calls[n]->communicator->device);
        try {
          step(n);
        } catch (...) {
          fail(*meetings[n], sdk::current_failure(calls[n]->name));
          throw;
        }
      });
    }
  };
  // The calls of a unit proceed together: no stream waits before all have their events.
  each([&](size_t n) { park(meetings[n], *calls[n], unit); });
  each([&](size_t n) { hand_over(meetings[n], *calls[n], unit, *recorders[n]); });
  if (first != nullptr) std::rethrow_exception(first);
}

// The part of a call that waits for other participants; null: it has begun.
collective_meeting::part* collective_team::waiting_part(const shared_meeting& meeting,
                                                        const collective_call& call,
                                                        uint64_t unit) {
  if (std::find(waiting_.begin(), waiting_.end(), meeting) == waiting_.end()) return nullptr;
  return &*std::find_if(meeting->parts.begin(), meeting->parts.end(), [&](const auto& part) {
    return part.unit == unit && part.member == call.communicator;
  });
}

void collective_team::park(const shared_meeting& meeting, const collective_call& call,
                           uint64_t unit) {
  collective_meeting::part* const part = waiting_part(meeting, call, unit);
  if (part == nullptr) return;
  tutti_communicator& member = *part->member;
  tutti_device& device = *member.device;
  if (member.words.empty()) {
    part->until = device.words.take(device);
  } else {
    part->until = member.words.back();
    member.words.pop_back();
    ++part->until.target;
  }
  const CUevent before = device.events.take(device, false);
  check(&device, cu().event_record(before, call.stream->handle), "cuEventRecord");
  part->before = before;
}

// After the work, or where its end will be known.
void collective_team::hand_over(const shared_meeting& meeting, const collective_call& call,
                                uint64_t unit, event_recorder& recorder) {
  if (const collective_meeting::part* const part = waiting_part(meeting, call, unit))
    check(part->member->device,
          cu().stream_wait_value(call.stream->handle, reinterpret_cast<CUdeviceptr>(part->until.at),
                                 part->until.target, CU_STREAM_WAIT_VALUE_GEQ),
          "cuStreamWaitValue32");
  recorder.finish();
  if (call.event != nullptr) (*call.event)->behind.push_back(meeting->fate);
}

// Steps that can fail before NCCL is called.
void collective_team::prepare(collective_meeting& meeting) {
  for (collective_meeting::part& part : meeting.parts) {
    tutti_device& device = *part.member->device;
    const scoped_context context(device);
    meeting.fate->follow(part.behind, part.call.name + ": ");
    if (part.before != nullptr)
      check(&device, cu().stream_wait(part.member->lane, part.before, CU_EVENT_WAIT_DEFAULT),
            "cuStreamWaitEvent");
    if (overwrites_input(part.call)) copy_input(part, stream_of(part));
  }
  meeting.fate->follow({aborted_}, meeting.name() + ": ");
}

void collective_team::begin(std::vector<shared_meeting> ready) {
  std::exception_ptr first;
  std::erase_if(ready, [&](const shared_meeting& meeting) {
    try {
      prepare(*meeting);
      return false;
    } catch (...) {
      first = std::current_exception();
      const sdk::plugin_error why = sdk::current_failure(meeting->name());
      fail(*meeting, why);
      if (!is_whole_) stop("an earlier one failed: " + std::string(why.what()), why);
      return true;
    }
  });
  if (ready.empty()) std::rethrow_exception(first);
  try {
    nccl_group group(ready.front()->name());
    for (const shared_meeting& meeting : ready) {
      for (const collective_meeting::part& part : meeting->parts) {
        const scoped_context context(*part.member->device);
        void* const handle = part.member->handle->load();
        if (handle == nullptr) sdk::throw_invalid(part.call.name, ": ", was_aborted);
        check_nccl(exchange(part, handle, stream_of(part)), part.call.name);
      }
    }
    group.end();
    for (const shared_meeting& meeting : ready) {
      for (collective_meeting::part& part : meeting->parts) {
        tutti_device& device = *part.member->device;
        const scoped_context context(device);
        part.end = device.events.take(device, false);
        check(&device, cu().event_record(part.end, stream_of(part)), "cuEventRecord");
        if (part.copy != 0 && device.pool != nullptr)
          cu().memory_free_async(std::exchange(part.copy, 0), stream_of(part));
        let_go(part);
      }
      running_.push_back(meeting);
    }
  } catch (...) {
    // NCCL cannot undo started work: the participants cannot be used any more.
    const sdk::plugin_error why = sdk::current_failure(ready.front()->name());
    for (const shared_meeting& meeting : ready) fail(*meeting, why);
    stop(was_aborted, std::nullopt);
    throw;
  }
  if (first != nullptr) std::rethrow_exception(first);
}

void collective_team::fail(collective_meeting& meeting, const sdk::plugin_error& why) noexcept {
  if (!meeting.failure) meeting.failure = why;
  meeting.fate->settle(why);
  for (collective_meeting::part& part : meeting.parts) {
    drop_copy(part);
    let_go(part);
  }
}

void collective_team::abort_handles() noexcept {
  for (std::atomic<void*>& one : handles_)
    if (void* const handle = one.exchange(nullptr)) nccl().abort(handle);
}

// `failure`: the error for waiting calls, if it is another's.
void collective_team::stop(const std::string& why,
                           const std::optional<sdk::plugin_error>& failure) noexcept {
  if (stopped_.empty()) stopped_ = why;
  aborted_->settle(sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT, why));
  abort_handles();
  for (const shared_meeting& one : std::exchange(waiting_, {}))
    fail(*one, failure ? *failure
                       : sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT, one->name() + ": " + why));
}

void collective_team::abort() {
  std::unique_lock lock(mutex_, std::defer_lock);
  // For a call that waits for other processes the lock is held; an abort releases it.
  if (is_whole_) lock.lock();
  if (lock.owns_lock() || lock.try_lock()) settle_ended();
  aborted_->settle(sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT, was_aborted));
  abort_handles();
  if (!lock.owns_lock()) lock.lock();
  stop(was_aborted, std::nullopt);
}

// Work that has ended cannot fail any more, so its outcome need not be checked again.
void collective_team::settle_ended() {
  while (!running_.empty()) {
    collective_meeting& meeting = *running_.front();
    for (const collective_meeting::part& part : meeting.parts) {
      tutti_device& device = *part.member->device;
      const scoped_context context(device, std::nothrow);
      const CUresult code = cu().event_query(part.end);
      if (code == CUDA_ERROR_NOT_READY) return;
      if (code != CUDA_SUCCESS)
        meeting.fate->settle(failure_of(&device, code, part.call.name + ": " + error_text(code)));
    }
    if (meeting.fate->failure() == nullptr) meeting.fate->settle(std::nullopt);
    for (collective_meeting::part& part : meeting.parts) {
      tutti_device& device = *part.member->device;
      const scoped_context context(device, std::nothrow);
      device.events.give(part.end, false);
      if (part.copy != 0) cu().memory_free(part.copy);
    }
    running_.pop_front();
  }
}

void collective_team::remove(tutti_communicator* member) noexcept {
  const std::lock_guard lock(mutex_);
  for (const shared_meeting& meeting : running_) {
    for (const collective_meeting::part& part : meeting->parts) {
      const scoped_context context(*part.member->device, std::nothrow);
      cu().event_synchronize(part.end);
    }
  }
  settle_ended();
  const std::string why = "participant " + std::to_string(member->rank) + " was released";
  if (stopped_.empty()) stopped_ = why;
  for (const shared_meeting& one : std::exchange(waiting_, {}))
    fail(*one, sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT, one->name() + ": " + why));
  std::erase(members_, member);
}

}  // namespace tutti::cuda
