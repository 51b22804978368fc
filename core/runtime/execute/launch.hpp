// SPDX-License-Identifier: Apache-2.0
//
// Runs one group of a plan: finds or compiles its program, assigns memory, enqueues it, and
// publishes the results to the nodes. The caller holds the devices of all nodes and inputs
// (device_locks.hpp).
#pragma once

#include "fusion/lower.hpp"
#include "runtime/execute/device_context.hpp"

namespace tutti::runtime {

/// Future storage of a node: assigned by publish().
struct result {
  graph::node* target;
  buffer_block* block;  // one reference, owned until publish() or drop()
  std::int64_t offset = 0;
};

/// Enqueues a fused group or an operator; nodes in g.outputs get storage and become ready.
void launch(const fusion::plan& p, const fusion::group& g);

/// A program for the device, or the reason why it refuses it. Waits for the compiler if one is
/// called.
std::unique_ptr<cached_program> compile(const device_context& context,
                                        const fusion::lowered& program);

/// A fused group and the groups after it.
struct planned_group {
  const fusion::plan& plan;
  const fusion::group& group;  // of plan
  // That of the launched program, if it is a kept one.
  fusion::kept_program* kept = nullptr;
};

/// Enqueues `program` with operands whose memory is known. `outputs` has one block and element
/// offset for each output of the program; `where` identifies its group, if any. Returns the
/// position on the compute stream.
std::uint64_t launch_program(device_context& context, const fusion::lowered& program,
                             std::span<const result> outputs, const planned_group* where = nullptr);

/// Assigns the workspace of a compiled program and starts it on `operands` (inputs, then outputs),
/// which are on the device. Returns the argument for device_context::enqueued().
tutti_event* start_program(device_context& context, const cached_program& code,
                           const fusion::lowered& program, std::span<const tutti_operand> operands);

/// Enqueues the operator of a matmul, take, scatter, operation or call node, g's first member, with
/// the group's epilogue (operators.cpp). `outputs` are all results of the operator; the target of
/// an unused one is null. Their previous contents are available after position `base`. Returns the
/// position of the results.
std::uint64_t launch_operator(device_context& context, const planned_group& where,
                              std::span<const result> outputs, std::uint64_t base);

/// Whether the device supports the product together with `e`.
bool supports_epilogue(const fusion::epilogue& e);

/// Assigns storage to the node and makes it ready. `arriving`: copies that the value depends on.
void publish(const result& r, std::uint64_t sequence, const arrivals& arriving);

/// Drops the blocks of results that were never published.
class pending_results {
 public:
  ~pending_results() {
    for (result& r : list_)
      if (r.block != nullptr) r.block->release();
  }
  void add(graph::node* target, buffer_block* block, std::int64_t offset = 0) {
    list_.push_back({target, block, offset});
  }
  std::span<const result> all() const { return {list_.data(), list_.size()}; }
  void publish_all(std::uint64_t sequence, const arrivals& arriving) {
    for (result& r : list_) {
      if (r.target == nullptr) continue;  // not needed any more: its memory is released
      publish(r, sequence, arriving);
      r.block = nullptr;
    }
  }

 private:
  boost::container::small_vector<result, 4> list_;
};

}  // namespace tutti::runtime
