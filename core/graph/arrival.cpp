// SPDX-License-Identifier: Apache-2.0
#include "graph/arrival.hpp"

#include <algorithm>

#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::graph {

void arrival::finish(std::optional<failure> why) {
  {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    failure_ = std::move(why);
    done_ = true;
  }
  changed_.notify_all();
  // Not failed, even after a failure: the waiting stream continues and stays usable for other work,
  // and readers of the value learn of the failure here.
  if (signal_ != nullptr && event_ != nullptr) plugins::ignore((*signal_)(event_.get(), nullptr));
}

void arrival::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  if (failure_)
    throw device_error(failure_->message, failure_->code, failure_->vendor_code, false,
                       failure_->device);
}

bool arrival::is_done_within(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return done_; });
}

bool arrival::is_done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool arrival::has_failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

void merge(arrivals& into, const arrivals& more) {
  for (const auto& a : more)
    if ((!a->is_done() || a->has_failed()) && std::find(into.begin(), into.end(), a) == into.end())
      into.push_back(a);
}

}  // namespace tutti::graph
