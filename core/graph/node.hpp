// SPDX-License-Identifier: Apache-2.0
//
// A node of the lazy graph: what array handles point to. A node is immutable but for its storage,
// which the executor fills in once, and its inputs, which it then drops. Every storage is
// contiguous and row-major; views carry a base node with strides and an offset into its storage.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {
struct opened_device;
}

namespace tutti::graph {

class arrival;
struct collective_call;
class storage;

using detail::node_ref;
using detail::opened_device;

enum class kind : std::uint8_t {
  constant,      // one scalar value of any shape; needs no memory
  data,          // storage given from outside
  elementwise,   // an opcode of op_table.def, inputs broadcast to the node's shape
  view,          // strides over a base
  reduce,        // one input, reduced over `axes`; the reduced axes are gone from the shape
  matmul,        // [B,M,K] x [B,K,N], layouts as TUTTI_OPERATOR_MATMUL wants them
  take,          // x [O,R,N], index [I] -> [O,I,N], all contiguous
  scatter,       // base [O,R,N], updates [O,I,N], index [I]; `operation` says how they combine
  concatenate,   // any number of inputs along `axis`
  slice_update,  // base, update; `region` says where
  transfer,      // the input, contiguous, on another device
  collective,  // what member `axis` gets from a collective of all inputs, one a member, contiguous
  operation,   // another operator of the ABI, `operation` says which; all inputs contiguous
};

/// How a view was made: what its gradient needs.
enum class view_op : std::uint8_t { identity, reshape, transpose, broadcast, slice, diagonal };

/// Position of elements in a storage, in elements.
struct layout {
  std::int64_t offset = 0;
  shape strides;
};

struct view_params {
  node_ref base;  // never a view
  layout where;
  view_op op = view_op::identity;
  shape arguments;  // transpose: axes; slice: starts; diagonal: both axes, offset
  shape steps;      // slice: steps
};

struct reduce_params {
  tutti_reduction reduction = TUTTI_REDUCE_SUM;
  std::uint8_t axes = 0;  // bit i: axis i of the input is reduced
  dtype accumulator = dtype::f32;
};

struct update_params {
  layout region;  // of the base, over the update's shape
  shape starts;
  shape steps;
};

struct transfer_params {
  double time_limit = 0;  // seconds; 0: none
  std::string label;      // of the public call
};

/// The value of a constant, typed as its dtype in registers: one scalar, or the two parts of a
/// complex number.
struct constant_value {
  tutti_scalar real{};
  tutti_scalar imaginary{};
};
/// Whether both have the same bits; a dtype's unused bytes are zero.
bool same_bits(const constant_value& a, const constant_value& b);

/// An operator of the ABI by its number, with the parameters that it has; the others stay as here.
struct operation_params {
  tutti_operator number = TUTTI_OPERATOR_SCAN;
  tutti_scan scan = TUTTI_SCAN_SUM;
  bool exclusive = false;
  bool reverse = false;
  bool descending = false;
  bool right = false;
  std::int64_t kth = 0;
  tutti_scatter scatter = TUTTI_SCATTER_SET;
  friend bool operator==(const operation_params&, const operation_params&) = default;
};

class node {
 public:
  node(graph::kind k, dtype t, const shape& s, const opened_device* d)
      : kind(k), type(t), extents(s), device(d) {}
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  const graph::kind kind;
  const dtype type;
  bool weak = false;    // constant: adapts to the other operand's dtype
  bool traced = false;  // keeps its inputs after evaluation, for gradients
  std::uint16_t opcode = 0;
  std::int32_t axis = 0;    // concatenate; collective: the member
  std::uint32_t depth = 0;  // longest chain of pending nodes below this one
  const shape extents;
  const opened_device* device;  // null: a constant that fits any device
  std::int64_t elements = 0;    // extents.size()

  boost::container::small_vector<node_ref, 3> inputs;
  constant_value value{};  // constant: in `type`; weak ones hold i64, or f64 parts, instead
  std::unique_ptr<view_params> view;
  std::unique_ptr<update_params> update;
  std::unique_ptr<transfer_params> transfer;
  std::shared_ptr<collective_call> collective;
  reduce_params reduction{};
  operation_params operation{};
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  // known bounds of integer values

  // Storage. `ready` is published last (release) and read first (acquire).
  std::atomic<bool> ready{false};
  graph::storage* storage = nullptr;  // counted reference, held by this node
  std::int64_t storage_offset = 0;    // elements
  std::uint64_t sequence = 0;         // compute-stream position after which it is valid
  std::vector<std::shared_ptr<arrival>> arriving;  // copies that it waits for beside that

  // Guarded by the executor's lock of the device, like the inputs of a node that is not ready.
  std::int32_t mark = -1;          // index in the current plan
  std::uint8_t times_inlined = 0;  // evaluations that computed it without storing it

  std::atomic<std::uint32_t> references{1};

  bool is_constant() const { return kind == graph::kind::constant; }
  bool is_view() const { return kind == graph::kind::view; }
  bool is_ready() const { return ready.load(std::memory_order_acquire); }

 private:
  friend void destroy(node* n);
  ~node();
};

void retain(node* n);
/// Drops one reference; frees chains of nodes without recursion.
void release(node* n) noexcept;

/// Name of a row of op_table.def: "tanh".
const char* opcode_name(std::uint16_t opcode);

/// The node that holds the memory of n: n itself, or a view's base.
inline const node& base_of(const node& n) { return n.is_view() ? *n.view->base : n; }
/// Where n's elements lie in the storage of base_of(n).
layout layout_of(const node& n);
/// Row-major strides of a shape.
shape contiguous_strides(const shape& extents);
/// True where the elements lie without gaps in row-major order (offset apart).
bool is_contiguous(const shape& extents, const shape& strides);

}  // namespace tutti::graph
