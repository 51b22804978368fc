// SPDX-License-Identifier: Apache-2.0
//
// The program group of the ABI for a backend: fused programs are rendered, built once, and launched
// with all sizes as arguments. A launch allocates only the requested event.
#pragma once

#include <algorithm>
#include <memory>

#include "sdk/capabilities.hpp"
#include "sdk/device_layer/backend.hpp"
#include "sdk/device_layer/program.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {

/// Program is tutti_program, which the plugin derives from device_program<B>.
template <device_backend B, typename Program>
struct program_functions {
  static const program_sets& offered_by(const typename B::device& d) {
    const tutti_device_properties& p = d.info->properties;
    return programs_in(p.computed_dtypes, p.stored_dtypes);
  }

  static tutti_status* capabilities(tutti_device* device, tutti_program_capabilities* result) {
    return guarded([&] {
      const typename B::device& d = deref(device, "device");
      write_struct(result, offered_by(d).capabilities(), "capabilities");
    });
  }

  static tutti_status* supports(tutti_device* device, const tutti_program_desc* desc,
                                int32_t* support, const char** reason) {
    return guarded([&] {
      const typename B::device& d = deref(device, "device");
      deref(support, "support") =
          supports_program(offered_by(d), program_limits_of(*d.info), desc, reason);
    });
  }

  static tutti_status* create(tutti_device* device, const tutti_program_desc* desc,
                              tutti_program** result) {
    return guarded([&] {
      deref(result, "program") = nullptr;
      typename B::device& d = deref(device, "device");
      [[maybe_unused]] const typename B::scope scope(d);
      auto program = std::make_unique<Program>();
      program->device = &d;
      program->render_for(*d.info, desc, B::make_dialect(*d.info));
      if (const std::string lacks = beyond(offered_by(d), program->desc()); !lacks.empty())
        throw_unsupported(program->label, ": the device ", lacks);
      program->require_arguments(*d.info, B::argument_bytes(program->layout));
      program->place_arguments();
      compile(*program);
      *result = program.release();
    });
  }

  static void release(tutti_program* program) { delete static_cast<Program*>(program); }

  static tutti_status* workspace(tutti_program* program, const tutti_program_launch* launch,
                                 uint64_t* bytes) {
    return guarded([&] {
      deref(bytes, "bytes") = 0;
      const Program& p = deref(program, "program");
      *bytes = p.plan(*p.device->info, read_struct(launch, "launch")).workspace_bytes;
    });
  }

  static tutti_status* launch(tutti_stream* stream, tutti_program* program,
                              const tutti_program_launch* given, tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      Program& p = deref(program, "program");
      tutti_program_launch l = read_struct(given, "launch");
      typename B::stream& s = deref(stream, "stream");
      require_same_device<B>(*p.device, *s.device, p.label, "the program");
      std::vector<tutti_operand> operands;
      read_operands(p.desc(), l, operands);
      validate_launch(p.desc(), l);
      launch_plan planned = p.plan(*p.device->info, l);
      if (p.layout.tiled) cut_tiles(p.layout, l.extent, l.inputs, l.outputs, planned);
      [[maybe_unused]] const typename B::scope scope(*p.device);
      typename B::recording recording(s, event);
      {
        const std::lock_guard lock(p.mutex);
        enqueue(p, l, planned, recording);
      }
      recording.finish();
    });
  }

  static constexpr tutti_program_api api = {
      sizeof(tutti_program_api), capabilities, supports, create, release, workspace, launch};

 private:
  static void compile(Program& p) {
    typename B::code code = B::build(*p.device, p.source, p.label);
    p.main = B::make_kernel(code, main_kernel);
    if (p.layout.reduces()) p.finish = B::make_kernel(code, finish_kernel);
    p.code = std::move(code);
  }

  static void set_operands(Program& p, const tutti_program_launch& l) {
    const uint32_t inputs = p.layout.inputs;
    for (uint32_t n = 0; n < inputs + p.layout.outputs; ++n) {
      const tutti_operand& operand = n < inputs ? l.inputs[n] : l.outputs[n - inputs];
      p.memory[n] = memory_on<B>(*p.device, operand.buffer, p.label.c_str());
      const typename B::buffer& buffer = *operand.buffer;
      p.check_operand(n, operand, l, buffer.bytes);
    }
  }

  static void set_workspace(Program& p, const tutti_program_launch& l, const launch_plan& planned) {
    const bool has_parts = planned.finish_groups > 0;
    // Without parts the kernel does not access the workspace, but drivers require a buffer.
    p.workspace = p.memory[p.layout.inputs];
    p.partial_offset = has_parts ? l.workspace_offset : 0;
    p.index_offset = p.partial_offset + planned.partial_at_offset;
    if (!has_parts) return;
    p.require_workspace(l, planned);
    p.workspace = memory_on<B>(*p.device, l.workspace, p.label.c_str());
    const typename B::buffer& buffer = *l.workspace;
    validate_span("workspace", l.workspace_offset, l.workspace_bytes, buffer.bytes);
  }

  static void enqueue(Program& p, const tutti_program_launch& l, const launch_plan& planned,
                      typename B::recording& recording) {
    set_operands(p, l);
    for (size_t n = 0; n < p.layout.scalar_bytes.size(); ++n)
      p.values[p.memory.size() + n] = &l.scalars[n];
    pack_geometry(p.layout, l.extent, l.inputs, l.outputs, planned, p.geometry.data());
    if (p.layout.reduces()) set_workspace(p, l, planned);
    const bool finishes = planned.finish_groups > 0;
    recording.launch(p.main, p.main_arguments(), planned.main_groups, p.layout.work_group,
                     !finishes, p.label.c_str());
    if (!finishes) return;
    recording.launch(p.finish, p.finish_arguments(), planned.finish_groups, p.layout.work_group,
                     true, p.label.c_str());
  }
};

}  // namespace tutti::sdk
