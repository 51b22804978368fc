// SPDX-License-Identifier: Apache-2.0
//
// Values on their way between ranks: the memory that holds them, and the messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "multi/job/job_state.hpp"
#include "tutti/array.hpp"
#include "tutti/dlpack.hpp"
#include "tutti/dlpack_structs.h"
#include "tutti/ops.hpp"

namespace tutti::multi {

/// A copy of an array's values in host memory, or on the array's device.
class message_copy {
 public:
  message_copy(const array& a, bool on_host)
      : on_(a.device()),
        bytes_(a.nbytes()),
        tensor_(to_dlpack(contiguous(a), {.to_cpu = on_host, .copy = true}),
                [](DLManagedTensorVersioned* t) { t->deleter(t); }) {}

  std::byte* data() const {
    return static_cast<std::byte*>(tensor_->dl_tensor.data) + tensor_->dl_tensor.byte_offset;
  }
  std::uint64_t bytes() const { return bytes_; }
  /// The memory that a request uses.
  const std::shared_ptr<DLManagedTensorVersioned>& memory() const { return tensor_; }

  /// The same memory as an array, after all writes to it have finished.
  array as_array() const {
    auto* const shared = new DLManagedTensorVersioned(*tensor_);
    shared->manager_ctx = new std::shared_ptr<DLManagedTensorVersioned>(tensor_);
    shared->deleter = [](DLManagedTensorVersioned* self) {
      delete static_cast<std::shared_ptr<DLManagedTensorVersioned>*>(self->manager_ctx);
      delete self;
    };
    return from_dlpack(shared, on_);
  }

 private:
  device on_;
  std::uint64_t bytes_;
  std::shared_ptr<DLManagedTensorVersioned> tensor_;
};

/// Values in transfer, in messages.
class transfer {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  ///< of a message
  /// For reductions: one chunk is sent while the next is added.
  static constexpr std::uint64_t most_reduced = std::uint64_t{4} << 20;

  /// Starts `what` for `bytes` of the values, beginning at `from`.
  transfer(job_state& job, const char* op, tutti_exchange what, message_copy values,
           std::uint64_t from, std::uint64_t bytes)
      : job_(job), op_(op), values_(std::move(values)) {
    const std::uint64_t most = what.kind == TUTTI_EXCHANGE_ALL_REDUCE ? most_reduced : most_bytes;
    for (std::uint64_t at = 0; at < bytes; at += most) {
      what.data = values_.data() + from + at;
      what.bytes = std::min(most, bytes - at);
      requests_.push_back(job.start(op, what, values_.memory()));
    }
  }
  transfer(job_state& job, const char* op, const tutti_exchange& what, const message_copy& values)
      : transfer(job, op, what, values, 0, values.bytes()) {}

  void leave() {
    for (tutti_request* request : requests_) job_.leave(request, op_);
  }
  bool done() {
    return std::all_of(requests_.begin(), requests_.end(),
                       [&](tutti_request* request) { return job_.is_done(request, op_); });
  }
  array finish() {
    for (tutti_request* request : requests_) job_.wait(request, op_);
    return values_.as_array();
  }

 private:
  job_state& job_;
  const char* op_;
  message_copy values_;
  std::vector<tutti_request*> requests_;
};

}  // namespace tutti::multi
