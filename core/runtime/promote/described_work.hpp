// SPDX-License-Identifier: Apache-2.0
//
// Programs and operators as bytes, which another process of the same build makes descriptions of
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/execute/operator_call.hpp"
#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::runtime {

TUTTI_INTERNAL_API std::string to_bytes(const tutti_program_desc& desc);
/// Empty for operands that are stored in a format of their own, which are not described.
TUTTI_INTERNAL_API std::string to_bytes(const operator_call& call);

/// What a description of a program points to.
struct program_parts {
  tutti_program_desc desc{};
  std::vector<tutti_program_operand> inputs, outputs;
  std::vector<std::uint8_t> scalar_dtypes;
  std::vector<tutti_instruction> instructions;
};
/// The same of an operator.
struct operator_parts {
  operator_call call{graph::operator_params(TUTTI_OPERATOR_MATMUL)};
  tutti_operator_desc desc{};
};

/// A description with all that it points to.
class TUTTI_INTERNAL_API described_work {
 public:
  /// Nothing for bytes that to_bytes() did not write.
  static std::optional<described_work> from(std::string_view bytes);

  /// The one that it is of; null for the other. Valid while this object stays where it is.
  const tutti_program_desc* program();
  const tutti_operator_desc* op();
  const std::string& label() const { return label_; }

 private:
  std::variant<program_parts, operator_parts> parts_;
  std::string label_;
};

}  // namespace tutti::runtime
