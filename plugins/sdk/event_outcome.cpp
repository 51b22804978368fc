// SPDX-License-Identifier: Apache-2.0
#include "sdk/event_outcome.hpp"

namespace tutti::sdk {

void event_listener::tell(const plugin_error* failure) const noexcept {
  if (function == nullptr) return;
  if (failure == nullptr) return function(context, nullptr);
  const tutti_status status{
      sizeof status,   failure->code,       failure->vendor_code, failure->retryable ? 1u : 0u, 0,
      failure->what(), [](tutti_status*) {}};
  function(context, &status);
}

event_listener listener_of(tutti_event_listener function, void* context) {
  if (function == nullptr) throw_invalid("event notify: listener is NULL");
  return {function, context};
}

bool event_outcome::settle(const std::optional<plugin_error>& why) {
  const std::lock_guard lock(mutex_);
  if (is_settled()) return false;
  become(why);
  return true;
}

// Requires the mutex.
void event_outcome::become(const std::optional<plugin_error>& why) {
  failure_ = why;
  state_.store(why ? state::failed : state::done, std::memory_order_release);
  followed_.clear();
}

void event_outcome::follow(const outcomes& others, const std::string& words) {
  const std::lock_guard lock(mutex_);
  if (is_settled()) return;
  for (const shared_outcome& one : others) followed_.emplace_back(one, words);
}

const plugin_error* event_outcome::followed_failure() {
  const std::lock_guard lock(mutex_);
  for (const auto& [one, words] : followed_) {
    const plugin_error* const why = one->failure();
    if (why == nullptr) continue;
    become(plugin_error(why->code, words + why->what(), why->vendor_code, why->retryable));
    break;
  }
  return failure_ ? &*failure_ : nullptr;
}

const plugin_error* failure_among(const outcomes& all) {
  for (const shared_outcome& one : all)
    if (const plugin_error* const failure = one->failure()) return failure;
  return nullptr;
}

void throw_failure_among(const outcomes& all) {
  if (const plugin_error* const failure = failure_among(all)) throw plugin_error(*failure);
}

std::optional<plugin_error> failure_of(const tutti_status* status) {
  if (status == nullptr) return std::nullopt;
  const tutti_status s = read_struct(status, "status");
  if (s.code == TUTTI_OK) throw_invalid("event signal: a failure of code 0");
  return plugin_error(static_cast<tutti_code>(s.code),
                      s.message != nullptr ? s.message : "the host failed it", s.vendor_code,
                      s.retryable != 0);
}

void signal(event_outcome* event, const tutti_status* status) {
  if (event == nullptr) throw_invalid(no_host_event);
  if (!event->settle(failure_of(status))) throw_invalid(signalled_before);
}

void awaited_outcomes::add(const outcomes& more) {
  open();
  all_.insert(all_.end(), more.begin(), more.end());
}

const outcomes& awaited_outcomes::open() {
  std::erase_if(all_, [](const shared_outcome& one) {
    return one->is_settled() && one->failure() == nullptr;
  });
  return all_;
}

void awaited_outcomes::throw_and_forget() {
  const outcomes before = std::exchange(all_, {});
  throw_failure_among(before);
}

}  // namespace tutti::sdk
