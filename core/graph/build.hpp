// SPDX-License-Identifier: Apache-2.0
//
// Creates graph nodes. All user calls create nodes through these functions: constants are folded,
// views are composed, devices are checked, gradient traces are propagated. `op` names the public
// call in messages.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "graph/node.hpp"
#include "tutti/array.hpp"
#include "tutti/export.hpp"
#include "tutti/extension.hpp"

namespace tutti::graph {

/// The node of a; throws value_error for an invalid handle.
const node& get(const array& a, std::string_view op);

/// `device`, or the default device for null.
const opened_device* or_default(const opened_device* device);

/// A constant of dtype `type`, of any shape; device null: for every device. A number is converted.
array constant(const shape& extents, dtype type, const constant_value& value,
               const opened_device* device, std::string_view op = "full");
array constant(const shape& extents, dtype type, double value, const opened_device* device,
               std::string_view op = "full");
array constant(const shape& extents, dtype type, std::int64_t value, const opened_device* device,
               std::string_view op = "full");
/// The constant a with another shape, dtype or device.
array constant_like(const array& a, const shape& extents, dtype type, const opened_device* device,
                    std::string_view op = "full");

/// Elementwise node over inputs that have their final dtypes; broadcasts, checks devices, folds
/// constants. `result` is the dtype of the result.
array elementwise(tutti_opcode opcode, dtype result, array_list inputs, std::string_view op);
/// The same, moving from the inputs.
array elementwise_of(tutti_opcode opcode, dtype result, std::span<array> inputs,
                     std::string_view op);

/// A view by strides over a's own layout: `where` is relative to the storage of base_of(a).
array view(const array& a, const shape& extents, const layout& where, view_op op,
           const shape& arguments = {}, const shape& steps = {});
/// A new variable of `trace` with the value of a.
array tracer(const array& a, const trace_ref& trace);
/// The node through which gradients of `values` (valid, not traced) flow to `arguments`. It belongs
/// to their traces and to `trace`.
detail::node_ref custom_rule(array_list arguments, custom_rule_params rule,
                             const trace_ref& trace = {});
/// Value `number` of such a node, with its history.
array custom_result(const detail::node_ref& rule, std::size_t number);

/// Reduces axes (bit mask over a's axes), which are removed from the shape.
array reduce(tutti_reduction reduction, std::uint8_t axes, dtype accumulator, dtype result,
             const array& a, std::string_view op);

/// An operator of operator.def with one result, and inputs in the layout of its row. The first
/// input of a scatter is the array that it combines with.
array operation(const operator_params& params, dtype result, const shape& extents,
                array_list inputs, std::string_view op);
/// An operator with several results, of these dtypes and shapes, and inputs as for operation(). It
/// is recorded without history: gradients use custom_rule().
std::vector<array> call(const operator_params& params, call_results::types results,
                        array_list inputs, std::string_view op);
array concatenate(array_list parts, int axis, const shape& extents);
array slice_update(const array& base, const array& update, const layout& region,
                   const shape& starts, const shape& steps);
/// a on `device`: a itself if it is there, otherwise a copy that starts as soon as a is computed.
TUTTI_INTERNAL_API array move_to(const array& a, const opened_device* device,
                                 const transfer_params& how);
/// A collective of the devices' plugin: inputs of one dtype and size, one on each device, give one
/// flat result with `elements` elements each. Not differentiable.
std::vector<array> collective(std::shared_ptr<collective_call> call, array_list inputs,
                              std::int64_t elements);
/// A data node without storage: the caller assigns storage and makes it ready.
array data(dtype type, const shape& extents, const opened_device* device, std::string_view op);
/// A copy of a in memory that nothing else uses.
array duplicate(const array& a, std::string_view op);

/// The bytes of a, evaluated, as elements of another dtype of the same size: an array over the same
/// memory, without history.
array same_bytes(const array& a, dtype type, std::string_view op);

/// Strides of n's elements within its storage, for the extents `to` to which n broadcasts.
shape broadcast_view_strides(const node& n, const shape& to);

/// The function that evaluates a graph which has become too deep. Set by the executor when the
/// library is loaded.
using evaluator = void (*)(std::span<const node* const> roots);
/// How to change nodes of a device on which other threads may be evaluating.
using exclusion = void (*)(const opened_device& device, const std::function<void()>& change);
void set_evaluator(evaluator how, exclusion lock);

/// Calls `change` while no other thread evaluates on `device`. It must not evaluate anything.
void without_evaluations(const opened_device& device, const std::function<void()>& change);

}  // namespace tutti::graph
