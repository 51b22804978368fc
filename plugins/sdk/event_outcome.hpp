// SPDX-License-Identifier: Apache-2.0
//
// What became of an event that the host completes, kept beside the driver's own: drivers break down
// over events that fail, or have none that can. Streams remember whom they waited for, so that a
// failure goes on as plugin.h lays it down.
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

// Whom event_notify has to tell; nothing where there is no function.
struct event_listener {
  tutti_event_listener function = nullptr;
  void* context = nullptr;
  void tell(const plugin_error* failure) const noexcept;  // NULL: it is done
};
// Throws TUTTI_ERROR_INVALID_ARGUMENT for a listener that is NULL.
event_listener listener_of(tutti_event_listener function, void* context);

class event_outcome {
 public:
  // Done, or failed with `why`. False, and nothing happens, where that was settled before.
  bool settle(const std::optional<plugin_error>& why);
  // To be told once: by tell_listeners(), or here where it is settled.
  void notify(const event_listener& listener);
  // Behind settle(), when waiters are let go as well.
  void tell_listeners() noexcept;
  bool is_settled() const { return state_.load(std::memory_order_acquire) != state::pending; }
  // Until it is settled, a failure among `others` is one of this as well, named by `words`.
  void follow(const std::vector<std::shared_ptr<event_outcome>>& others, const std::string& words);
  // Null where it has not failed; stays valid, since nothing changes any more.
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
  std::vector<event_listener> listeners_;
  std::vector<std::pair<std::shared_ptr<event_outcome>, std::string>> followed_;
};

using shared_outcome = std::shared_ptr<event_outcome>;
// What some work comes after. It is only as good as all of them.
using outcomes = std::vector<shared_outcome>;

// The first that has failed; null where none has.
const plugin_error* failure_among(const outcomes& all);
// Throws that failure.
void throw_failure_among(const outcomes& all);

// What a host fails an event with: a copy of `status`, nothing for NULL.
std::optional<plugin_error> failure_of(const tutti_status* status);
// Settles a host event as event_signal has to; NULL stands for an event of work.
void signal(event_outcome* event, const tutti_status* status);
inline constexpr const char* no_host_event = "event signal: the event belongs to work on a stream";
inline constexpr const char* signalled_before = "event signal: the event was signalled before";

// The outcomes that a stream has waited for. Calls of one stream are serialised by the caller.
class awaited_outcomes {
 public:
  void add(const outcomes& more);
  // Those that may fail or have failed, for what is enqueued now.
  const outcomes& open();
  bool empty() const { return all_.empty(); }
  // After a failure was awaited, and all else: throws it, and is sound again.
  void throw_and_forget();

 private:
  outcomes all_;
};

}  // namespace tutti::sdk
