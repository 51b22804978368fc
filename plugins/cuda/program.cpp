// SPDX-License-Identifier: Apache-2.0
//
// Fused programs: rendered, compiled once, and launched with all sizes as arguments. A launch
// allocates nothing but the event that the caller asks for.
#include <algorithm>
#include <array>

#include "cuda/objects.hpp"
#include "sdk/validate.hpp"

struct tutti_program {
  tutti_device* device = nullptr;
  // The description, with arrays of our own.
  tutti_program_desc desc{};
  std::vector<tutti_program_operand> inputs, outputs;
  std::vector<uint8_t> scalar_dtypes;
  std::vector<tutti_instruction> instructions;
  std::string label;

  std::string source;
  tutti::sdk::program_layout layout;
  tutti::cuda::module code;
  CUfunction main = nullptr, finish = nullptr;

  std::mutex mutex;  // guards the launch's scratch
  std::vector<CUdeviceptr> pointers;
  std::vector<uint64_t> geometry;
  std::vector<void*> arguments;
};

namespace tutti::cuda {
namespace {

void copy_desc(tutti_program& p, const tutti_program_desc& desc) {
  p.desc = desc;
  p.inputs.assign(desc.inputs, desc.inputs + desc.input_count);
  p.outputs.assign(desc.outputs, desc.outputs + desc.output_count);
  p.scalar_dtypes.assign(desc.scalar_dtypes, desc.scalar_dtypes + desc.scalar_count);
  p.instructions.assign(desc.instructions, desc.instructions + desc.instruction_count);
  p.label = desc.label != nullptr ? desc.label : "program";
  p.desc.inputs = p.inputs.data();
  p.desc.outputs = p.outputs.data();
  p.desc.scalar_dtypes = p.scalar_dtypes.data();
  p.desc.instructions = p.instructions.data();
  p.desc.label = p.label.c_str();
}

void check_argument_bytes(const tutti_program& p) {
  const uint32_t limit = p.device->info->properties.max_argument_bytes;
  // Each argument at its alignment, eight bytes at most.
  const uint32_t scalars = static_cast<uint32_t>(p.layout.scalar_bytes.size());
  const uint32_t bytes = 8 * (p.layout.inputs + p.layout.outputs + scalars) +
                         p.layout.geometry_bytes() + 8 + (p.layout.reduces() ? 24 : 0);
  if (bytes > limit) {
    sdk::throw_unsupported(p.label + ": needs " + std::to_string(bytes) +
                           " bytes of kernel arguments, " + p.device->info->name + " allows " +
                           std::to_string(limit));
  }
}

tutti_status* create(tutti_device* device, const tutti_program_desc* desc, tutti_program** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "program") = nullptr;
    const device_info& info = *sdk::deref(device, "device").info;
    const tutti_program_desc given = sdk::read_struct(desc, "program description");
    const tutti_device_properties& limits = info.properties;
    sdk::validate_program(given, {limits.max_inputs, limits.max_outputs, limits.max_instructions});
    const scoped_context context(*device);
    auto program = std::make_unique<tutti_program>();
    program->device = device;
    copy_desc(*program, given);
    sdk::render_options options;
    options.kind = sdk::schedule::gpu;
    options.work_group = work_group;
    sdk::rendered_program rendered = sdk::render(program->desc, make_dialect(), options);
    program->source = std::move(rendered.source);
    program->layout = std::move(rendered.layout);
    check_argument_bytes(*program);
    program->code = build_module(*device, program->source, program_options(), program->label);
    program->main = program->code.function(sdk::main_kernel);
    if (program->layout.reduces()) {
      program->finish = program->code.function(sdk::finish_kernel);
    }
    const size_t operands = program->layout.inputs + program->layout.outputs;
    program->pointers.resize(operands);
    program->geometry.resize((program->layout.geometry_bytes() + 7) / 8);
    program->arguments.resize(operands + program->layout.scalar_bytes.size() + 4);
    *result = program.release();
  });
}

void release(tutti_program* program) { delete program; }

sdk::launch_plan plan(const tutti_program& program, const tutti_program_launch& launch) {
  const sdk::machine machine{program.device->info->properties.compute_units};
  return sdk::plan_launch(program.layout, launch.extent, machine);
}

