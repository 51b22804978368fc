// SPDX-License-Identifier: Apache-2.0
//
// Whether a device moves bytes to where they belong, and says when it has.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "base/signals.hpp"
#include "plugin/proof/conversation.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// A thread within a call that should wait: whether it does, or has merely had no processor yet.
class call_watch {
 public:
  /// Of the thread that calls this.
  call_watch() : status_(fmt::format("/proc/self/task/{}/stat", ::gettid())) {
    has_clock_ = ::pthread_getcpuclockid(::pthread_self(), &clock_) == 0;
  }

  /// From that thread, just before the call.
  void begin() {
    begin_ = processor_time();
    has_begun_ = true;
  }

  void end() { has_ended_ = true; }

  /// From another thread: returns once the call sleeps, or has worked for as long as nobody does
  /// who does not wait, or has ended; or soon, where a system tells neither.
  void until_it_waits() const {
    const auto latest = std::chrono::steady_clock::now() + longest;
    for (int asleep = 0; !has_ended_ && asleep < 2;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (std::chrono::steady_clock::now() > latest) return;
      if (!has_begun_) continue;
      if (!has_clock_ || processor_time() - begin_ >= enough) return;
      asleep = is_asleep() ? asleep + 1 : 0;
    }
  }

 private:
  static constexpr std::chrono::milliseconds enough{4}, longest{2000};

  std::chrono::nanoseconds processor_time() const {
    timespec t{};
    ::clock_gettime(clock_, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  }

  /// True where nobody can say: without /proc, or without a descriptor that is free.
  bool is_asleep() const {
    std::string line;
    if (!std::getline(std::ifstream(status_), line)) return true;
    const std::size_t name_end = line.rfind(')');  // "17 (name) S ...": whatever is not R
    return line.substr(std::min(name_end, line.size()), 3) != ") R";
  }

  std::string status_;
  clockid_t clock_{};
  bool has_clock_ = false;
  std::chrono::nanoseconds begin_{};
  std::atomic<bool> has_begun_ = false, has_ended_ = false;
};

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
    call_watch watch;
    std::thread other = start_thread([&] {
      watch.until_it_waits();
      is_over = true;
      let_go();
    });
    watch.begin();
    tutti_status* const status = device_.plugin->stream.event_wait(event, TUTTI_FOREVER);
    const bool is_early = !is_over;
    watch.end();
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

/// Of events of the host's, if there are any: where signalling fails, whoever waits does so for
/// ever.
std::string signal_mistake(const opened_device& d) {
  const stream_functions& stream = d.plugin->stream;
  tutti_event* made = nullptr;
  if (ignore(stream.event_create(d.handle, &made)) || made == nullptr) return {};
  const event_handle event = own(*d.plugin, made);
  try {
    check(stream.event_signal(made, nullptr), d, "signal an event");
  } catch (const device_error& e) {
    return std::string("event_signal fails: ") + e.what();
  }
  return {};
}

/// Some MB at once, which drivers move by other means than a page: written, read and compared with
/// offsets in both directions.
std::string large_transfer_mistake(const opened_device& d) {
  const std::uint64_t most = std::uint64_t{3} << 19;
  const std::size_t n = std::min(most, d.limits.max_allocation_bytes / 4) / sizeof(std::uint32_t);
  const std::size_t from = n / 3 + 1, count = n / 2 - 3;  // what is written anew; no whole pages
  if (n < 2048) return {};
  const transfer_functions& transfer = d.plugin->transfer;
  const auto byte = [](std::size_t word) { return word * sizeof(std::uint32_t); };
  const auto value = [](std::size_t i) { return static_cast<std::uint32_t>(i) * 2654435761u + 1; };
  conversation with(d);
  tutti_buffer* const buffer = with.room(byte(n));
  auto* const words = reinterpret_cast<std::uint32_t*>(with.host_room(byte(n)));
  for (std::size_t i = 0; i < n; ++i) words[i] = value(i);
  check(transfer.write(with.stream(), buffer, 0, words, byte(n), 1, nullptr), d,
        "write to the device");
  // What a later write brings is told from that by its place: shifted by one.
  check(
      transfer.write(with.stream(), buffer, byte(from), words + from + 1, byte(count), 0, nullptr),
      d, "write to the device");
  check(d.plugin->stream.synchronize(with.stream()), d, "synchronize");
  std::fill_n(words, n, 0u);
  const std::size_t cut = from + count / 2;
  check(transfer.read(with.stream(), buffer, byte(cut), words + cut, byte(n - cut), 0, nullptr), d,
        "read from the device");
  check(transfer.read(with.stream(), buffer, 0, words, byte(cut), 1, nullptr), d,
        "read from the device");
  check(d.plugin->stream.synchronize(with.stream()), d, "synchronize");
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t right = value(i >= from && i < from + count ? i + 1 : i);
    if (words[i] != right)
      return fmt::format("of {} bytes written and read back, word {} is {:#x} instead of {:#x}",
                         byte(n), i, words[i], right);
  }
  return {};
}

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
  if (std::string wrong = signal_mistake(d); !wrong.empty()) return wrong;
  if (first.maps_nothing(target)) return "memory.map succeeds, but hands out NULL";
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
  return wrong.empty() ? large_transfer_mistake(d) : wrong;
}

}  // namespace tutti::detail
