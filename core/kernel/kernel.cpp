// SPDX-License-Identifier: Apache-2.0
//
// tutti::kernel: checks of a launch, preparation of inputs, and creation of outputs.
#include "tutti/kernel.hpp"

#include <utility>

#include "base/named_errors.hpp"
#include "graph/sizes.hpp"
#include "op/operands.hpp"
#include "plugin/opened_device.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/kernels.hpp"
#include "runtime/memory/buffer_block.hpp"
#include "tutti/error.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

using graph::node;
using device_pointer = const detail::opened_device*;

constexpr int most_dimensions = 3;

// Work-items of a launch.
shape global_of(const kernel_launch& launch, const std::string& op) {
  if (launch.global.empty()) return {launch.outputs[0].shape.size()};
  if (launch.global.rank() > most_dimensions)
    base::fail<value_error>("{}: global size {} has more than {} dimensions", op, launch.global,
                            most_dimensions);
  std::int64_t items = 1;
  for (const std::int64_t n : launch.global)
    if (n < 0 || (n > 0 && __builtin_mul_overflow(items, n, &items)))
      base::fail<value_error>("{}: global size {}{}", op, launch.global,
                              (n < 0 ? " is negative" : " is too large"));
  return launch.global;
}

void check_local(const shape& local, const shape& global, const std::string& op) {
  if (local.empty()) return;
  bool good = local.rank() == global.rank();
  for (int i = 0; good && i < local.rank(); ++i) good = local[i] >= 1 && global[i] % local[i] == 0;
  if (!good)
    base::fail<value_error>("{}: local size {} does not divide global size {}", op, local, global);
}

// Inputs whose gradient would be lost silently.
void require_untraced(const array& a, const std::string& what, const std::string& op) {
  if (!graph::is_differentiated(a)) return;
  base::fail<value_error>(
      "{}: {} is being differentiated, and a kernel has no gradient of its own: give it one by "
      "custom_vjp(), or stop_gradient() the argument",
      op, what);
}

device_pointer device_of(std::span<array> operands, const kernel_launch& launch,
                         const std::string& op) {
  device_pointer found = graph::common_device(operands, op);
  const device_pointer asked = launch.on ? &detail::get(*launch.on) : nullptr;
  if (found != nullptr && asked != nullptr && found != asked)
    throw device_error(op + ": the inputs are on " + found->title + ", the launch is for " +
                           asked->title + "; move them with to()",
                       TUTTI_ERROR_INVALID_ARGUMENT);
  if (found != nullptr) return found;
  return graph::or_default(asked);
}

// a in memory of `device`, row-major, at an address with the alignment of kernels.
array packed(const array& a, device_pointer device, const std::string& op) {
  const node& n = *a.node();
  if (n.elements == 0) return a;
  if (n.is_constant())
    return graph::duplicate(graph::constant_like(a, n.extents, n.type, device), op);
  const graph::layout where = layout_of(n);
  const std::uint64_t offset = static_cast<std::uint64_t>(where.offset) * size_of(n.type);
  const bool good =
      graph::is_contiguous(n.extents, where.strides) && offset % device->limits.alignment == 0;
  return good ? a : graph::duplicate(a, op);
}

std::vector<array> evaluated_inputs(std::vector<array> inputs, device_pointer device,
                                    const std::string& op) {
  for (array& a : inputs) a = packed(op::cast(a, a.dtype(), op), device, op);
  eval(inputs);
  // The address of external memory is known only now.
  bool again = false;
  for (array& a : inputs) {
    const node& n = *a.node();
    if (n.elements == 0 || runtime::kernel_offset(n) % device->limits.alignment == 0) continue;
    a = graph::duplicate(a, op);
    again = true;
  }
  if (again) eval(inputs);
  return inputs;
}

