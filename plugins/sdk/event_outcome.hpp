// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a host-completed event, kept besides the driver's event, because drivers mishandle
// events that fail or do not support it. Streams keep the outcomes they waited for, so that
// failures propagate as plugin.h defines.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdk/status.hpp"

namespace tutti::sdk {

// A listener of event_notify, or none if the function is NULL.
struct event_listener {
  tutti_event_listener function = nullptr;
  void* context = nullptr;
  void tell(const plugin_error* failure) const noexcept;  // NULL: success
};
// Throws TUTTI_ERROR_INVALID_ARGUMENT for a NULL listener.
event_listener listener_of(tutti_event_listener function, void* context);

class event_outcome {
 public:
  // Marks it as done, or as failed with `why`. Returns false if it is already settled.
  bool settle(const std::optional<plugin_error>& why);
  bool is_settled() const { return state_.load(std::memory_order_acquire) != state::pending; }
  // Until it is settled, a failure among `others` also counts as its own, named by `words`.
  void follow(const std::vector<std::shared_ptr<event_outcome>>& others, const std::string& words);
  // Null if it has not failed; stays valid, since a settled outcome does not change.
  const plugin_error* failure() {
    const state now = state_.load(std::memory_order_acquire);
    return now == state::pending ? followed_failure() : now == state::failed ? &*failure_ : nullptr;
  }

 private:
  enum class state : uint8_t { pending, done, failed };
  const plugin_error* followed_failure();
  void become(const std::optional<plugin_error>& why);
  std::mutex mutex_;
  std::atomic<state> state_ = state::pending;
  std::optional<plugin_error> failure_;
  std::vector<std::pair<std::shared_ptr<event_outcome>, std::string>> followed_;
};

using shared_outcome = std::shared_ptr<event_outcome>;
// The outcomes that some work depends on.
using outcomes = std::vector<shared_outcome>;

// The first failure; null if there is none.
const plugin_error* failure_among(const outcomes& all);
// Throws that failure.
void throw_failure_among(const outcomes& all);

// The failure passed by a host: a copy of `status`, nothing for NULL.
std::optional<plugin_error> failure_of(const tutti_status* status);
// Settles a host event for event_signal; NULL means that the event belongs to work.
void signal(event_outcome* event, const tutti_status* status);
inline constexpr const char* no_host_event = "event signal: the event belongs to work on a stream";
inline constexpr const char* signalled_before = "event signal: the event was signalled before";

// The outcomes that a stream has waited for. The caller serialises calls of one stream.
class awaited_outcomes {
 public:
  void add(const outcomes& more);
  // The outcomes that may fail or have failed, for work enqueued now.
  const outcomes& open();
  bool empty() const { return all_.empty(); }
  // Called after everything was awaited and one failed: throws the failure and resets.
  void throw_and_forget();

 private:
  outcomes all_;
};

}  // namespace tutti::sdk
