// SPDX-License-Identifier: Apache-2.0
//
// A plugin's copy of a program description: checked, with owned arrays in this plugin's layout,
// whatever the size of the host's structs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/validate.hpp"

namespace tutti::sdk {

class program_description {
 public:
  program_description() = default;
  /// Reads and checks `given`. Throws plugin_error: TUTTI_ERROR_INVALID_ARGUMENT if it is
  /// malformed, TUTTI_ERROR_UNSUPPORTED for an unknown IR version.
  program_description(const tutti_program_desc* given, const program_limits& limits);
  // Moving a vector keeps the address of its array, so desc() stays valid.
  program_description(program_description&&) = default;
  program_description& operator=(program_description&&) = default;

  /// Points into this object.
  const tutti_program_desc& desc() const { return desc_; }
  /// For logs and traces, never empty.
  std::string label() const { return label_->empty() ? "program" : *label_; }

 private:
  tutti_program_desc desc_{};
  std::unique_ptr<std::string> label_ = std::make_unique<std::string>();
  std::vector<tutti_program_operand> inputs_, outputs_;
  std::vector<uint8_t> scalar_dtypes_;
  std::vector<tutti_instruction> instructions_;
};

/// Converts the operands of a launch that has passed read_struct to this plugin's layout, in
/// `scratch` if the host's layout differs. Throws TUTTI_ERROR_INVALID_ARGUMENT for missing arrays.
void read_operands(const tutti_program_desc& desc, tutti_program_launch& launch,
                   std::vector<tutti_operand>& scratch);

}  // namespace tutti::sdk
