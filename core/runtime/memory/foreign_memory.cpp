// SPDX-License-Identifier: Apache-2.0
//
// When foreign memory is released. Its deleter is foreign code that may take locks (for example an
// interpreter's) which other threads hold while they wait for a device: it never runs while its
// thread holds a device.
#include "runtime/memory/foreign_memory.hpp"

#include <memory>

#include "base/background_thread.hpp"
#include "base/exit.hpp"
#include "base/process.hpp"
#include "graph/build.hpp"
#include "runtime/execute/device_context.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/transfer/event_wait.hpp"

namespace tutti::runtime {
namespace {

struct returned {
  device_context* context;
  buffer_block* block;
  bool has_ended = false;  // the work that uses the memory
};

// A deleter may drop the last reference to a block of the next owner: a list instead of recursion,
// so that memory that was passed on any number of times fits the stack.
void release(buffer_block* block) noexcept {
  thread_local constinit buffer_block* waiting = nullptr;
  thread_local constinit bool draining = false;
  block->next_returned = waiting;
  waiting = block;
  if (draining) return;
  draining = true;
  while (waiting != nullptr) {
    buffer_block* const next = waiting;
    waiting = next->next_returned;
    next->device().plugin->memory.release(next->handle());
    delete next;
  }
  draining = false;
}

base::background_thread<returned>& the_returner();

// Called by the plugin when the last work that uses the memory has ended, successfully or not:
// failures are reported to readers of the results.
void on_end(void* context, const tutti_status*) noexcept {
  const std::unique_ptr<const returned> item(static_cast<returned*>(context));
  try {
    the_returner().add({item->context, item->block, true});
  } catch (const std::exception&) {  // not enough memory: the deleter is not called
  }
}

// Waiting is not necessary if the device's plugin reports the end of its work.
bool is_told_later(const returned& item, tutti_event* event) {
  auto context = std::make_unique<returned>(item);
  const auto& stream = item.context->device.plugin->stream;
  if (plugins::ignore(stream.event_notify(event, on_end, context.get()))) return false;
  static_cast<void>(context.release());
  return true;
}

void give_back_after_use(const returned& item) {
  if (!item.has_ended) {
    if (const auto event = event_of(*item.context, item.block->last_use)) {
      if (is_told_later(item, event.get())) return;
      plugins::ignore(wait_for_end(item.context->device, event.get()));
    }
  }
  release(item.block);
}

// Not waited for at exit, because a deleter may need a lock of the exiting thread.
base::background_thread<returned>& the_returner() {
  static auto* const instance = new base::background_thread<returned>(give_back_after_use);
  return *instance;
}

}  // namespace

buffer_block* adopt(const detail::opened_device& device, plugins::buffer_handle buffer,
                    std::uint64_t bytes) {
  auto* const block =
      new buffer_block(context_of(device).pool, buffer.get(), bytes, ownership::foreign);
  static_cast<void>(buffer.release());
  return block;
}

array array_over(buffer_block* block, std::int64_t offset, dtype type, const shape& extents,
                 const detail::opened_device* device, std::string_view op) {
  array made;
  try {
    made = graph::data(type, extents, device, op);
  } catch (...) {
    block->release();
    throw;
  }
  graph::node& n = *made.node();
  n.storage = block;
  n.storage_offset = offset;
  n.ready.store(true, std::memory_order_release);
  return made;
}

void give_back(buffer_block* block) noexcept {
  // Deleters are not called while the process exits; in a fork the memory belongs to the parent.
  if (base::is_fork()) return;
  if (base::is_exiting()) return base::keep_for_ever(block);
  device_context& context = context_of(block->device());
  if (base::holds_device() || !context.has_retired(block->last_use)) {
    try {
      return the_returner().add({&context, block, false});
    } catch (const std::exception&) {
      return;  // not enough memory or threads: the deleter is not called
    }
  }
  release(block);
}

}  // namespace tutti::runtime
