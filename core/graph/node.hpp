// SPDX-License-Identifier: Apache-2.0
//
// A node of the lazy graph, to which array handles point. A node is immutable except for its
// storage, which the executor sets once, and its inputs, which it then drops. Every storage is
// contiguous and row-major; views have a base node with strides and an offset into its storage.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/gradient_trace.hpp"
#include "graph/records.hpp"
#include "tutti/array.hpp"
#include "tutti/extension.hpp"

namespace tutti::detail {
struct opened_device;
}

namespace tutti::graph {

class arrival;
class storage;

using detail::opened_device;

enum class kind : std::uint8_t {
  constant,      // one scalar value of any shape; needs no memory
  data,          // storage from outside
  elementwise,   // an opcode of op_table.def, inputs broadcast to the node's shape
  view,          // strides over a base
  reduce,        // one input; the reduced axes are removed
  concatenate,   // any number of inputs along an axis
  slice_update,  // base, update
  transfer,      // the input, contiguous, on another device
  collective,    // a member's result of a collective of all inputs, one per member, contiguous
  operation,     // an operator of operator.def with one result; scatters have its base in front
  call,          // an operator with several results; no value, but ready after its launch
  result,        // of the call that is its input
  custom_rule,   // no value: between the results of a function and its arguments, for gradients
};

class node : public reused_memory {
 public:
  node(graph::kind k, dtype t, const shape& s, const opened_device* d)
      : kind(k), type(t), extents(s), device(d) {}
  node(node&&) = delete;

  const graph::kind kind;
  const dtype type;
  bool weak = false;        // constant: adopts the other operand's dtype
  std::uint32_t depth = 0;  // longest chain of pending nodes below this one
  const shape extents;
  const opened_device* device;  // null: a constant for any device
  std::int64_t elements = 0;    // extents.size()

  // While its trace is active, a node keeps its inputs after evaluation, for gradients. When none
  // is, they are dropped under the executor's lock of the device.
  trace_ref trace;  // set before another thread sees the node; null: none
  boost::container::small_vector<node_ref, 3> inputs;
  graph::record record;                                        // of its kind
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  // known bounds of integer values

  // Storage. `ready` is written last (release) and read first (acquire).
  std::atomic<bool> ready{false};
  graph::storage* storage = nullptr;  // counted reference, owned by this node
  std::int64_t storage_offset = 0;    // elements
  std::uint64_t sequence = 0;         // compute-stream position after which it is valid
  std::vector<std::shared_ptr<arrival>> arriving;  // copies that it also waits for

  // Guarded by the executor's lock of the device, like the inputs of a node that is not ready.
  std::int32_t mark = -1;          // index in the current plan
  std::uint8_t times_inlined = 0;  // evaluations that computed it without storing it

  static constexpr std::uint32_t not_kept = ~std::uint32_t{0};
  std::atomic<std::uint32_t> kept_at{not_kept};  // index in the list of one of its traces

  std::atomic<std::uint32_t> references{1};
  node* next_dead = nullptr;  // used when there are no references

  // The record, for a node of that kind; std::bad_variant_access otherwise.
  const constant_value& value() const { return std::get<constant_value>(record); }
  std::uint16_t opcode() const { return std::get<elementwise_params>(record).opcode; }
  const view_params& view() const { return *std::get<std::unique_ptr<view_params>>(record); }
  const reduce_params& reduction() const { return std::get<reduce_params>(record); }
  const concatenate_params& concatenation() const { return std::get<concatenate_params>(record); }
  const update_params& update() const { return *std::get<std::unique_ptr<update_params>>(record); }
  const transfer_params& transfer() const {
    return *std::get<std::unique_ptr<transfer_params>>(record);
  }
  const collective_params& collective() const { return std::get<collective_params>(record); }
  const operator_params& operation() const {
    return *std::get<std::unique_ptr<operator_params>>(record);
  }
  const call_params& call() const { return *std::get<std::unique_ptr<call_params>>(record); }
  const result_params& result() const { return std::get<result_params>(record); }
  const custom_rule_params& custom_rule() const {
    return *std::get<std::unique_ptr<custom_rule_params>>(record);
  }

  /// Whether it is an operation with this number.
  bool is(tutti_operator number) const {
    return kind == graph::kind::operation && operation().number() == number;
  }
  /// Whether its memory is initialised with its first input.
  bool is_scatter() const { return is(TUTTI_OPERATOR_SCATTER_ADD) || is(TUTTI_OPERATOR_SCATTER); }
  bool is_constant() const { return kind == graph::kind::constant; }
  bool is_view() const { return kind == graph::kind::view; }
  bool is_traced() const { return trace != nullptr && trace->is_running(); }
  bool is_ready() const { return ready.load(std::memory_order_acquire); }

 private:
  friend void destroy(node* n);
  ~node();
};

void retain(node* n);
/// False if there are no references, so that n is about to be destroyed.
bool try_retain(node* n);
/// Drops one reference; frees chains of nodes without recursion.
void release(node* n) noexcept;

/// Name of a row of op_table.def: "tanh".
const char* opcode_name(std::uint16_t opcode);

/// The node that holds the memory of n: n itself, or a view's base.
inline const node& base_of(const node& n) {
  const auto* view = std::get_if<std::unique_ptr<view_params>>(&n.record);
  return view != nullptr ? *(*view)->base : n;
}
/// Bytes of n's elements, without gaps.
inline std::uint64_t bytes_of(const node& n) {
  return static_cast<std::uint64_t>(n.elements) * size_of(n.type);
}
/// The layout of n's elements in the storage of base_of(n).
layout layout_of(const node& n);
/// True if the elements are contiguous in row-major order (except for an offset).
bool is_contiguous(const shape& extents, const shape& strides);

}  // namespace tutti::graph