tutti_status* workspace(tutti_program* program, const tutti_program_launch* launch,
                        uint64_t* bytes) {
  return sdk::guarded([&] {
    sdk::deref(bytes, "bytes") = 0;
    sdk::deref(program, "program");
    *bytes = plan(*program, sdk::read_struct(launch, "launch")).workspace_bytes;
  });
}

void set_operands(tutti_program& p, const tutti_program_launch& launch) {
  const uint32_t rank = p.desc.kept_rank + p.desc.reduced_rank;
  const uint32_t inputs = p.layout.inputs;
  for (uint32_t n = 0; n < inputs + p.layout.outputs; ++n) {
    const tutti_operand& operand = n < inputs ? launch.inputs[n] : launch.outputs[n - inputs];
    p.pointers[n] = memory_on(*p.device, operand.buffer, p.label.c_str());
    sdk::validate_range("program operand", operand.offset, p.layout.element_bytes[n], rank,
                        launch.extent, operand.stride, operand.buffer->bytes);
    p.arguments[n] = &p.pointers[n];
  }
}

// Address of the workspace and the offsets of values and indices in it; zeros without parts, where
// nothing is read or written.
std::array<uint64_t, 3> workspace_of(const tutti_program& p, const tutti_program_launch& launch,
                                     const sdk::launch_plan& plan) {
  if (plan.finish_groups == 0) return {};
  const CUdeviceptr memory = memory_on(*p.device, launch.workspace, p.label.c_str());
  if (launch.workspace_bytes < plan.workspace_bytes) {
    sdk::throw_invalid(p.label + ": workspace of " + std::to_string(launch.workspace_bytes) +
                       " bytes, needs " + std::to_string(plan.workspace_bytes));
  }
  sdk::validate_span("workspace", launch.workspace_offset, launch.workspace_bytes,
                     launch.workspace->bytes);
  return {memory, launch.workspace_offset, launch.workspace_offset + plan.partial_at_offset};
}

void enqueue(tutti_stream& stream, tutti_program& p, const tutti_program_launch& l,
             const sdk::launch_plan& planned) {
  set_operands(p, l);
  size_t next = p.pointers.size();
  for (size_t n = 0; n < p.layout.scalar_bytes.size(); ++n) {
    p.arguments[next++] = const_cast<tutti_scalar*>(&l.scalars[n]);
  }
  sdk::pack_geometry(p.layout, l.extent, l.inputs, l.outputs, planned, p.geometry.data());
  p.arguments[next++] = p.geometry.data();
  std::array<uint64_t, 3> parts = workspace_of(p, l, planned);
  if (p.layout.reduces()) {
    for (uint64_t& word : parts) p.arguments[next++] = &word;
  }
  launch(stream, p.main, planned.main_groups, p.layout.work_group, p.arguments.data(),
         p.label.c_str());
  if (planned.finish_groups == 0) return;
  void* finishing[] = {&p.pointers[p.layout.inputs], p.geometry.data(), &parts[0], &parts[1],
                       &parts[2]};
  launch(stream, p.finish, planned.finish_groups, p.layout.work_group, finishing, p.label.c_str());
}

tutti_status* launch_program(tutti_stream* stream, tutti_program* program,
                             const tutti_program_launch* given, tutti_event** event) {
  return sdk::guarded([&] {
    if (event != nullptr) *event = nullptr;
    tutti_program& p = sdk::deref(program, "program");
    const tutti_program_launch l = sdk::read_struct(given, "launch");
    if (sdk::deref(stream, "stream").device->context != p.device->context) {
      sdk::throw_invalid(p.label + ": the program belongs to device " + p.device->info->name +
                         ", the stream to " + stream->device->info->name);
    }
    sdk::validate_launch(p.desc, l);
    const sdk::launch_plan planned = plan(p, l);
    const scoped_context context(*p.device);
    event_recorder recorder(*stream, event);
    {
      const std::lock_guard lock(p.mutex);
      enqueue(*stream, p, l, planned);
    }
    recorder.finish();
  });
}

const char* source(tutti_program* program) {
  return program != nullptr ? program->source.c_str() : nullptr;
}

}  // namespace

const tutti_program_api program_api = {
    sizeof(tutti_program_api), create, release, workspace, launch_program, source};

}  // namespace tutti::cuda
