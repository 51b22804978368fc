// SPDX-License-Identifier: Apache-2.0
//
// Size classes and reuse of device memory, and its return to the driver.
#include "runtime/memory/memory_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "runtime/memory/foreign_memory.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

// Kept in any case: for programs with little memory, returning it has no benefit.
constexpr std::uint64_t least_bound = std::uint64_t{64} << 20;
constexpr std::chrono::seconds epoch_length(20);
constexpr std::uint64_t look_at_clock = 256;  // operations
// Arrays are smaller; only workspaces of plugins may exceed this.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 63;
constexpr std::size_t remembered_sizes = 4096;
constexpr std::uint64_t remembered_bounds = 4;

// Small blocks in steps of a quarter power of two, large ones in steps of 64 KiB: at most a quarter
// is wasted, and very little for large blocks.
std::uint64_t size_class(std::uint64_t bytes) {
  if (bytes <= 256) return 256;
  if (bytes >= (1u << 20)) return (bytes + 0xffff) & ~std::uint64_t{0xffff};
  std::uint64_t step = 64;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

std::uint64_t largest_for(std::uint64_t bytes) { return bytes + bytes / 4; }

}  // namespace

const detail::opened_device& buffer_block::device() const { return owner_.device_; }

void buffer_block::dispose() noexcept {
  if (whose_ == ownership::foreign) return give_back(this);
  owner_.take_back(this);
}

memory_pool::memory_pool(const detail::opened_device& device, stream_progress& stream)
    : device_(device), stream_(stream), cap_(base::pool_limit()) {}

buffer_block* memory_pool::find(std::uint64_t bytes, std::uint64_t idle_before) {
  const auto end = free_.upper_bound(largest_for(bytes));
  for (auto it = free_.lower_bound(bytes); it != end; ++it) {
    // The newest of its size, so that blocks that are not needed grow old.
    if (idle_before == any) it = std::prev(free_.upper_bound(it->first));
    buffer_block* block = it->second;
    if (block->last_use > idle_before) continue;
    block->place_when_free_ = free_.extract(it);
    free_bytes_ -= block->bytes();
    hand_out(*block);
    block->references_.store(1, std::memory_order_relaxed);
    return block;
  }
  return nullptr;
}

buffer_block* memory_pool::request(std::uint64_t bytes) {
  plugins::buffer_handle handle = plugins::allocate(device_, bytes);
  auto made = std::make_unique<buffer_block>(*this, handle.get(), bytes);
  free_blocks place;
  made->place_when_free_ = place.extract(place.emplace(bytes, made.get()));
  handle.release();
  buffer_block* const block = made.release();
  base::count().pool_bytes_reserved.add(bytes);
  base::count().pool_allocations.add();
  hand_out(*block);
  return block;
}

void memory_pool::hand_out(const buffer_block& block) {
  in_use_ += block.bytes();
  peak_ = std::max(peak_, in_use_);
  base::count().pool_take(block.bytes());
}

buffer_block* memory_pool::allocate(std::uint64_t bytes, std::uint64_t idle_before) {
  if (bytes > most_bytes)
    throw out_of_memory(
        fmt::format("{}: allocate {} bytes: no device has that much", device_.title, bytes),
        TUTTI_ERROR_OUT_OF_MEMORY, 0, false, device_.name);
  bytes = size_class(bytes);
  {
    const std::lock_guard lock(mutex_);
    count_operation();
    if (buffer_block* const block = find(bytes, idle_before)) {
      base::count().pool_reuses.add();
      return block;
    }
  }
  stream_.retire_finished();
  try {
    const std::lock_guard lock(mutex_);
    learn_from_miss(bytes);
    release_down_to(bound());
    return request(bytes);
  } catch (const out_of_memory&) {
    if (bytes > device_.limits.max_allocation_bytes) throw;  // independently of the returned memory
    logging::info("{}: out of memory at {} bytes, trimming the pool", device_.name, bytes);
  }
  stream_.settle();
  trim();
  const std::lock_guard lock(mutex_);
  try {
    return request(bytes);
  } catch (const out_of_memory& e) {
    std::uint64_t available = 0;
    if (plugins::ignore(device_.plugin->device.memory_available(device_.handle, &available))) throw;
    throw out_of_memory(fmt::format("{}; {} of its {} bytes are free", e.what(), available,
                                    device_.limits.memory_bytes),
                        e.code(), e.vendor_code(), e.retryable(), device_.name);
  }
}

