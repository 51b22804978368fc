// SPDX-License-Identifier: Apache-2.0
//
// Work in flight on a device, its failures and its trace.
#include "runtime/execute/device_context.hpp"

#include <algorithm>
#include <new>

#include "base/counters.hpp"
#include "base/exit.hpp"
#include "base/trace.hpp"
#include "graph/node.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/transfer/event_wait.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

// Beyond half of `wait_at` launches in flight, the finished ones are collected; beyond all of it,
// the host waits for the device, so that neither memory nor the latency of a later read grows
// without bound. Drivers take as long to tell of an event as for half a launch, so many go
// together.
constexpr std::size_t wait_at = 4096;
constexpr std::size_t together = 256;
// Maximum number of bytes of inputs for evaluations in flight; a minimum number of evaluations is
// always allowed, so that the device does not wait for the host.
constexpr std::uint64_t most_arrived = std::uint64_t{64} << 20;
constexpr std::size_t least_evaluations = 2;

}  // namespace

device_context::device_context(const detail::opened_device& d)
    : device(d),
      compute(plugins::create_stream(d, base::trace_enabled() ? TUTTI_STREAM_PROFILE : 0)),
      transfer(plugins::create_stream(d)),
      pool(d, *this) {
  if (!base::trace_enabled()) return;
  trace_track_ = base::trace_track(d.name, "compute");
  std::uint64_t now = 0;
  if (d.plugin->has_profile && !plugins::ignore(d.plugin->profile.clock(d.handle, &now)))
    clock_offset_ns_ =
        static_cast<std::int64_t>(base::trace_now_ns()) - static_cast<std::int64_t>(now);
}

buffer_block* device_context::allocate(std::uint64_t bytes) {
  return pool.allocate(bytes, memory_pool::any);
}

buffer_block* device_context::allocate_idle(std::uint64_t bytes) {
  retire_finished();
  buffer_block* const block = pool.allocate(bytes, retired());
  newest_ += bytes;
  return block;
}

std::shared_ptr<tutti_event> device_context::end_evaluation() {
  if (newest_ == 0 || has_retired(last_)) return nullptr;
  const auto drop_front = [this] {
    const arrived_work front = arrived_work_.front();
    arrived_work_.pop_front();
    arrived_ -= front.bytes;
    return front.sequence;
  };
  arrived_work_.push_back({last_, newest_});
  arrived_ += std::exchange(newest_, 0);
  while (!arrived_work_.empty() && has_retired(arrived_work_.front().sequence)) drop_front();
  std::uint64_t awaited = 0;
  while (arrived_ > most_arrived && arrived_work_.size() > least_evaluations)
    awaited = drop_front();
  return event_of(awaited);
}

void device_context::retire_finished() {
  while (!flight_.empty() && has_ended(flight_.front())) retire_front();
}

bool device_context::has_ended(const in_flight& work) const {
  std::int32_t done = 0;
  return plugins::ignore(device.plugin->stream.event_query(work.event.get(), &done)) || done != 0;
}

const device_context::in_flight* device_context::find(std::uint64_t sequence) const {
  if (flight_.empty() || sequence < flight_.front().sequence) return nullptr;
  const auto index = static_cast<std::size_t>(sequence - flight_.front().sequence);
  return index < flight_.size() ? &flight_[index] : nullptr;
}

bool device_context::has_ended(std::uint64_t sequence) const {
  const in_flight* const work = find(sequence);
  return work == nullptr || has_ended(*work);
}

template <class T>
void device_context::drop_unused(cache<T>& from) {
  retire_finished();
  std::vector<std::uint64_t> uses;
  for (const auto& [key, entry] : from) uses.push_back(entry->last_use);
  const auto quarter = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 4);
  std::nth_element(uses.begin(), quarter, uses.end());
  const std::uint64_t latest = std::min(*quarter, retired());
  std::erase_if(from, [&](const auto& entry) { return entry.second->last_use <= latest; });
  ++generation_of_programs;
}

template void device_context::drop_unused(cache<cached_program>& from);
template void device_context::drop_unused(cache<cached_plan>& from);
template void device_context::drop_unused(cache<compiled_kernel>& from);

device_context& device_context::fallback() {
  const auto host = [this]() -> const detail::opened_device& {
    try {
      if (device.plugin->name != "cpu") return detail::get(tutti::device("cpu"));
    } catch (const error&) {  // it is not installed
    }
    return detail::get(tutti::device("reference"));
  };
  if (fallback_ == nullptr) fallback_ = std::make_unique<device_context>(host());
  return *fallback_;
}

