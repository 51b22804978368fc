// SPDX-License-Identifier: Apache-2.0
//
// Operator descriptions and launches, read from the caller's structs: at full size, with owned
// arrays. Unknown features are refused.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// An operator that has passed check_operator. Views have no memory, unless a plugin sets it.
struct operator_call {
  int32_t kind;  // tutti_operator
  uint32_t view_count;
  const tutti_view* views;    // outputs first
  const void* params;         // null if there are none
  uint32_t output_count = 1;  // of the views
};

inline uint64_t elements_of(const tutti_view& view) {
  uint64_t count = 1;
  for (uint32_t d = 0; d < view.rank; ++d) count *= view.extent[d];
  return count;
}

/// The maximum number of views of an operator.
inline constexpr uint32_t most_operands = 5;

/// Owns a description's views and parameters.
class owned_operator {
 public:
  /// Throws plugin_error for malformed descriptions. Sets `against` to a static text if the
  /// description has features that this version does not know.
  owned_operator(const tutti_operator_desc* given, const char*& against);

  operator_call call() const {
    return {kind_, static_cast<uint32_t>(views_.size()), views_.data(),
            params_.empty() ? nullptr : params_.data(), output_count_};
  }

 private:
  int32_t kind_;
  uint32_t output_count_ = 1;
  std::vector<tutti_view> views_;
  std::vector<std::max_align_t> params_;
};

/// The memory of a launch.
struct operator_memory {
  std::array<tutti_range, most_operands> operands;
  tutti_range workspace;
  uint64_t workspace_bytes;
};

/// Throws plugin_error naming the operator if the number of operands differs.
operator_memory read_launch(const tutti_operator_launch* given, const operator_call& call);

}  // namespace tutti::sdk
