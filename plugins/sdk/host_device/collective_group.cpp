// SPDX-License-Identifier: Apache-2.0
//
// Matching of calls, and propagation of failures.
#include "sdk/host_device/collective_group.hpp"

#include <algorithm>
#include <new>

namespace tutti::host_device {
namespace {

std::optional<sdk::plugin_error> failure_of_work(
    const sdk::collective_shape& shape, const std::vector<collective_operation::part>& parts) {
  try {
    run_collective(shape, parts);
    return std::nullopt;
  } catch (...) {
    return sdk::current_failure(std::string(sdk::collective_name(shape.kind)) + ": participant 0");
  }
}

}  // namespace

collective_operation::collective_operation(const sdk::collective_shape& what, uint32_t first,
                                           size_t participants)
    : shape_(what), first_caller_(first), parts_(participants) {}

void collective_operation::arrive(size_t number, const part& who,
                                  const sdk::plugin_error* before) noexcept {
  if (before != nullptr)
    fail(sdk::plugin_error(before->code,
                           std::string(sdk::collective_name(shape_.kind)) + ": participant " +
                               std::to_string(who.rank) + ": " + before->what(),
                           before->vendor_code, before->retryable));
  {
    const std::lock_guard lock(mutex_);
    parts_[number] = who;
    if (++arrived_ < parts_.size() || over_) return;
    is_running_ = true;
  }
  finish(failure_of_work(shape_, parts_));  // no other thread uses the parts any more
}

void collective_operation::finish(std::optional<sdk::plugin_error> why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    if (!failure_) failure_ = std::move(why);
  }
  changed_.notify_all();
}

// Running work completes first, so that no memory it writes to is reused early.
void collective_operation::fail(const sdk::plugin_error& why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    if (!failure_) failure_ = why;
    if (is_running_) return;
  }
  finish(why);
}

void collective_operation::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return over_; });
  if (failure_) throw sdk::plugin_error(*failure_);
}

void collective_group::require_working(const std::string& name) const {
  if (!aborted_.empty()) sdk::throw_invalid(name + ": " + aborted_);
}

// Keeps the operation for abort().
void collective_group::remember(const shared_operation& operation) {
  std::erase_if(begun_, [](const auto& one) { return one.expired(); });
  begun_.push_back(operation);
}

collective_group::seat collective_group::join(const sdk::collective_shape& shape, uint32_t rank,
                                              const std::string& name) {
  const std::lock_guard lock(mutex_);
  require_working(name);
  const uint64_t number = calls_[rank];
  while (first_open_ + open_.size() <= number) open_.emplace_back();
  const auto at = open_.begin() + static_cast<std::ptrdiff_t>(number - first_open_);
  if (at->operation == nullptr) {
    auto made = std::make_shared<collective_operation>(shape, rank, size_);
    remember(made);
    at->operation = std::move(made);
  }
  const shared_operation operation = at->operation;
  ++at->called;
  ++calls_[rank];  // also on failure, so that the participants stay in step
  const bool agrees = operation->shape() == shape;
  const bool failed = std::exchange(at->has_failed, at->has_failed || !agrees);
  while (!open_.empty() && open_.front().called == size_) {
    open_.pop_front();
    ++first_open_;
  }
  if (agrees && !failed) return {operation, rank};
  const sdk::plugin_error why =
      agrees ? sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT,
                                 name + ": the participants disagreed before")
             : sdk::disagreement(operation->first_caller(), operation->shape(), rank, shape);
  operation->fail(why);
  throw sdk::plugin_error(why);
}

collective_group::seat collective_group::meet(const sdk::collective_shape& shape, uint32_t rank,
                                              uint32_t peer, bool sends, const std::string& name) {
  const std::lock_guard lock(mutex_);
  require_working(name);
  auto& queue = messages_[sends ? std::pair(rank, peer) : std::pair(peer, rank)];
  const size_t mine = sends ? 0 : 1;
  if (queue.empty() || queue.front().from_sender == sends) {
    auto made = std::make_shared<collective_operation>(shape, rank, 2);
    remember(made);
    queue.push_back({made, sends});
    return {std::move(made), mine};
  }
  const shared_operation operation = queue.front().operation;
  queue.pop_front();
  if (operation->shape() == shape) return {operation, mine};
  const auto why = sdk::disagreement(operation->first_caller(), operation->shape(), rank, shape);
  operation->fail(why);
  throw sdk::plugin_error(why);
}

void collective_group::abort(const std::string& why) {
  std::vector<shared_operation> all;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_.empty()) aborted_ = why;
    for (const auto& one : begun_)
      if (auto operation = one.lock()) all.push_back(std::move(operation));
    begun_.clear();
    open_.clear();
    messages_.clear();
  }
  for (const shared_operation& operation : all)
    operation->fail(sdk::plugin_error(TUTTI_ERROR_INVALID_ARGUMENT,
                                      std::string(sdk::collective_name(operation->shape().kind)) +
                                          ": the collective was aborted: " + why));
}

}  // namespace tutti::host_device
