// SPDX-License-Identifier: Apache-2.0
//
// Operators and programs put to a device as questions.
#include <algorithm>
#include <cstring>
#include <utility>

#include "plugin/proof/conversation.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/raii.hpp"
#include "plugin/support.hpp"
#include "tutti/dtype.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

tutti_view_desc view_of(const tensor& t) {
  tutti_view_desc v{};
  v.dtype = t.type;
  v.rank = static_cast<std::uint32_t>(t.extents.size());
  std::int64_t stride = 1;
  for (std::uint32_t i = v.rank; i-- > 0;) {
    v.extent[i] = t.extents[i];
    v.stride[i] = stride;
    stride *= static_cast<std::int64_t>(t.extents[i]);
  }
  return v;
}

/// A bias of one value for each column, over all of the product.
void spread_bias(std::vector<tutti_view_desc>& views) {
  tutti_view_desc& bias = views.back();
  bias.rank = 3;
  std::copy_n(views.front().extent, 3, bias.extent);
  bias.stride[0] = bias.stride[1] = 0;
  bias.stride[2] = 1;
}

/// Where an operand of a program lies, and how it moves along the innermost loop.
struct placement {
  std::int64_t stride[2];
  tutti_access access;
};

placement place_of_input(const program_question& q) {
  if (q.reduction == TUTTI_REDUCE_NONE) return {{1, 0}, TUTTI_ACCESS_UNIT};
  const auto columns = static_cast<std::int64_t>(q.inputs.front().extents[1]);
  if (q.along_columns) return {{1, columns}, TUTTI_ACCESS_UNIT};
  return {{columns, 1}, TUTTI_ACCESS_UNIT};
}

placement place_of_output(const program_question& q) {
  const bool along_rows = q.reduction != TUTTI_REDUCE_NONE && !q.along_columns;
  return {{1, 0}, along_rows ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT};
}

tutti_operand operand(tutti_buffer* buffer, const placement& where) {
  tutti_operand o{};
  o.buffer = buffer;
  std::copy_n(where.stride, 2, o.stride);
  return o;
}

void set_extents(const program_question& q, tutti_program_launch& launch) {
  const std::vector<std::uint64_t>& shape = q.inputs.front().extents;
  if (q.reduction == TUTTI_REDUCE_NONE) {
    launch.extent[0] = shape[0];
    return;
  }
  launch.extent[0] = shape[q.along_columns ? 1 : 0];
  launch.extent[1] = shape[q.along_columns ? 0 : 1];
}

tutti_program_operand declared(std::int32_t type, const placement& where, std::uint32_t value) {
  return {static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(where.access), 0, value};
}

program_handle compile(const opened_device& d, const program_question& q) {
  std::vector<tutti_program_operand> inputs;
  for (const tensor& t : q.inputs) inputs.push_back(declared(t.type, place_of_input(q), 0));
  const tutti_program_operand output = declared(q.known.right.type, place_of_output(q), q.result);
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.ir_version = TUTTI_IR_VERSION;
  desc.operand_size = sizeof(tutti_program_operand);
  desc.instruction_size = sizeof(tutti_instruction);
  desc.kept_rank = 1;
  desc.reduced_rank = q.reduction != TUTTI_REDUCE_NONE ? 1 : 0;
  desc.reduction = static_cast<std::uint8_t>(q.reduction);
  desc.reduce_layout = q.along_columns ? TUTTI_REDUCE_OUTER : TUTTI_REDUCE_INNER;
  desc.accumulator = q.accumulator;
  desc.input_count = static_cast<std::uint32_t>(inputs.size());
  desc.scalar_count = static_cast<std::uint32_t>(q.scalars.size());
  desc.instruction_count = static_cast<std::uint32_t>(q.code.size());
  desc.output_count = 1;
  desc.inputs = inputs.data();
  desc.scalar_dtypes = q.scalar_types.data();
  desc.instructions = q.code.data();
  desc.outputs = &output;
  desc.label = q.label.c_str();
  return create_program(d, desc);
}

}  // namespace

std::uint32_t program_question::input(tensor t) {
  inputs.push_back(std::move(t));
  return static_cast<std::uint32_t>(inputs.size() - 1);
}

std::uint32_t program_question::scalar(std::uint8_t type, double value) {
  const tensor one = make_tensor(type, {1}, {value});
  tutti_scalar s{};
  std::memcpy(&s, one.bytes.data(), one.bytes.size());
  scalars.push_back(s);
  scalar_types.push_back(type);
  return static_cast<std::uint32_t>(inputs.size() + scalars.size() - 1);
}

std::uint32_t program_question::op(tutti_opcode opcode, std::uint8_t type,
                                   std::initializer_list<std::uint32_t> of) {
  tutti_instruction i{
      static_cast<std::uint16_t>(opcode), type, static_cast<std::uint8_t>(of.size()), {}};
  std::copy(of.begin(), of.end(), i.operand);
  code.push_back(i);
  return static_cast<std::uint32_t>(inputs.size() + scalars.size() + code.size() - 1);
}

tensor overwritten(tensor t) {
  std::fill(t.bytes.begin(), t.bytes.end(), char{85});
  return t;
}

std::optional<tensor> ask(const opened_device& d, const operator_question& q) {
  const bool finishes = q.kind == TUTTI_OPERATOR_MATMUL && !q.params.empty();
  std::vector<tutti_view_desc> views{view_of(q.before)};
  for (const tensor& t : q.inputs) views.push_back(view_of(t));
  if (finishes && views.size() > 3) spread_bias(views);
  const tutti_operator_desc desc = describe(static_cast<tutti_operator>(q.kind), views,
                                            q.params.empty() ? nullptr : q.params.data());
  std::int32_t support = TUTTI_SUPPORT_NO;
  check(d.plugin->op.supports(d.handle, &desc, &support, nullptr), d, "supports");
  if (support == TUTTI_SUPPORT_NO) return std::nullopt;
  conversation with(d);
  std::vector<tutti_range> operands{{with.upload(q.before), 0}};
  for (const tensor& t : q.inputs) operands.push_back({with.upload(t), 0});
  run_operator(d, desc, operands, with.stream(), "known answer");
  return with.download(operands.front().buffer, q.known.right);
}

std::optional<tensor> ask(const opened_device& d, const program_question& q) {
  const program_functions& api = d.plugin->program;
  const program_handle program = compile(d, q);
  conversation with(d);
  std::vector<tutti_operand> inputs;
  for (const tensor& t : q.inputs) inputs.push_back(operand(with.upload(t), place_of_input(q)));
  const tutti_operand output = operand(with.upload(overwritten(q.known.right)), place_of_output(q));
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  set_extents(q, launch);
  launch.inputs = inputs.data();
  launch.scalars = q.scalars.data();
  launch.outputs = &output;
  check(api.workspace(program.get(), &launch, &launch.workspace_bytes), d, "workspace", q.label);
  launch.workspace = with.room(launch.workspace_bytes);
  check(api.launch(with.stream(), program.get(), &launch, nullptr), d, "launch", q.label);
  return with.download(output.buffer, q.known.right);
}

}  // namespace tutti::detail