tutti_stream* device_context::copies() {
  if (copies_ == nullptr) copies_ = plugins::create_stream(device);
  return copies_.get();
}

void device_context::renew_copies() {
  const std::lock_guard lock(copies_mutex);
  // Releasing a stream that hangs would hang.
  static_cast<void>(copies_.release());
}

void device_context::prepare_input(const graph::node& input) {
  check_health(input.sequence);
  for (const auto& a : input.arriving) {
    if (a->has_failed()) a->wait();
    if (a->awaited || a->is_done()) continue;
    if (a->event() == nullptr) {
      a->wait();
    } else {
      plugins::check(device.plugin->stream.wait(compute.get(), a->event()), device, "wait for",
                     "a copy");
    }
    a->awaited = true;
  }
  merge(awaited_, input.arriving);
  if (buffer_block* const block = block_of(input)) block->last_use = next_sequence();
}

std::uint64_t device_context::enqueued(tutti_event* event, const char* label, std::uint64_t bytes,
                                       std::uint64_t flops) {
  base::count().launches.add();
  auto owned = plugins::own(*device.plugin, event);
  try {
    flight_.push_back({last_ + 1, nullptr, label, bytes, flops});
    try {
      flight_.back().event = std::move(owned);
    } catch (...) {
      flight_.pop_back();
      throw;
    }
  } catch (...) {
    // It would be impossible to wait for this work later, or to know when its memory is free.
    plugins::ignore(wait_for_end(device, owned.get()));
    throw;
  }
  ++last_;
  if (flight_.size() > wait_at / 2 && last_ % together == 0) {
    const in_flight& among = flight_[together];
    if (has_ended(among) || flight_.size() > wait_at) retire(among.sequence);
  }
  return last_;
}

std::shared_ptr<tutti_event> device_context::event_of(std::uint64_t sequence) {
  const in_flight* const work = find(sequence);
  return work != nullptr ? work->event : nullptr;
}

std::string device_context::label_of(std::uint64_t sequence) const {
  const in_flight* const work = find(sequence);
  return work != nullptr ? work->label : std::string();
}

void device_context::retire(std::uint64_t sequence) {
  while (!flight_.empty() && flight_.front().sequence <= sequence) retire_front();
}

void device_context::retire_front() {
  const in_flight work = std::move(flight_.front());
  flight_.pop_front();
  tutti_status* status = wait_for_end(device, work.event.get());
  retired_.store(work.sequence, std::memory_order_release);
  if (status == nullptr) {
    if (base::trace_enabled()) trace(work);
    return;
  }
  try {
    try {
      plugins::check(status, device, "run", work.label);
    } catch (const device_error& e) {
      failures_.push_back({work.sequence, last_, e.what(), e.code(), e.vendor_code()});
    }
  } catch (const std::bad_alloc&) {
    untold_first_ = std::min(untold_first_, work.sequence);
    untold_last_ = last_;
  }
}

void device_context::check_health(std::uint64_t sequence) const {
  for (const failure& f : failures_)
    if (sequence >= f.first && sequence <= f.last)
      throw device_error(f.message, f.code, f.vendor_code, false, device.name);
  if (sequence >= untold_first_ && sequence <= untold_last_)
    throw device_error(device.title + ": run: work failed, and there was no memory to keep why",
                       TUTTI_ERROR_DRIVER, 0, false, device.name);
}

void device_context::trace(const in_flight& work) {
  tutti_event_times times{};
  times.struct_size = sizeof times;
  if (!device.plugin->has_profile ||
      plugins::ignore(device.plugin->profile.event_times(work.event.get(), &times)))
    return;
  const auto on_host = [&](std::uint64_t t) {
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, static_cast<std::int64_t>(t) + clock_offset_ns_));
  };
  base::trace_complete(trace_track_, work.label, on_host(times.begin_ns), on_host(times.end_ns),
                       {work.label, work.bytes, work.flops});
}

device_context& context_of(const detail::opened_device& device) {
  std::call_once(device.context_once, [&] {
    const auto made = std::make_shared<device_context>(device);
    device.context = made;
    base::wait_at_exit([made](time_point deadline) { return finish(*made, deadline); });
  });
  return *static_cast<device_context*>(device.context.get());
}

}  // namespace tutti::runtime
