// SPDX-License-Identifier: Apache-2.0
//
// Runs one group of a plan: finds or compiles its program, gives it memory, enqueues it, and hands
// the results to the nodes. The caller holds the devices of all nodes and inputs
// (device_locks.hpp).
#pragma once

#include "fusion/lower.hpp"
#include "runtime/execute/device_context.hpp"

namespace tutti::runtime {

/// Storage of a node to be: what publish() gives it.
struct result {
  graph::node* target;
  buffer_block* block;  // one reference, owned until publish() or drop()
  std::int64_t offset = 0;
};

/// Enqueues a fused group or an operator; nodes in g.outputs get storage and become ready.
void launch(const fusion::plan& p, const fusion::group& g);

/// A program for the device, or why it refuses it. Waits for its compiler, where one is asked.
std::unique_ptr<cached_program> compile(const device_context& context,
                                        const fusion::lowered& program);

/// A fused group with what comes after it.
struct planned_group {
  const fusion::plan& plan;
  const fusion::group& group;  // of plan
};

/// Enqueues `program` whose operands' memory is known. `outputs` has one block and element offset
/// for each output of the program; `where` says what it is of, where that is a group. Returns the
/// position on the compute stream.
std::uint64_t launch_program(device_context& context, const fusion::lowered& program,
                             std::span<const result> outputs, const planned_group* where = nullptr);

/// Gives a compiled program its workspace and starts it on `operands` (inputs, then outputs), which
/// lie on the device. Returns what device_context::enqueued() takes.
tutti_event* start_program(device_context& context, const cached_program& code,
                           const fusion::lowered& program, std::span<const tutti_operand> operands);

/// Enqueues the operator behind a matmul, take, scatter, operation or call node, g's first member,
/// with the group's epilogue (operators.cpp). `outputs` are all results of the operator; the target
/// of one that nobody wants is null. What they hold before is there after position `base`. Returns
/// the position of the results.
std::uint64_t launch_operator(device_context& context, const planned_group& where,
                              std::span<const result> outputs, std::uint64_t base);

/// Whether the device of a product can do it together with `e`.
bool supports_epilogue(const fusion::epilogue& e);

/// Gives the node its storage and makes it ready. `arriving`: copies that the value depends on.
void publish(const result& r, std::uint64_t sequence, const arrivals& arriving);

}  // namespace tutti::runtime
