// SPDX-License-Identifier: Apache-2.0
//
// Data of nodes of each kind besides their inputs: each node has one record. Large and rare records
// are held by pointer, so that they do not enlarge the nodes of other kinds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "graph/call_results.hpp"
#include "semantics/operator_rows.hpp"
#include "tutti/array.hpp"
#include "tutti/plugin.h"

namespace tutti::graph {

struct collective_call;

using detail::node_ref;

/// The value of a constant, with the type of its dtype in registers: one scalar, or the two parts
/// of a complex number. Weak ones contain i64, or f64 parts, instead.
struct constant_value {
  tutti_scalar real{};
  tutti_scalar imaginary{};
};
/// Whether both have the same bits; a dtype's unused bytes are zero.
bool same_bits(const constant_value& a, const constant_value& b);
inline bool operator==(const constant_value& a, const constant_value& b) { return same_bits(a, b); }

struct elementwise_params {
  std::uint16_t opcode = 0;
  friend bool operator==(const elementwise_params&, const elementwise_params&) = default;
};

/// How a view was created, as needed for its gradient.
enum class view_op : std::uint8_t {
  identity,
  reshape,
  transpose,
  broadcast,
  slice,
  diagonal,
  custom_result  // of the custom_rule that is its input
};

/// A thread keeps the memory of nodes and view_params that it frees for the next ones: a graph is
/// freed as a whole, which malloc's own cache is too small for.
struct reused_memory {
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};

/// Position of elements in a storage, in elements.
struct layout {
  std::int64_t offset = 0;
  shape strides;
};

struct view_params : reused_memory {
  node_ref base;  // never a view
  layout where;
  view_op op = view_op::identity;
  // transpose: axes; slice: starts; diagonal: both axes, offset; custom_result: its index
  shape arguments;
  shape steps;  // slice: steps; 0 for an axis that an index removes
};

struct reduce_params {
  tutti_reduction reduction = TUTTI_REDUCE_SUM;
  std::uint8_t axes = 0;  // bit i: axis i of the input is reduced
  dtype accumulator = dtype::f32;
  friend bool operator==(const reduce_params&, const reduce_params&) = default;
};

struct concatenate_params {
  std::int32_t axis = 0;
  friend bool operator==(const concatenate_params&, const concatenate_params&) = default;
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

struct collective_params {
  std::shared_ptr<collective_call> call;
  std::size_t member = 0;
  friend bool operator==(const collective_params&, const collective_params&) = default;
};

/// The rule by which the cotangents of a function's arguments follow from those of its values.
struct custom_rule_params {
  std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&,
                                   const std::vector<array>&)>
      backward;
  std::vector<array> values;  // without history
  int ranks = 1;              // of the job between which `backward` exchanges values
};

/// An operator of the ABI with its parameters, as passed to plugins.
class operator_params {
 public:
  /// With zero parameters, if it has parameters. `label` is the public call for messages: a text
  /// that stays valid; null: the operator's name.
  explicit operator_params(tutti_operator number, const char* label = nullptr)
      : row_(host::find_operator(number)), label_(label != nullptr ? label : row_->name) {
    std::memcpy(bytes_.data(), &row_->params_size, sizeof row_->params_size);
  }
  /// With these parameters, whose struct_size need not be set.
  template <class P>
  operator_params(tutti_operator number, const P& params, const char* label = nullptr)
      : operator_params(number, label) {
    set(params);
  }

  tutti_operator number() const { return static_cast<tutti_operator>(row_->number); }
  const host::operator_row& row() const { return *row_; }
  const char* label() const { return label_; }
  void rename(const char* label) { label_ = label; }

  /// Null if the operator has none.
  const void* params() const { return row_->params_size != 0 ? bytes_.data() : nullptr; }
  std::span<const std::byte> bytes() const { return {bytes_.data(), row_->params_size}; }
  template <class P>
  P get() const {
    P params;
    std::memcpy(&params, bytes_.data(), sizeof params);
    return params;
  }
  template <class P>
  void set(P params) {
    static_assert(std::is_trivially_copyable_v<P> && sizeof params <= host::most_params);
    params.struct_size = row_->params_size;
    std::memcpy(bytes_.data(), &params, sizeof params);
  }

  /// Of a convolution: the node is [N,P,Q,R,G,O] in memory.
  bool channels_last = false;

  /// Ignores labels.
  friend bool operator==(const operator_params& a, const operator_params& b) {
    return a.row_ == b.row_ && a.bytes_ == b.bytes_ && a.channels_last == b.channels_last;
  }

 private:
  const host::operator_row* row_;
  const char* label_;
  alignas(std::uint64_t) std::array<std::byte, host::most_params> bytes_{};
};

/// An operator with several results.
struct call_params {
  operator_params what;
  std::shared_ptr<call_results> results;
};

/// The index of this result of its input, a call.
struct result_params {
  std::shared_ptr<call_results> of;
  std::size_t index = 0;
  friend bool operator==(const result_params& a, const result_params& b) {
    return a.index == b.index;  // the inputs tell calls apart
  }
};

/// Empty for data.
using record =
    std::variant<std::monostate, constant_value, elementwise_params, std::unique_ptr<view_params>,
                 reduce_params, concatenate_params, std::unique_ptr<update_params>,
                 std::unique_ptr<transfer_params>, collective_params,
                 std::unique_ptr<operator_params>, std::unique_ptr<custom_rule_params>,
                 std::unique_ptr<call_params>, result_params>;

}  // namespace tutti::graph
