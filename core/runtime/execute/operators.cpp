// SPDX-License-Identifier: Apache-2.0
//
// Operators that are not fused programs, and their fallback.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <optional>

#include "base/compile_progress.hpp"
#include "base/one_line.hpp"
#include "base/trace.hpp"
#include "plugin/support.hpp"
#include "runtime/execute/compile_ahead.hpp"
#include "runtime/execute/described_operator.hpp"
#include "runtime/execute/fallback.hpp"

namespace tutti::runtime {
namespace {

std::unique_ptr<cached_plan> prepare(const device_context& context,
                                     const described_operator& call) {
  const plugins::plugin& plugin = *context.device.plugin;
  const tutti_operator_desc desc = description_of(call);
  auto made = std::make_unique<cached_plan>();
  std::int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  plugins::check(plugin.op.supports(context.device.handle, &desc, &support, &reason),
                 context.device, "ask for", call.what.label());
  if (support == TUTTI_SUPPORT_NO) {
    made->refusal = plugins::reason_of(reason, "no reason given");
    return made;
  }
  const base::compiler_wait waiting;
  try {
    made->handle = plugins::create_plan(context.device, desc, call.what.label());
  } catch (const device_error& e) {  // detected only at compilation
    if (e.code() != TUTTI_ERROR_UNSUPPORTED) throw;
    made->refusal = e.what();
    return made;
  }
  plugins::check(plugin.op.workspace(made->handle.get(), &made->workspace_bytes), context.device,
                 "plan", call.what.label());
  return made;
}

// `where` names the group to which the operator belongs.
cached_plan& plan_of(device_context& context, const described_operator& call,
                     const planned_group* where = nullptr) {
  write_key(call, context.plan_key);
  return context.cached(context.plans, context.plan_key, [&] {
    std::unique_ptr<cached_plan> ahead;
    if (where != nullptr) ahead = plan_ahead(context, *where);
    return ahead != nullptr ? std::move(ahead) : prepare(context, call);
  });
}

std::uint64_t bytes_moved(const described_operator& call) {
  std::uint64_t total = 0;
  for (const tutti_view_desc& v : call.views) {
    std::uint64_t n = size_of(static_cast<dtype>(v.dtype));
    for (std::uint32_t i = 0; i < v.rank; ++i)
      if (v.stride[i] != 0) n *= v.extent[i];
    total += n;
  }
  return total;
}

std::uint64_t enqueue(device_context& context, const described_operator& call,
                      const cached_plan& plan) {
  const plugins::plugin& plugin = *context.device.plugin;
  tutti_operator_launch arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.operand_size = sizeof(tutti_range);
  arguments.operand_count = static_cast<std::uint32_t>(call.operands.size());
  arguments.operands = call.operands.data();
  buffer_block* workspace = nullptr;
  if (plan.workspace_bytes > 0) {
    workspace = context.allocate(plan.workspace_bytes);
    workspace->last_use = context.next_sequence();
    arguments.workspace.buffer = workspace->handle();
    arguments.workspace_bytes = plan.workspace_bytes;
  }
  tutti_event* event = nullptr;
  tutti_status* status =
      plugin.op.launch(context.compute.get(), plan.handle.get(), &arguments, &event);
  if (workspace != nullptr) workspace->release();
  plugins::check(status, context.device, "launch", call.what.label());
  plugins::require_event(plugin.op.launch, event, context.device, context.compute.get());
  const bool traced = base::trace_enabled();
  return context.enqueued(event, call.what.label(), traced ? bytes_moved(call) : 0,
                          traced ? flops_of(call) : 0);
}

// The elements of a view span this many bytes from its offset (strides here are never negative).
std::uint64_t span_bytes(const tutti_view_desc& v) {
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < v.rank; ++i)
    last += (v.extent[i] - 1) * static_cast<std::uint64_t>(v.stride[i]);
  return (last + 1) * size_of(static_cast<dtype>(v.dtype));
}

void run_on_host(device_context& context, device_context& host, described_operator call) {
  const auto here = call.operands;
  const bool updates = call.what.number() == TUTTI_OPERATOR_SCATTER_ADD ||
                       call.what.number() == TUTTI_OPERATOR_SCATTER;
  host_blocks blocks(host);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const std::uint64_t bytes = span_bytes(call.views[i]);
    call.operands[i] = {blocks.add(bytes).handle(), 0};
    if (i < call.output_count && !updates) continue;
    copy_bytes({context, here[i].buffer, here[i].offset}, {host, call.operands[i].buffer, 0}, bytes,
               call.what.label());
  }
  const cached_plan& plan = plan_of(host, call);
  if (plan.handle == nullptr)
    throw device_error(std::string(call.what.label()) + ": " + host.device.title +
                           " does not support it (" + plan.refusal + ")",
                       TUTTI_ERROR_UNSUPPORTED, 0, false, host.device.name);
  const std::uint64_t sequence = enqueue(host, call, plan);
  host.settle();
  host.check_health(sequence);
  for (std::size_t i = 0; i < call.output_count; ++i)
    copy_bytes({host, call.operands[i].buffer, 0}, {context, here[i].buffer, here[i].offset},
               span_bytes(call.views[i]), call.what.label());
}

}  // namespace

bool supports_epilogue(const fusion::epilogue& e) {
  return plugins::supports(*e.members.front()->device,
                           description_of(describe(*e.members.front(), &e)));
}

std::optional<planned_operator> operator_of(const device_context& context, const fusion::group& g) {
  const graph::kind kind = g.members.front()->kind;
  if (kind == graph::kind::transfer || kind == graph::kind::collective ||
      kind == graph::kind::concatenate || kind == graph::kind::slice_update)
    return std::nullopt;
  auto call = std::make_shared<described_operator>(describe(*g.members.front(), g.epilogue));
  planned_operator found;
  write_key(*call, found.key);
  found.prepare = [&context, call] { return prepare(context, *call); };
  return found;
}

std::uint64_t launch_operator(device_context& context, const planned_group& where,
                              std::span<const result> outputs, std::uint64_t base) {
  const fusion::group& g = where.group;
  described_operator call = describe(*g.members.front(), g.epilogue, outputs);
  const std::uint64_t sequence = context.next_sequence();
  for (const graph::node* input : call.inputs) context.prepare_input(*input);
  for (const result& out : outputs) out.block->last_use = sequence;
  const cached_plan& plan = plan_of(context, call, &where);
  std::string why = plan.refusal;
  if (plan.handle != nullptr) {
    try {
      return enqueue(context, call, plan);
    } catch (const device_error& e) {  // a kernel that was compiled only now
      if (e.code() != TUTTI_ERROR_UNSUPPORTED) throw;
      why = e.what();
    }
  }
  announce_fallback(context, call.what.label(), why);
  wait_for_inputs(context, {call.inputs.data(), call.inputs.size()}, base);
  on_host(context, [&](device_context& host) { run_on_host(context, host, call); });
  return 0;  // it is available, independently of other work on the stream
}

}  // namespace tutti::runtime
