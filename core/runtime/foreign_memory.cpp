// SPDX-License-Identifier: Apache-2.0
//
// When foreign memory goes back. Its deleter is foreign code, which may take locks (an
// interpreter's for one) that other threads hold while they wait for the executor: it never runs
// under the executor's lock.
#include "runtime/foreign_memory.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "runtime/device_context.hpp"
#include "runtime/executor.hpp"

namespace tutti::runtime {
namespace {

class returner {
 public:
  void add(device_context& context, buffer_block* block) {
    {
      const std::lock_guard lock(mutex_);
      line_.push_back({&context, block});
      if (!started_) std::thread([this] { run(); }).detach();
      started_ = true;
    }
    changed_.notify_one();
  }

 private:
  struct item {
    device_context* context;
    buffer_block* block;
  };

  [[noreturn]] void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !line_.empty(); });
      const item next = line_.front();
      line_.pop_front();
      lock.unlock();
      const detail::plugin& plugin = *next.context->device.plugin;
      // A failure is told to those who read the results.
      if (const auto event = event_of(*next.context, next.block->last_use))
        detail::ignore(plugin.stream.event_wait(event.get()));
      plugin.memory.release(next.block->handle());
      delete next.block;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<item> line_;
  bool started_ = false;
};

returner& the_returner() {
  static auto* const instance = new returner;
  return *instance;
}

}  // namespace

buffer_block* adopt(const detail::opened_device& device, detail::buffer_handle buffer,
                    std::uint64_t bytes) {
  auto* const block =
      new buffer_block(context_of(device).pool, buffer.get(), bytes, ownership::foreign);
  static_cast<void>(buffer.release());
  return block;
}

void give_back(const detail::opened_device& device, buffer_block* block) noexcept {
  device_context& context = context_of(device);
  if (in_executor() || !context.has_retired(block->last_use)) {
    try {
      return the_returner().add(context, block);
    } catch (const std::exception&) {
      return;  // out of memory or threads: the owner does not get it back
    }
  }
  device.plugin->memory.release(block->handle());
  delete block;
}

}  // namespace tutti::runtime