void memory_pool::take_back(buffer_block* block) noexcept {
  if (base::is_fork()) return;  // another thread of the parent may have held the lock
  base::count().pool_give_back(block->bytes());
  const std::lock_guard lock(mutex_);
  in_use_ -= block->bytes();
  block->free_since = {operations_ + 1, epoch_};
  free_bytes_ += block->bytes();
  free_.insert(std::move(block->place_when_free_));
  try {
    count_operation();
    if (free_bytes_ <= bound()) return;
    const std::uint64_t retired = stream_.retired();
    if (block->last_use <= retired || retired != looked_at_) release_down_to(bound());
  } catch (...) {
    // Not enough host memory to sort the blocks to return: they stay until the next search.
  }
}

void memory_pool::trim_excess() noexcept {
  const std::lock_guard lock(mutex_);
  try {
    release_down_to(bound());
  } catch (...) {  // not enough memory to sort them: the next search returns them
  }
}

// The maximum of free memory to keep.
std::uint64_t memory_pool::bound() const {
  if (cap_) return *cap_;
  return std::max({least_bound, peak_, earlier_peak_}) + allowance_;
}

// A size that was returned to the driver is needed again.
void memory_pool::learn_from_miss(std::uint64_t bytes) {
  const auto found = std::find_if(given_back_.rbegin(), given_back_.rend(), [&](const auto& r) {
    return r.bytes >= bytes && r.bytes <= largest_for(bytes);
  });
  if (found == given_back_.rend()) return;
  if (found->why == reason::age)
    patience_ *= 2;
  else
    allowance_ += found->bytes;
  given_back_bytes_ -= found->bytes;
  given_back_.erase(std::next(found).base());
}

void memory_pool::count_operation() {
  if (++operations_ % look_at_clock != 0) return;
  const clock::time_point now = clock::now();
  if (now - epoch_began_ >= epoch_length) start_epoch(now);
}

void memory_pool::start_epoch(clock::time_point now) {
  epoch_began_ = now;
  ++epoch_;
  earlier_peak_ = peak_;
  peak_ = in_use_;
  release_aged();
}

void memory_pool::release_down_to(std::uint64_t kept) {
  if (free_bytes_ <= kept || base::is_exiting()) return;
  const std::uint64_t retired = looked_at_ = stream_.retired();
  std::vector<free_blocks::iterator> idle;
  for (auto it = free_.begin(); it != free_.end(); ++it)
    if (it->second->last_use <= retired) idle.push_back(it);
  std::sort(idle.begin(), idle.end(), [](const auto& a, const auto& b) {
    return a->second->free_since.operation < b->second->free_since.operation;
  });
  // Some more, so that not every released block triggers a search.
  const std::uint64_t goal = kept - kept / 8;
  for (const auto& which : idle) {
    if (free_bytes_ <= goal) return;
    release(which, reason::excess);
  }
}

void memory_pool::release_aged() {
  if (base::is_exiting()) return;
  const std::uint64_t retired = stream_.retired();
  for (auto it = free_.begin(); it != free_.end();) {
    const auto which = it++;
    const buffer_block& block = *which->second;
    if (block.free_since.epoch + patience_ < epoch_ && block.last_use <= retired)
      release(which, reason::age);
  }
}

void memory_pool::release(free_blocks::iterator which, reason why) {
  buffer_block* const block = which->second;
  const std::uint64_t bytes = block->bytes();
  given_back_.push_back({bytes, why});
  given_back_bytes_ += bytes;
  // No further back than a bound of a few times the size would have kept.
  while (given_back_bytes_ > remembered_bounds * bound() || given_back_.size() > remembered_sizes) {
    given_back_bytes_ -= given_back_.front().bytes;
    given_back_.pop_front();
  }
  free_.erase(which);
  free_bytes_ -= bytes;
  base::count().pool_bytes_reserved.subtract(bytes);
  device_.plugin->memory.release(block->handle());
  delete block;
}

void memory_pool::trim() {
  const std::lock_guard lock(mutex_);
  while (!free_.empty()) release(free_.begin(), reason::excess);
  given_back_.clear();
  given_back_bytes_ = 0;
  allowance_ = 0;
}

}  // namespace tutti::runtime
