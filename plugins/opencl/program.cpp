// SPDX-License-Identifier: Apache-2.0
//
// Fused programs: rendered, built once, and launched with all sizes as arguments.
#include <algorithm>

#include "opencl/objects.hpp"
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
  tutti::opencl::owned_program program;
  std::mutex mutex;  // guards the kernels' arguments and the scratch
  tutti::opencl::owned_kernel main, finish;
  std::vector<uint64_t> geometry;
};

namespace tutti::opencl {
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
  uint32_t bytes = p.layout.geometry_bytes() + 8 * (p.layout.inputs + p.layout.outputs);
  for (uint8_t scalar : p.layout.scalar_bytes) bytes += std::max<uint32_t>(scalar, 4);
  if (p.layout.reduces()) bytes += 24;
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
    auto program = std::make_unique<tutti_program>();
    program->device = device;
    copy_desc(*program, given);
    sdk::render_options options;
    options.kind = info.kind;
    options.vector_bytes = info.vector_bytes;
    options.work_group = info.work_group;
    sdk::rendered_program rendered = sdk::render(program->desc, make_dialect(info), options);
    program->source = std::move(rendered.source);
    program->layout = std::move(rendered.layout);
    check_argument_bytes(*program);
    program->program =
        build_program(*device, program->source, base_options, calls::scalars, program->label);
    program->main = make_kernel(program->program.get(), sdk::main_kernel);
    if (program->layout.reduces()) {
      program->finish = make_kernel(program->program.get(), sdk::finish_kernel);
    }
    program->geometry.resize((program->layout.geometry_bytes() + 7) / 8);
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

void check_operand(const tutti_program& p, uint32_t number, const tutti_operand& operand,
                   const tutti_program_launch& launch) {
  const uint32_t rank = p.desc.kept_rank + p.desc.reduced_rank;
  sdk::validate_range("program operand", operand.offset, p.layout.element_bytes[number], rank,
                      launch.extent, operand.stride, operand.buffer->bytes);
}

void set_operands(tutti_program& p, const tutti_program_launch& launch) {
  const uint32_t inputs = p.layout.inputs;
  for (uint32_t n = 0; n < inputs + p.layout.outputs; ++n) {
    const tutti_operand& operand = n < inputs ? launch.inputs[n] : launch.outputs[n - inputs];
    const cl_mem memory = memory_on(*p.device, operand.buffer, p.label.c_str());
    check_operand(p, n, operand, launch);
    set_argument(p.main.get(), n, memory);
  }
}

void set_workspace(tutti_program& p, const tutti_program_launch& launch,
                   const sdk::launch_plan& plan, cl_kernel kernel, cl_uint first) {
  // Without parts nothing is read or written there; drivers still want a buffer.
  const tutti_buffer* buffer = plan.finish_groups > 0 ? launch.workspace : launch.outputs[0].buffer;
  if (plan.finish_groups > 0) {
    if (launch.workspace_bytes < plan.workspace_bytes) {
      sdk::throw_invalid(p.label + ": workspace of " + std::to_string(launch.workspace_bytes) +
                         " bytes, needs " + std::to_string(plan.workspace_bytes));
    }
    sdk::validate_span("workspace", launch.workspace_offset, launch.workspace_bytes,
                       sdk::deref(buffer, "workspace").bytes);
  }
  set_argument(kernel, first, memory_on(*p.device, buffer, p.label.c_str()));
  const uint64_t offset = plan.finish_groups > 0 ? launch.workspace_offset : 0;
  set_argument(kernel, first + 1, offset);
  set_argument(kernel, first + 2, offset + plan.partial_at_offset);
}

tutti_status* launch(tutti_stream* stream, tutti_program* program,
                     const tutti_program_launch* given, tutti_event** event) {
  return sdk::guarded([&] {
    if (event != nullptr) *event = nullptr;
    tutti_program& p = sdk::deref(program, "program");
    const tutti_program_launch l = sdk::read_struct(given, "launch");
    if (sdk::deref(stream, "stream").device->context->get() != p.device->context->get()) {
      sdk::throw_invalid(p.label + ": the program belongs to device " + p.device->info->name +
                         ", the stream to " + stream->device->info->name);
    }
    sdk::validate_launch(p.desc, l);
    const sdk::launch_plan planned = plan(p, l);
    const std::lock_guard lock(p.mutex);
    set_operands(p, l);
    cl_uint next = p.layout.inputs + p.layout.outputs;
    for (size_t n = 0; n < p.layout.scalar_bytes.size(); ++n) {
      check(clSetKernelArg(p.main.get(), next++, p.layout.scalar_bytes[n], &l.scalars[n]),
            "clSetKernelArg");
    }
    sdk::pack_geometry(p.layout, l.extent, l.inputs, l.outputs, planned, p.geometry.data());
    const size_t bytes = p.layout.geometry_bytes();
    check(clSetKernelArg(p.main.get(), next++, bytes, p.geometry.data()), "clSetKernelArg");
    if (p.layout.reduces()) set_workspace(p, l, planned, p.main.get(), next);
    const bool finishes = planned.finish_groups > 0;
    enqueue(stream->queue, p.main.get(), planned.main_groups, p.layout.work_group,
            finishes ? nullptr : event, p.label.c_str());
    if (!finishes) return;
    set_argument(p.finish.get(), 0, memory_on(*p.device, l.outputs[0].buffer, p.label.c_str()));
    check(clSetKernelArg(p.finish.get(), 1, bytes, p.geometry.data()), "clSetKernelArg");
    set_workspace(p, l, planned, p.finish.get(), 2);
    enqueue(stream->queue, p.finish.get(), planned.finish_groups, p.layout.work_group, event,
            p.label.c_str());
  });
}

const char* source(tutti_program* program) {
  return program != nullptr ? program->source.c_str() : nullptr;
}

}  // namespace

const tutti_program_api program_api = {
    sizeof(tutti_program_api), create, release, workspace, launch, source};

}  // namespace tutti::opencl
