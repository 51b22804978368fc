// SPDX-License-Identifier: Apache-2.0
//
// The description of a program with arrays of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::conformance {

// A program under construction: inputs first, then scalars, then instructions.
struct program_spec {
  uint32_t kept_rank = 1;
  uint32_t reduced_rank = 0;
  uint8_t reduction = TUTTI_REDUCE_NONE;
  uint8_t layout = TUTTI_REDUCE_INNER;
  uint8_t accumulator = 0;
  uint8_t wide_index = 0;
  std::vector<tutti_program_operand> inputs;
  std::vector<uint8_t> scalars;
  std::vector<tutti_instruction> instructions;
  std::vector<tutti_program_operand> outputs;
  std::string label = "conformance";

  uint32_t input(uint8_t dtype, uint8_t access = TUTTI_ACCESS_UNIT) {
    inputs.push_back({dtype, access, 0, 0});
    return static_cast<uint32_t>(inputs.size() - 1);
  }
  uint32_t scalar(uint8_t dtype) {
    scalars.push_back(dtype);
    return static_cast<uint32_t>(inputs.size() + scalars.size() - 1);
  }
  uint32_t op(uint16_t opcode, uint8_t dtype, const std::vector<uint32_t>& operands) {
    tutti_instruction next{opcode, dtype, static_cast<uint8_t>(operands.size()), {}};
    std::copy(operands.begin(), operands.end(), next.operand);
    instructions.push_back(next);
    return static_cast<uint32_t>(inputs.size() + scalars.size() + instructions.size() - 1);
  }
  void output(uint32_t value, uint8_t dtype, uint8_t access = TUTTI_ACCESS_UNIT) {
    outputs.push_back({dtype, access, 0, value});
  }
  tutti_program_desc desc() const {
    tutti_program_desc d{};
    d.struct_size = sizeof(d);
    d.ir_version = TUTTI_IR_VERSION;
    d.operand_size = sizeof(tutti_program_operand);
    d.instruction_size = sizeof(tutti_instruction);
    d.kept_rank = kept_rank;
    d.reduced_rank = reduced_rank;
    d.reduction = reduction;
    d.reduce_layout = layout;
    d.accumulator = accumulator;
    d.wide_index = wide_index;
    d.input_count = static_cast<uint32_t>(inputs.size());
    d.scalar_count = static_cast<uint32_t>(scalars.size());
    d.instruction_count = static_cast<uint32_t>(instructions.size());
    d.output_count = static_cast<uint32_t>(outputs.size());
    d.inputs = inputs.data();
    d.scalar_dtypes = scalars.data();
    d.instructions = instructions.data();
    d.outputs = outputs.data();
    d.label = label.c_str();
    return d;
  }
};

}  // namespace tutti::conformance
