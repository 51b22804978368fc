// SPDX-License-Identifier: Apache-2.0
//
// What nodes of each kind carry beside their inputs: a record of their own, of which a node has
// one. Large and rare records are held by pointer, so that no kind makes the nodes of all others
// larger.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/call_results.hpp"
#include "tutti/array.hpp"
#include "tutti/plugin.h"

namespace tutti::graph {

struct collective_call;

using detail::node_ref;

/// The value of a constant, typed as its dtype in registers: one scalar, or the two parts of a
/// complex number. Weak ones hold i64, or f64 parts, instead.
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

/// How a view was made: what its gradient needs.
enum class view_op : std::uint8_t {
  identity,
  reshape,
  transpose,
  broadcast,
  slice,
  diagonal,
  custom_result  // of the custom_rule that is its input
};

/// Position of elements in a storage, in elements.
struct layout {
  std::int64_t offset = 0;
  shape strides;
};

struct view_params {
  node_ref base;  // never a view
  layout where;
  view_op op = view_op::identity;
  // transpose: axes; slice: starts; diagonal: both axes, offset; custom_result: its number
  shape arguments;
  shape steps;  // slice: steps
};

struct reduce_params {
  tutti_reduction reduction = TUTTI_REDUCE_SUM;
  std::uint8_t axes = 0;  // bit i: axis i of the input is reduced
  dtype accumulator = dtype::f32;
  friend bool operator==(const reduce_params&, const reduce_params&) = default;
};

struct scatter_params {
  tutti_operator number = TUTTI_OPERATOR_SCATTER;  // or TUTTI_OPERATOR_SCATTER_ADD
  tutti_scatter how = TUTTI_SCATTER_SET;           // of the first
  friend bool operator==(const scatter_params&, const scatter_params&) = default;
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

/// How the cotangents of a function's arguments follow from those of its values.
struct custom_rule_params {
  std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&,
                                   const std::vector<array>&)>
      backward;
  std::vector<array> values;  // without history
};

struct scan_params {
  tutti_scan scan = TUTTI_SCAN_SUM;
  bool exclusive = false;
  bool reverse = false;
  friend bool operator==(const scan_params&, const scan_params&) = default;
};

struct sort_params {
  tutti_operator number = TUTTI_OPERATOR_SORT;  // or TUTTI_OPERATOR_ARGSORT, TUTTI_OPERATOR_TOPK
  bool descending = false;
  friend bool operator==(const sort_params&, const sort_params&) = default;
};

struct search_params {
  bool right = false;
  friend bool operator==(const search_params&, const search_params&) = default;
};

struct partition_params {
  std::int64_t kth = 0;
  friend bool operator==(const partition_params&, const partition_params&) = default;
};

/// TUTTI_OPERATOR_COUNT.
struct count_params {
  friend bool operator==(const count_params&, const count_params&) = default;
};

/// TUTTI_OPERATOR_SELECT.
struct select_params {
  friend bool operator==(const select_params&, const select_params&) = default;
};

/// TUTTI_OPERATOR_CHOLESKY to TUTTI_OPERATOR_EIG.
struct matrix_params {
  tutti_operator number = TUTTI_OPERATOR_LU;
  bool upper = false;
  tutti_transpose transpose = TUTTI_TRANSPOSE_NONE;
  bool unit_diagonal = false;
  bool must_be_regular = false;
  const char* label = "";  // of the public call, for messages; a text that stays valid
  friend bool operator==(const matrix_params& a, const matrix_params& b) {
    return a.number == b.number && a.upper == b.upper && a.transpose == b.transpose &&
           a.unit_diagonal == b.unit_diagonal && a.must_be_regular == b.must_be_regular;
  }
};

/// TUTTI_OPERATOR_CONVOLUTION of x [N,G,C,S0,S1,S2] and w [G,O,C,K0,K1,K2], both of any strides
/// that are not negative; the node is [N,G,O,P0,P1,P2], or where channels are last
/// [N,P0,P1,P2,G,O].
struct convolution_params {
  using numbers = std::array<std::int64_t, 3>;
  numbers stride{1, 1, 1}, dilation{1, 1, 1}, input_dilation{1, 1, 1}, padding{};
  bool flipped = false;
  bool channels_last = false;
  const char* label = "";  // as of matrix_params
  friend bool operator==(const convolution_params& a, const convolution_params& b) {
    return a.stride == b.stride && a.dilation == b.dilation &&
           a.input_dilation == b.input_dilation && a.padding == b.padding &&
           a.flipped == b.flipped && a.channels_last == b.channels_last;
  }
};

/// TUTTI_OPERATOR_FFT.
struct fft_params {
  tutti_fft fft = TUTTI_FFT_COMPLEX;
  bool inverse = false;
  std::int64_t length = 1;
  double scale = 1;
  const char* label = "";  // of the public call, for messages; a text that stays valid
  friend bool operator==(const fft_params& a, const fft_params& b) {
    return a.fft == b.fft && a.inverse == b.inverse && a.length == b.length && a.scale == b.scale;
  }
};

/// TUTTI_OPERATOR_SPMM.
struct spmm_params {
  const char* label = "";  // as of fft_params
  friend bool operator==(const spmm_params&, const spmm_params&) { return true; }
};

/// TUTTI_OPERATOR_SDDMM.
struct sddmm_params {
  const char* label = "";  // as of fft_params
  friend bool operator==(const sddmm_params&, const sddmm_params&) { return true; }
};

/// An operator of the ABI that has no kind of node for itself.
using operation_params = std::variant<scan_params, sort_params, search_params, partition_params,
                                      count_params, select_params, matrix_params,
                                      convolution_params, fft_params, spmm_params, sddmm_params>;

/// An operator with several results.
struct call_params {
  operation_params what;
  std::shared_ptr<call_results> results;
};

/// Which of the results of its input, a call, this is.
struct result_params {
  std::shared_ptr<call_results> of;
  std::size_t index = 0;
  friend bool operator==(const result_params& a, const result_params& b) {
    return a.index == b.index;  // the inputs tell calls apart
  }
};

/// Nothing for data, products and gathers.
using record =
    std::variant<std::monostate, constant_value, elementwise_params, std::unique_ptr<view_params>,
                 reduce_params, scatter_params, concatenate_params, std::unique_ptr<update_params>,
                 std::unique_ptr<transfer_params>, collective_params, operation_params,
                 std::unique_ptr<custom_rule_params>, std::unique_ptr<call_params>, result_params>;

}  // namespace tutti::graph
