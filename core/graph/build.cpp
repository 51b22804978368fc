// SPDX-License-Identifier: Apache-2.0
//
// Node construction: devices, broadcasting, constant folding, composition of views, traces.
#include "graph/build.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/env.hpp"
#include "graph/collective.hpp"
#include "graph/fold.hpp"
#include "graph/sizes.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::graph {
namespace {

// A graph deeper than this is evaluated while it is built, so that a loop that never reads values
// needs bounded memory.
constexpr std::uint32_t max_depth = 2000;

constinit evaluator evaluate = nullptr;
constinit exclusion exclude = nullptr;

node_ref make(kind k, dtype type, const shape& extents, const opened_device* device,
              std::string_view op) {
  const std::int64_t elements = checked_elements(extents, type, op);
  if (device != nullptr) {
    if ((device->properties.stored_dtypes & TUTTI_DTYPE_BIT(static_cast<unsigned>(type))) == 0)
      base::fail<dtype_error>("{}: device {} has no {}", op, device->title, type);
  }
  node_ref n(new node(k, type, extents, device));
  n->elements = elements;
  return n;
}

void add_input(node& n, node_ref given) {
  n.inputs.push_back(std::move(given));
  const node& input = *n.inputs.back();
  if (input.trace != nullptr) n.trace = gradient_trace::join(n.trace, input.trace);
  if (!base_of(input).is_ready()) n.depth = std::max(n.depth, base_of(input).depth + 1);
}

array finish(node_ref n) {
  array made{std::move(n)};
  if (made.node()->depth > max_depth) {
    const node* root = &base_of(*made.node());
    evaluate({&root, 1});
  }
  return made;
}

bool all_constant(array_list inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const array& a) { return a.node()->is_constant(); });
}

// Converts a constant to a node with memory, for operators that read buffers; other nodes are not
// changed.
array stored(const array& a, const opened_device* device) {
  if (!a.node()->is_constant()) return a;
  node_ref n = make(kind::elementwise, a.dtype(), a.shape(), device, "copy");
  n->record = elementwise_params{TUTTI_OP_cast};
  n->range = a.node()->range;
  add_input(*n, a.node());
  return array{std::move(n)};
}

// The device of an operator: that of its operands, or the default device.
const opened_device* device_for(std::span<array> inputs, std::string_view op) {
  return or_default(common_device(inputs, op));
}

// Strides of `from`, laid out as `where`, for the extents of `to`: 0 along new axes.
shape broadcast_strides(const shape& from, const shape& strides, const shape& to) {
  shape out = to;
  const int shift = to.rank() - from.rank();
  for (int i = 0; i < to.rank(); ++i)
    out[i] = i < shift || (from[i - shift] == 1 && to[i] != 1) ? 0 : strides[i - shift];
  return out;
}

// A view of a, which is not a constant, without history.
array plain_view(const array& a, const shape& extents, const layout& where, view_op op,
                 const shape& arguments = {}, const shape& steps = {}) {
  const node& from = *a.node();
  node_ref n = make(kind::view, from.type, extents, from.device, "view");
  n->record = std::make_unique<view_params>(
      view_params{{}, from.is_view() ? from.view().base : a.node(), where, op, arguments, steps});
  n->range = from.range;
  return array{std::move(n)};
}

// Lets gradients flow from a new view to `origin`, while `trace` is active.
array with_history(array view, const node_ref& origin, const trace_ref& trace) {
  node& n = *view.node();
  n.trace = trace;
  n.inputs.push_back(origin);
  if (trace == nullptr || !trace->keep_inputs(n)) n.inputs.clear();
  return view;
}

}  // namespace

const opened_device* or_default(const opened_device* device) {
  return device != nullptr ? device : &detail::get(default_device());
}

void set_evaluator(evaluator how, exclusion lock) {
  evaluate = how;
  exclude = lock;
}

void without_evaluations(const opened_device& device, const std::function<void()>& change) {
  exclude(device, change);
}

