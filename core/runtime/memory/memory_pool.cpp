// SPDX-License-Identifier: Apache-2.0
//
// Size classes and reuse of device memory.
#include "runtime/memory/memory_pool.hpp"

#include <charconv>
#include <limits>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/stats.hpp"
#include "runtime/memory/foreign_memory.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

// Small blocks in steps of a quarter power of two, large ones in steps of 64 KiB: at most a quarter
// is wasted, and next to nothing where it would matter.
std::uint64_t size_class(std::uint64_t bytes) {
  if (bytes <= 256) return 256;
  if (bytes >= (1u << 20)) return (bytes + 0xffff) & ~std::uint64_t{0xffff};
  std::uint64_t step = 64;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

std::uint64_t cap_from_environment() {
  const auto text = detail::env("TUTTI_POOL_MB");
  if (!text) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t megabytes = 0;
  const char* end = text->data() + text->size();
  const auto [stop, failed] = std::from_chars(text->data(), end, megabytes);
  if (failed != std::errc{} || stop != end || megabytes > (std::uint64_t{1} << 40)) {
    logging::warn("TUTTI_POOL_MB='{}' is not a number of MiB, ignoring it", *text);
    return std::numeric_limits<std::uint64_t>::max();
  }
  return megabytes << 20;
}

}  // namespace

void buffer_block::dispose() noexcept {
  if (whose_ == ownership::foreign) return give_back(owner_.device_, this);
  owner_.take_back(this);
}

memory_pool::memory_pool(const detail::opened_device& device)
    : device_(device), cap_(cap_from_environment()) {}

buffer_block* memory_pool::find(std::uint64_t bytes, std::uint64_t idle_before) {
  const std::uint64_t largest = bytes + bytes / 4;
  for (auto it = free_.lower_bound(bytes); it != free_.end() && it->first <= largest; ++it) {
    buffer_block* block = it->second;
    if (block->last_use > idle_before) continue;
    free_.erase(it);
    block->references_.store(1, std::memory_order_relaxed);
    return block;
  }
  return nullptr;
}

buffer_block* memory_pool::request(std::uint64_t bytes) {
  detail::buffer_handle handle = detail::allocate(device_, bytes);
  auto* block = new buffer_block(*this, handle.get(), bytes);
  handle.release();
  reserved_ += bytes;
  detail::count().pool_bytes_reserved.add(bytes);
  detail::count().pool_allocations.add();
  return block;
}

buffer_block* memory_pool::allocate(std::uint64_t bytes, std::uint64_t idle_before,
                                    void (*settle)(void*), void* settle_context) {
  bytes = size_class(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (buffer_block* block = find(bytes, idle_before)) {
      detail::count().pool_reuses.add();
      detail::count().pool_take(block->bytes());
      return block;
    }
  }
  buffer_block* block = nullptr;
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    full = reserved_ + bytes > cap_ && !free_.empty();
  }
  if (!full) {
    try {
      const std::lock_guard lock(mutex_);
      block = request(bytes);
    } catch (const out_of_memory&) {
      logging::info("{}: out of memory at {} bytes, trimming the pool", device_.name, bytes);
    }
  }
  if (block == nullptr) {
    settle(settle_context);
    trim();
    const std::lock_guard lock(mutex_);
    block = request(bytes);
  }
  detail::count().pool_take(block->bytes());
  return block;
}

void memory_pool::take_back(buffer_block* block) noexcept {
  detail::count().pool_give_back(block->bytes());
  const std::lock_guard lock(mutex_);
  try {
    free_.emplace(block->bytes(), block);
  } catch (...) {
    // No memory to remember the block: it stays with the driver.
  }
}

void memory_pool::trim() {
  const std::lock_guard lock(mutex_);
  for (const auto& [bytes, block] : free_) {
    device_.plugin->memory.release(block->handle());
    reserved_ -= bytes;
    detail::count().pool_bytes_reserved.subtract(bytes);
    delete block;
  }
  free_.clear();
}

}  // namespace tutti::runtime
