// SPDX-License-Identifier: Apache-2.0
#include "sdk/program_description.hpp"

#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

void check_array(const std::string& name, const char* what, uint32_t count, uint32_t limit,
                 const void* array) {
  if (count > limit) {
    throw_invalid(name, ": ", count, " ", what, ", the limit is ", limit);
  }
  if (count > 0 && array == nullptr) throw_invalid(name, ": ", what, " is NULL");
}

}  // namespace

program_description::program_description(const tutti_program_desc* given,
                                         const program_limits& limits)
    : desc_(read_struct(given, "program description")) {
  const std::string name = program_name(desc_);
  // The version determines how to read the rest.
  if (desc_.ir_version < TUTTI_IR_VERSION_MIN || desc_.ir_version > TUTTI_IR_VERSION) {
    throw_unsupported(name, ": ir_version is ", desc_.ir_version, ", this plugin knows ",
                      TUTTI_IR_VERSION_MIN, " to ", TUTTI_IR_VERSION);
  }
  check_array(name, "inputs", desc_.input_count, limits.inputs, desc_.inputs);
  check_array(name, "outputs", desc_.output_count, limits.outputs, desc_.outputs);
  check_array(name, "instructions", desc_.instruction_count, limits.instructions,
              desc_.instructions);
  check_array(name, "scalars", desc_.scalar_count, limits.inputs + 3 * limits.instructions,
              desc_.scalar_dtypes);
  read_array(desc_.inputs, desc_.input_count, desc_.operand_size, name + ": operand_size", inputs_);
  read_array(desc_.outputs, desc_.output_count, desc_.operand_size, name + ": operand_size",
             outputs_);
  read_array(desc_.instructions, desc_.instruction_count, desc_.instruction_size,
             name + ": instruction_size", instructions_);
  scalar_dtypes_.assign(desc_.scalar_dtypes, desc_.scalar_dtypes + desc_.scalar_count);
  if (desc_.label != nullptr) *label_ = desc_.label;
  desc_.struct_size = sizeof desc_;
  desc_.inputs = inputs_.data();
  desc_.outputs = outputs_.data();
  desc_.operand_size = sizeof(tutti_program_operand);
  desc_.instructions = instructions_.data();
  desc_.instruction_size = sizeof(tutti_instruction);
  desc_.scalar_dtypes = scalar_dtypes_.data();
  desc_.label = label_->c_str();
  validate_program(desc_);
}

void read_operands(const tutti_program_desc& desc, tutti_program_launch& launch,
                   std::vector<tutti_operand>& scratch) {
  if (desc.input_count > 0 && launch.inputs == nullptr)
    throw_invalid(program_name(desc), ": inputs is NULL");
  if (launch.outputs == nullptr) throw_invalid(program_name(desc), ": outputs is NULL");
  if (launch.operand_size == sizeof(tutti_operand)) return;
  const std::string what = program_name(desc) + ": operand_size";
  std::vector<tutti_operand> outputs;
  read_array(launch.inputs, desc.input_count, launch.operand_size, what, scratch);
  read_array(launch.outputs, desc.output_count, launch.operand_size, what, outputs);
  scratch.insert(scratch.end(), outputs.begin(), outputs.end());
  launch.inputs = scratch.data();
  launch.outputs = scratch.data() + desc.input_count;
  launch.operand_size = sizeof(tutti_operand);
}

}  // namespace tutti::sdk