const node& get(const array& a, std::string_view op) {
  if (!a.valid()) base::fail<value_error>("{}: the array is empty (never assigned)", op);
  return *a.node();
}

const opened_device* common_device(std::span<array> inputs, std::string_view op) {
  static const bool may_move = base::operands_move();
  const opened_device* found = nullptr;
  for (array& a : inputs) {
    const opened_device* d = get(a, op).device;
    if (d == nullptr) continue;
    if (found == nullptr) found = d;
    if (found == d) continue;
    if (!may_move)
      throw device_error(std::string(op) + ": operands are on different devices: " + found->title +
                             " and " + d->title +
                             "; move one with to(), or set TUTTI_TRANSFER=auto",
                         TUTTI_ERROR_INVALID_ARGUMENT);
    a = move_to(a, found, {.label = std::string(op)});
  }
  return found;
}

array move_to(const array& a, const opened_device* device, const transfer_params& how) {
  const node& n = get(a, how.label);
  if (n.device == device) return a;
  if (n.is_constant()) return constant_like(a, n.extents, n.type, device);
  if (n.elements == 0) return constant(n.extents, n.type, std::int64_t{0}, device);
  const bool in_order = is_contiguous(n.extents, layout_of(n).strides);
  const array packed = in_order ? a : elementwise(TUTTI_OP_cast, n.type, {a}, how.label);
  node_ref moved = make(kind::transfer, n.type, n.extents, device, how.label);
  moved->record = std::make_unique<transfer_params>(how);
  moved->range = n.range ? n.range : base_of(n).range;
  add_input(*moved, packed.node());
  return finish(std::move(moved));
}

array constant(const shape& extents, dtype type, const constant_value& value,
               const opened_device* device, std::string_view op) {
  node_ref n = make(kind::constant, type, extents, device, op);
  n->record = value;
  return array{std::move(n)};
}

array constant(const shape& extents, dtype type, double value, const opened_device* device,
               std::string_view op) {
  return constant(extents, type, scalar_from(type, value), device, op);
}

array constant(const shape& extents, dtype type, std::int64_t value, const opened_device* device,
               std::string_view op) {
  return constant(extents, type, scalar_from(type, value), device, op);
}

array constant_like(const array& a, const shape& extents, dtype type, const opened_device* device,
                    std::string_view op) {
  return constant(extents, type, convert_constant(get(a, op), type), device, op);
}

array elementwise(tutti_opcode opcode, dtype result, array_list given, std::string_view op) {
  array inputs[3];
  std::copy(given.begin(), given.end(), inputs);
  return elementwise_of(opcode, result, {inputs, given.size()}, op);
}

array elementwise_of(tutti_opcode opcode, dtype result, std::span<array> inputs,
                     std::string_view op) {
  const opened_device* device = common_device(inputs, op);
  shape extents;
  for (const array& a : inputs) {
    const shape& of = a.shape();
    if (extents.empty())
      extents = of;
    else if (!of.empty() && !(of == extents))
      extents = broadcast_shapes(extents, of, op);
  }
  const bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  if (empty) return constant(extents, result, std::int64_t{0}, device, op);
  if (all_constant(inputs)) {
    if (auto value = fold(opcode, result, inputs)) {
      node_ref n = make(kind::constant, result, extents, device, op);
      n->record = *value;
      return array{std::move(n)};
    }
  }
  node_ref n = make(kind::elementwise, result, extents, or_default(device), op);
  n->record = elementwise_params{static_cast<std::uint16_t>(opcode)};
  for (array& a : inputs) add_input(*n, std::move(a).node());
  return finish(std::move(n));
}

array iota(const shape& extents, const opened_device* device, std::string_view op) {
  device = or_default(device);
  if (checked_elements(extents, dtype::i64, op) == 0)
    return constant(extents, dtype::i64, std::int64_t{0}, device, op);
  node_ref n = make(kind::elementwise, dtype::i64, extents, device, op);
  n->record = elementwise_params{TUTTI_OP_iota};
  n->range = {0, n->elements - 1};
  return finish(std::move(n));
}

