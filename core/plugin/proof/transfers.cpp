// SPDX-License-Identifier: Apache-2.0
//
// Whether a device moves bytes to where they belong, and says when it has.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "base/signals.hpp"
#include "plugin/proof/conversation.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Work of a stream that is late for sure: it waits for an event of the host's, or where the plugin
/// has none, for some other work.
class held_up {
 public:
  explicit held_up(conversation& with) : device_(with.device()) {
    const stream_functions& stream = device_.plugin->stream;
    tutti_event* made = nullptr;
    if (!ignore(stream.event_create(device_.handle, &made)) && made != nullptr)
      gate_ = own(*device_.plugin, made);
    if (gate_ == nullptr || ignore(stream.wait(with.stream(), made))) {
      gate_.reset();
      be_busy(with);
    }
  }
  held_up(const held_up&) = delete;
  held_up& operator=(const held_up&) = delete;
  ~held_up() { let_go(); }

  /// Waits for `event`, of work that is held up; true where that is back too early.
  bool is_back_early(tutti_event* event) {
    if (gate_ == nullptr) return wait(event), false;
    if (is_done(event)) return true;
    std::atomic<bool> is_over = false;
    std::thread other = start_thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      is_over = true;
      let_go();
    });
    tutti_status* const status = device_.plugin->stream.event_wait(event, TUTTI_FOREVER);
    const bool is_early = !is_over;
    other.join();
    check(status, device_, "wait for the copy");
    return is_early;
  }

 private:
  void be_busy(conversation& with) const {
    constexpr int copies = 32;
    const std::uint64_t bytes =
        std::min(std::uint64_t{1} << 20, device_.limits.max_allocation_bytes / 8);
    tutti_buffer *from = with.room(bytes), *to = with.room(bytes);
    for (int i = 0; i < copies && bytes > 0; ++i, std::swap(from, to))
      check(device_.plugin->transfer.copy(with.stream(), from, 0, to, 0, bytes, nullptr), device_,
            "copy");
  }

  void wait(tutti_event* event) const {
    check(device_.plugin->stream.event_wait(event, TUTTI_FOREVER), device_, "wait for the copy");
  }

  /// Asks by the function that is to be tried out.
  bool is_done(tutti_event* event) const {
    tutti_status* const status = device_.plugin->stream.event_wait(event, 0);
    if (status != nullptr && status->code == TUTTI_ERROR_TIMEOUT) return !ignore(status);
    check(status, device_, "wait for the copy");
    return true;
  }

  void let_go() {
    if (gate_ != nullptr && !std::exchange(has_let_go_, true))
      ignore(device_.plugin->stream.event_signal(gate_.get(), nullptr));
  }

  const opened_device& device_;
  event_handle gate_;
  bool has_let_go_ = false;
};

}  // namespace

std::string transfer_mistake(const opened_device& d) {
  constexpr std::size_t n = 1003, skipped = 5;
  const detail::plugin& plugin = *d.plugin;
  const tensor sent = make_tensor(TUTTI_I32, {n}, whole_numbers(n, 12, -1000, 1000));
  const tensor before = make_tensor(TUTTI_I32, {n}, whole_numbers(n, 13, 2000, 3000));
  tensor right = before;  // all but the first few of `sent`, at the front
  std::copy(sent.bytes.begin() + skipped * sizeof(std::int32_t), sent.bytes.end(),
            right.bytes.begin());
  conversation first(d), second(d);
  tutti_buffer* const target = second.upload(before);
  tutti_buffer* const source = first.begin_upload(sent);
  const event_handle written = record_event(d, first.stream());
  check(plugin.stream.flush(first.stream()), d, "flush");
  check(plugin.stream.wait(second.stream(), written.get()), d, "wait for an event");
  held_up late(second);
  check(plugin.transfer.copy(second.stream(), source, skipped * sizeof(std::int32_t), target, 0,
                             sent.bytes.size() - skipped * sizeof(std::int32_t), nullptr),
        d, "copy");
  const event_handle copied = record_event(d, second.stream());
  check(plugin.stream.flush(second.stream()), d, "flush");
  if (late.is_back_early(copied.get())) return "event_wait is back before the work is done";
  // Nothing but that wait orders what the host sees now.
  std::string wrong = mistake({right}, first.seen_at_once(target, right));
  if (!wrong.empty()) return "after event_wait " + wrong;
  wrong = mistake({right}, second.download(target, right));
  check(plugin.stream.synchronize(first.stream()), d, "synchronize");
  return wrong;
}

}  // namespace tutti::detail
