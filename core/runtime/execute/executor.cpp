// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of a graph, group by group, and transfers of values between host and device.
#include "runtime/execute/executor.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/compile_progress.hpp"
#include "base/counters.hpp"
#include "base/process.hpp"
#include "base/trace.hpp"
#include "graph/build.hpp"
#include "graph/fold.hpp"
#include "runtime/execute/device_locks.hpp"
#include "runtime/execute/launch.hpp"
#include "runtime/memory/mapped_memory.hpp"
#include "semantics/host_half.hpp"

namespace tutti::runtime {
namespace {

using graph::node;

struct work_in_flight {
  device_context* context;
  std::shared_ptr<tutti_event> event;
};

class evaluation {
 public:
  evaluation() = default;
  evaluation(evaluation&&) = delete;

  ~evaluation() {
    // After a failure, nodes that were not reached stay pending.
    if (!is_planned_) fusion::release_marks(plan_);
    for (; is_planned_ && next_ < plan_.groups.size(); ++next_)
      each_node(plan_.groups[next_], [](node& n, node*) { n.mark = -1; });
  }

  /// Returns false if `claim` refused a device: nothing has been done then.
  bool collect(std::span<const node* const> roots, const fusion::device_claim& claim) {
    return fusion::collect(plan_, roots, claim);
  }

  /// Enqueues all groups. Work that must end before more is enqueued is added to `backlog`.
  void run(std::vector<work_in_flight>& backlog) {
    make_groups();
    for (; next_ < plan_.groups.size(); ++next_) {
      const fusion::group& g = plan_.groups[next_];
      launch(plan_, g);
      const graph::opened_device* device = g.members.front()->device;
      if (std::find(devices_.begin(), devices_.end(), device) == devices_.end())
        devices_.push_back(device);
      finish(g);
    }
    // A thread that queries an event, or works on the host meanwhile, does not flush the stream.
    for (const graph::opened_device* device : devices_) {
      device_context& context = context_of(*device);
      context.flush();
      if (auto event = context.end_evaluation()) backlog.push_back({&context, std::move(event)});
    }
  }

 private:
  void make_groups() {
    if (plan_.nodes.empty()) return;
    fusion::plan_cache& known = context_of(*plan_.nodes.front()->device).known_plans;
    if (!known.recall(plan_)) {
      fusion::merge_duplicates(plan_);
      fusion::find_epilogues(plan_, supports_epilogue);
      fusion::partition(plan_);
      fusion::order_around_transfers(plan_);
      known.keep(plan_);
    }
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i)
      if (plan_.same_as[i] != plan_.nodes[i])
        duplicates_[plan_.same_as[i]].push_back(plan_.nodes[i]);
    is_planned_ = true;
  }

  // f(node, the member whose value it has)
  template <class F>
  void each_node(const fusion::group& g, F&& f) {
    for (node* m : g.members) {
      f(*m, m);
      if (duplicates_.empty()) continue;
      const auto found = duplicates_.find(m);
      if (found == duplicates_.end()) continue;
      for (node* d : found->second) f(*d, m);
    }
  }

  // Marks the group's nodes as done, then releases the nodes that only they needed.
  void finish(const fusion::group& g) {
    boost::container::small_vector<graph::node_ref, 16> dropped;
    each_node(g, [&](node& n, node* member) {
      n.mark = -1;
      if (!member->is_ready()) {
        if (n.times_inlined < 255) ++n.times_inlined;
        return;
      }
      if (n.kind == graph::kind::call) {
        n.ready.store(true, std::memory_order_release);
      } else if (&n != member) {
        member->storage->retain();
        publish({&n, block_of(*member), member->storage_offset}, member->sequence,
                member->arriving);
      }
      if (n.trace == nullptr || !n.trace->keep_inputs(n)) {
        dropped.reserve(dropped.size() + n.inputs.size());  // the only step that may throw
        for (graph::node_ref& input : n.inputs) dropped.push_back(std::move(input));
        n.inputs.clear();
      }
    });
  }

  fusion::plan plan_;
  std::unordered_map<node*, std::vector<node*>> duplicates_;
  bool is_planned_ = false;
  std::size_t next_ = 0;
  boost::container::small_vector<const graph::opened_device*, 4> devices_;  // that got work
};

void fill_host(const node& n, void* host) {
  const std::size_t width = size_of(n.type);
  const std::size_t part = size_of(real_dtype(n.type));
  auto [value, imaginary] = graph::convert_constant(n, n.type);
  if (n.type == dtype::f16) value.u16 = host::float_to_half(value.f32);
  if (n.type == dtype::bf16) value.u16 = host::float_to_bfloat16(value.f32);
  auto* out = static_cast<char*>(host);
  for (std::int64_t i = 0; i < n.elements; ++i, out += width) {
    std::memcpy(out, &value, part);
    if (part < width) std::memcpy(out + part, &imaginary, part);
  }
}

// Adds its lifetime to the trace.
class traced_transfer {
 public:
  traced_transfer(const device_context& context, const char* name, std::uint64_t bytes)
      : device_(context.device), name_(name), bytes_(bytes) {}
  traced_transfer(traced_transfer&&) = delete;
  ~traced_transfer() {
    if (begin_ == 0 || std::uncaught_exceptions() > 0) return;
    base::trace_complete(base::trace_track(device_.name, "transfer"), name_, begin_,
                         base::trace_now_ns(), {"", bytes_, 0});
  }