array view(const array& a, const shape& extents, const layout& where, view_op op,
           const shape& arguments, const shape& steps) {
  const node& from = get(a, "view");
  if (from.is_constant()) {
    node_ref n = make(kind::constant, from.type, extents, from.device, "view");
    n->weak = from.weak && extents.empty();
    n->record = from.weak && !n->weak ? convert_constant(from, from.type) : from.value();
    return array{std::move(n)};
  }
  array made = plain_view(a, extents, where, op, arguments, steps);
  return from.is_traced() ? with_history(std::move(made), a.node(), from.trace) : made;
}

array tracer(const array& a, const trace_ref& trace) {
  const node& from = get(a, "value_and_grad");
  // A constant would be folded; a stored one is not.
  const array kept = stored(a, or_default(from.device));
  array variable = plain_view(kept, from.extents, layout_of(*kept.node()), view_op::identity);
  // The variable is a leaf of this trace; an enclosing trace continues through its input.
  return with_history(std::move(variable), kept.node(),
                      gradient_trace::join(trace, kept.node()->trace));
}

node_ref custom_rule(array_list arguments, custom_rule_params rule, const trace_ref& trace) {
  const opened_device* device = nullptr;  // any one in use: its lock guards the inputs
  for (const array& a : arguments)
    if (a.node()->device != nullptr) device = a.node()->device;
  node_ref n(new node(kind::custom_rule, dtype::u8, {0}, device));
  n->trace = trace;
  for (const array& a : arguments) {
    n->inputs.push_back(a.node());
    n->trace = gradient_trace::join(n->trace, a.node()->trace);
  }
  // A constant would have no history.
  for (array& value : rule.values)
    value = stored(value, value.node()->device != nullptr ? value.node()->device : device);
  const bool crosses = rule.ranks > 1;
  n->record = std::make_unique<custom_rule_params>(std::move(rule));
  if (crosses && n->trace != nullptr) n->trace->add_exchange(n);
  return n;
}

array custom_result(const node_ref& rule, std::size_t number) {
  const array& value = rule->custom_rule().values[number];
  array result = plain_view(value, value.shape(), layout_of(*value.node()), view_op::custom_result,
                            {static_cast<std::int64_t>(number)});
  return with_history(std::move(result), rule, rule->trace);
}

array detach(const array& a) {
  const node& from = get(a, "stop_gradient");
  return from.is_traced() ? plain_view(a, from.extents, layout_of(from), view_op::identity) : a;
}

bool is_differentiated(const array& a) {
  const node& n = *a.node();
  return n.is_traced() && (is_floating(n.type) || is_complex(n.type));
}

array reduce(tutti_reduction reduction, std::uint8_t axes, dtype accumulator, dtype result,
             const array& a, std::string_view op) {
  const node& from = get(a, op);
  shape extents;
  for (int i = 0; i < from.extents.rank(); ++i)
    if ((axes >> i & 1) == 0) extents.push_back(from.extents[i]);
  const opened_device* device = or_default(from.device);
  if (extents.size() == 0) return constant(extents, result, std::int64_t{0}, device, op);
  node_ref n = make(kind::reduce, result, extents, device, op);
  n->record = reduce_params{reduction, axes, accumulator};
  add_input(*n, a.node());
  return finish(std::move(n));
}

array operation(const operator_params& params, dtype result, const shape& extents,
                array_list inputs, std::string_view op) {
  boost::container::small_vector<array, 3> operands(inputs.begin(), inputs.end());
  const opened_device* device = device_for({operands.data(), operands.size()}, op);
  node_ref n = make(kind::operation, result, extents, device, op);
  n->record = std::make_unique<operator_params>(params);
  const bool has_base = n->is_scatter();  // which is copied, so it needs no memory
  for (std::size_t i = 0; i < operands.size(); ++i)
    add_input(*n, has_base && i == 0 ? operands[i].node() : stored(operands[i], device).node());
  return finish(std::move(n));
}

