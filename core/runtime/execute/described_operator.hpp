// SPDX-License-Identifier: Apache-2.0
//
// Converts a node that is an operator to the operator of the plugin ABI, with its memory if that
// exists already.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// An operator as passed to the device.
struct described_operator {
  explicit described_operator(const graph::operator_params& params) : what(params) {}

  graph::operator_params what;
  boost::container::small_vector<tutti_view_desc, 4> views;  // outputs first
  boost::container::small_vector<tutti_range, 4> operands;   // their memory
  boost::container::small_vector<const graph::node*, 4>
      inputs;  // whose storage the last views refer to
  std::uint32_t output_count = 1;
};

/// The operator of a node of kind operation or call, with the epilogue of a product or a
/// convolution unless that is null. `outputs` as in launch_operator; none where no memory is known
/// yet.
described_operator describe(const graph::node& n, const fusion::epilogue* epilogue,
                            std::span<const result> outputs = {});

/// Number of arithmetic operations, from the operator's row.
std::uint64_t flops_of(const described_operator& call);

/// Points into `call`.
tutti_operator_desc description_of(const described_operator& call);
/// Everything that a plan depends on.
void write_key(const described_operator& call, std::string& key);

}  // namespace tutti::runtime
