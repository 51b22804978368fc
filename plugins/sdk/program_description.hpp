// SPDX-License-Identifier: Apache-2.0
//
// A program's description as a plugin keeps it: checked, and with arrays of its own in this
// plugin's layout, whatever the size of the structs that the host wrote.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/validate.hpp"

namespace tutti::sdk {

class program_description {
 public:
  program_description() = default;
  /// Reads what came over the border. Throws plugin_error: TUTTI_ERROR_INVALID_ARGUMENT where it is
  /// malformed, TUTTI_ERROR_UNSUPPORTED for another version of the IR.
  program_description(const tutti_program_desc* given, const program_limits& limits);
  // The arrays stay where they are when a vector moves, so that desc() goes on pointing to them.
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

/// Brings the operands of a launch, which has passed read_struct, into this plugin's layout: into
/// `scratch` where the host's differs. Throws TUTTI_ERROR_INVALID_ARGUMENT for arrays that are
/// missing.
void read_operands(const tutti_program_desc& desc, tutti_program_launch& launch,
                   std::vector<tutti_operand>& scratch);

}  // namespace tutti::sdk