std::vector<array> call(const operator_params& params, call_results::types results,
                        array_list inputs, std::string_view op) {
  boost::container::small_vector<array, 2> operands;
  for (const array& a : inputs) operands.push_back(detach(a));
  const opened_device* device = device_for({operands.data(), operands.size()}, op);
  const auto all = std::make_shared<call_results>(std::move(results));
  node_ref n = make(kind::call, operands[0].dtype(), operands[0].shape(), device, op);
  n->record = std::make_unique<call_params>(call_params{params, all});
  for (const array& a : operands) add_input(*n, stored(a, device).node());
  std::vector<array> out;
  for (std::size_t i = 0; i < all->all().size(); ++i) {
    const auto& [type, extents] = all->all()[i];
    node_ref r = make(kind::result, type, extents, device, op);
    r->record = result_params{all, i};
    all->add(*r, i);
    add_input(*r, n);
    out.emplace_back(std::move(r));
  }
  n = {};
  finish(out[0].node());  // only now, because an evaluation assigns memory to existing results
  return out;
}

array concatenate(array_list given, int axis, const shape& extents) {
  std::vector<array> parts(given.begin(), given.end());
  const opened_device* device = device_for(parts, "concatenate");
  node_ref n = make(kind::concatenate, parts[0].dtype(), extents, device, "concatenate");
  n->record = concatenate_params{axis};
  for (const array& part : parts) add_input(*n, part.node());
  return finish(std::move(n));
}

array slice_update(const array& base, const array& update, const layout& region,
                   const shape& starts, const shape& steps) {
  array both[] = {base, update};
  const opened_device* device = device_for(both, "slice_update");
  node_ref n = make(kind::slice_update, base.dtype(), base.shape(), device, "slice_update");
  n->record = std::make_unique<update_params>(update_params{region, starts, steps});
  add_input(*n, both[0].node());
  add_input(*n, both[1].node());
  return finish(std::move(n));
}

std::vector<array> collective(std::shared_ptr<collective_call> call, array_list inputs,
                              std::int64_t elements) {
  std::vector<array> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    node_ref n = make(kind::collective, inputs[i].dtype(), {elements}, inputs[i].node()->device,
                      call->label);
    n->record = collective_params{call, i};
    for (const array& input : inputs) add_input(*n, stored(input, input.node()->device).node());
    out.push_back(finish(std::move(n)));
  }
  return out;
}

array data(dtype type, const shape& extents, const opened_device* device, std::string_view op) {
  return array{make(kind::data, type, extents, device, op)};
}

array duplicate(const array& a, std::string_view op) {
  const node& n = get(a, op);
  if (n.elements == 0) return a;
  if (n.is_constant()) return stored(a, or_default(n.device));
  return elementwise(TUTTI_OP_cast, n.type, {a}, op);
}

array same_bytes(const array& a, dtype type, std::string_view op) {
  const node& n = get(a, op);
  if (n.elements == 0) return constant(n.extents, type, std::int64_t{0}, n.device, op);
  const array with_memory = n.is_constant() ? duplicate(a, op) : a;
  const node& base = base_of(*with_memory.node());
  array whole = data(type, base.extents, base.device, op);
  const node* const root = &base;
  evaluate({&root, 1});
  node& same = *whole.node();
  base.storage->retain();
  same.storage = base.storage;
  same.storage_offset = base.storage_offset;
  same.sequence = base.sequence;
  same.arriving = base.arriving;
  same.ready.store(true, std::memory_order_release);
  return n.is_view() ? view(whole, n.extents, n.view().where, view_op::identity) : whole;
}

shape broadcast_view_strides(const node& n, const shape& to) {
  return broadcast_strides(n.extents, layout_of(n).strides, to);
}

}  // namespace tutti::graph
