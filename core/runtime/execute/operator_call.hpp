// SPDX-License-Identifier: Apache-2.0
//
// From a node that is an operator to the operator of the plugin ABI, with its memory where that is
// there already.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// An operator as the device is asked for it.
struct operator_call {
  explicit operator_call(const graph::operator_params& params) : what(params) {}

  graph::operator_params what;
  boost::container::small_vector<tutti_view_desc, 4> views;  // outputs first
  boost::container::small_vector<tutti_range, 4> operands;   // their memory
  boost::container::small_vector<const graph::node*, 4>
      inputs;  // whose storage the last views show
  std::uint32_t output_count = 1;
};

/// The operator of a node of kind operation or call. `outputs` as in
/// launch_operator; none where no memory is known yet.
operator_call describe(const graph::node& n, std::span<const result> outputs);
/// What a product or a convolution does before it stores its result.
void add_epilogue(operator_call& call, const fusion::epilogue& e);
/// One of these with an epilogue that has no memory yet.
operator_call product_with(const fusion::epilogue& e);

/// Operations on numbers, by the operator's row.
std::uint64_t flops_of(const operator_call& call);

/// Points into `call`.
tutti_operator_desc description_of(const operator_call& call);
/// All that a plan depends on.
void write_key(const operator_call& call, std::string& key);

}  // namespace tutti::runtime