// A copy of the initial value of an output, in separate memory.
array start_of(const kernel_output& output, device_pointer device, const std::string& op) {
  graph::get(output.initial, op);
  require_untraced(output.initial, "what an output begins with", op);
  array operands[] = {output.initial};
  const device_pointer found = graph::common_device(operands, op);
  if (found != nullptr && found != device)
    throw device_error(op + ": an output begins with an array on " + found->title +
                           ", the launch is for " + device->title + "; move it with to()",
                       TUTTI_ERROR_INVALID_ARGUMENT);
  const array wanted = base::named(op + ", what an output begins with", [&] {
    return broadcast_to(op::cast(operands[0], output.dtype, op), output.shape);
  });
  array copy = wanted.node()->is_constant()
                   ? graph::constant_like(wanted, output.shape, output.dtype, device)
                   : wanted;
  // An array that is evaluated alone has separate memory, unless it is a copy.
  do {
    copy = graph::duplicate(copy, op);
    copy.eval();
  } while (copy.node()->storage_offset != 0 || runtime::block_of(*copy.node())->is_shared());
  return copy;
}

struct made_outputs {
  std::vector<array> arrays, starts;
  bool has_elements = false;
};

made_outputs make_outputs(const kernel_launch& launch, device_pointer device,
                          const std::string& op) {
  made_outputs made;
  for (const kernel_output& output : launch.outputs) {
    made.arrays.push_back(graph::data(output.dtype, output.shape, device, op));
    const bool empty = made.arrays.back().node()->elements == 0;
    made.has_elements |= !empty;
    made.starts.push_back(output.initial.valid() && !empty ? start_of(output, device, op)
                                                           : array());
  }
  return made;
}

std::vector<const node*> nodes_of(const std::vector<array>& arrays) {
  std::vector<const node*> nodes;
  for (const array& a : arrays) nodes.push_back(a.node().get());
  return nodes;
}

// The results: arrays without elements need no memory.
std::vector<array> results_of(const std::vector<array>& made) {
  std::vector<array> out;
  for (const array& a : made) {
    const node& n = *a.node();
    out.push_back(n.elements > 0 ? a : op::zeros_on(n.extents, n.type, n.device));
  }
  return out;
}

}  // namespace

const kernel_host_call::field& kernel_host_call::find(const std::vector<field>& list, std::size_t i,
                                                      std::string_view what, dtype asked) const {
  const std::string which = "kernel " + name_ + ": " + std::string(what) + " " + std::to_string(i);
  if (i >= list.size()) base::fail<index_error>("{} of {}", which, list.size());
  if (list[i].type != asked)
    base::fail<dtype_error>("{} is {}, not {}", which, list[i].type, asked);
  return list[i];
}

kernel::kernel(kernel_source source)
    : source_(std::make_shared<const kernel_source>(std::move(source))) {
  if (source_->name.empty()) throw value_error("kernel: it has no name");
  if (source_->opencl.empty() && source_->cuda.empty() && source_->ptx.empty() &&
      source_->spirv.empty() && !source_->host)
    base::fail<value_error>("kernel {}: it has no source", source_->name);
}

const std::string& kernel::name() const { return source_->name; }

std::vector<array> kernel::operator()(const std::vector<array>& given,
                                      const kernel_launch& launch) const {
  const std::string op = "kernel " + source_->name;
  if (launch.outputs.empty()) base::fail<value_error>("{}: a launch needs at least one output", op);
  std::vector<array> inputs = given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    graph::get(inputs[i], op);
    require_untraced(inputs[i], "input " + std::to_string(i), op);
  }
  const device_pointer device = device_of(inputs, launch, op);
  const made_outputs outputs = make_outputs(launch, device, op);
  const shape global = global_of(launch, op);
  check_local(launch.local, global, op);
  if (!outputs.has_elements) return results_of(outputs.arrays);
  if (global.size() == 0)
    base::fail<value_error>("{}: global size {} is zero, so no work-item would write the outputs",
                            op, global);
  inputs = evaluated_inputs(std::move(inputs), device, op);

  const std::vector<const node*> sources = nodes_of(inputs), starts = nodes_of(outputs.starts);
  std::vector<node*> targets;
  for (const array& a : outputs.arrays) targets.push_back(a.node().get());
  runtime::kernel_call call;
  call.source = source_;
  call.inputs = sources;
  call.outputs = targets;
  call.starts = starts;
  call.scalars = launch.scalars;
  call.global = global;
  call.local = launch.local;
  call.shared_bytes = launch.shared_bytes;
  runtime::launch_kernel(*device, call);
  return results_of(outputs.arrays);
}

}  // namespace tutti