 private:
  const detail::opened_device& device_;
  const char* const name_;
  const std::uint64_t bytes_;
  const std::uint64_t begin_ = base::trace_enabled() ? base::trace_now_ns() : 0;
};

// One blocking call on the transfer stream, which takes one at a time.
template <class Call>
void transfer(device_context& context, const char* name, std::uint64_t bytes, Call&& call) {
  const std::lock_guard lock(context.transfer_mutex);
  const traced_transfer trace(context, name, bytes);
  plugins::check(call(), context.device, name, "array");
}

// Assigns storage to a data node and copies n.elements values into it.
void store_from_host(node& n, const void* data) {
  n.ready.store(true, std::memory_order_relaxed);
  if (n.elements == 0) return;
  base::require_computing("array");
  device_context& context = context_of(*n.device);
  const std::uint64_t bytes = graph::bytes_of(n);
  buffer_block* block = nullptr;
  {
    const device_locks lock(context);
    block = context.allocate_idle(bytes);
  }
  n.storage = block;
  base::count().bytes_written.add(bytes);
  if (mapped_memory to(context.device, block->handle(), 0, bytes, TUTTI_MAP_WRITE); to) {
    const traced_transfer trace(context, "write", bytes);
    std::memcpy(to.get(), data, bytes);
    return to.finish();
  }
  transfer(context, "write", bytes, [&] {
    return context.device.plugin->transfer.write(context.transfer.get(), block->handle(), 0, data,
                                                 bytes, 1, nullptr);
  });
}

void change_alone(const detail::opened_device& device, const std::function<void()>& change) {
  base::require_computing("grad");
  const device_locks lock(context_of(device));
  change();
}

[[maybe_unused]] const bool evaluates_deep_graphs =
    (graph::set_evaluator(evaluate, change_alone), true);

// Drivers may also compile at the first launch.
void wait_for(const detail::opened_device& device, tutti_event* event) {
  std::optional<base::compiler_wait> for_compilers;
  if (base::progress_of_compilers().is_compiling()) for_compilers.emplace();
  plugins::ignore(wait_for_end(device, event));
}

}  // namespace

void evaluate(std::span<const node* const> roots) {
  const auto pending = std::find_if(roots.begin(), roots.end(), [](const node* n) {
    const node& base = graph::base_of(*n);
    return !base.is_ready() && !base.is_constant();
  });
  if (pending == roots.end()) return;
  base::require_computing("eval");
  const detail::opened_device* wanted = graph::base_of(**pending).device;
  std::vector<work_in_flight> backlog;
  {
    device_locks locks;
    const fusion::device_claim claim = [&](const detail::opened_device& device) {
      if (locks.try_add(context_of(device))) return true;
      wanted = &device;
      return false;
    };
    evaluation work;
    // Another thread that holds one of the devices finishes first; then the traversal starts again.
    do {
      locks.wait_for(context_of(*wanted));
    } while (!work.collect(roots, claim));
    work.run(backlog);
  }
  for (const work_in_flight& w : backlog) wait_for(w.context->device, w.event.get());
}

void wait(const node& n) {
  const node& base = graph::base_of(n);
  if (base.is_constant()) return;
  base::require_computing("wait");
  // First, because work that waits for a copy that never completes would not end either.
  for (const auto& a : base.arriving) a->wait();
  device_context& context = context_of(*base.device);
  std::optional<device_locks> lock(context);
  if (!context.has_ended(base.sequence)) {
    const std::shared_ptr<tutti_event> event = context.event_of(base.sequence);
    lock.reset();
    // A failure is recorded, and named, when the work is retired.
    if (event != nullptr) wait_for(context.device, event.get());
    lock.emplace(context);
  }
  context.retire(base.sequence);
  context.pool.trim_excess();
  context.check_health(base.sequence);
}

bool finish(device_context& context, time_point deadline) noexcept {
  try {
    std::uint64_t sequence = 0;
    std::shared_ptr<tutti_event> last;
    {
      device_locks lock;
      if (!lock.wait_for(context, deadline)) return false;
      sequence = context.last_sequence();
      last = context.event_of(sequence);
    }
    if (last == nullptr) return true;
    if (!wait_until(context.device, last.get(), deadline, "run", "work in flight")) return false;
    // The time of execution for the trace.
    device_locks lock;
    if (lock.wait_for(context, deadline)) context.retire(sequence);
  } catch (const std::exception&) {  // it failed, so it has ended
  }
  return true;
}

std::shared_ptr<tutti_event> event_of(device_context& context, std::uint64_t sequence) {
  const device_locks lock(context);
  return context.event_of(sequence);
}

void read(const node& n, void* host) {
  if (n.elements == 0) return;
  if (n.is_constant()) return fill_host(n, host);
  base::require_computing("read");
  wait(n);
  const node& base = graph::base_of(n);
  device_context& context = context_of(*base.device);
  const std::uint64_t offset =
      static_cast<std::uint64_t>(base.storage_offset + layout_of(n).offset) * size_of(n.type);
  const std::uint64_t bytes = graph::bytes_of(n);
  base::count().bytes_read.add(bytes);
  tutti_buffer* const buffer = block_of(base)->handle();
  if (const mapped_memory from(context.device, buffer, offset, bytes, TUTTI_MAP_READ); from) {
    const traced_transfer trace(context, "read", bytes);
    std::memcpy(host, from.get(), bytes);
    return;
  }
  transfer(context, "read", bytes, [&] {
    return context.device.plugin->transfer.read(context.transfer.get(), buffer, offset, host, bytes,
                                                1, nullptr);
  });
}

array upload(const void* data, dtype type, const shape& extents,
             const detail::opened_device* device) {
  const array made = graph::data(type, extents, device, "array");
  node& n = *made.node();
  n.range = graph::integer_range(data, type, n.elements);
  store_from_host(n, data);
  return made;
}

}  // namespace tutti::runtime
