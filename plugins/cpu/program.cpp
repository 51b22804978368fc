// SPDX-License-Identifier: Apache-2.0
//
// The program group: fused programs by the host engine, short ones in the thread that launches
// them.
#include "sdk/capabilities.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/host_engine/on_buffers.hpp"
#include "sdk/owned_launch.hpp"

struct tutti_program {
  std::shared_ptr<const tutti::sdk::engine_program> engine;  // kept by launches in line
};

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

tutti_status* capabilities(tutti_device* device, tutti_program_capabilities* result) {
  return guarded([&] {
    deref(device, "device");
    sdk::write_struct(result, sdk::programs_in(computed_dtypes).capabilities(), "capabilities");
  });
}

tutti_status* supports(tutti_device* device, const tutti_program_desc* desc, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    deref(device, "device");
    deref(support, "support") =
        sdk::supports_program(sdk::programs_in(computed_dtypes), limits, desc, reason);
  });
}

tutti_status* create(tutti_device* device, const tutti_program_desc* desc,
                     tutti_program** program) {
  return guarded([&] {
    const uint32_t units = deref(device, "device").info->compute_units();
    deref(program, "program") = nullptr;
    sdk::program_description mine(desc, limits);
    *program = new tutti_program{std::make_shared<sdk::engine_program>(std::move(mine), units)};
  });
}

void release(tutti_program* program) { delete program; }

tutti_status* workspace(tutti_program* program, const tutti_program_launch*, uint64_t* bytes) {
  return guarded([&] {
    deref(program, "program");
    deref(bytes, "bytes") = 0;
  });
}

tutti_status* launch(tutti_stream* stream, tutti_program* program,
                     const tutti_program_launch* given, tutti_event** event) {
  return guarded([&] {
    tutti_program_launch mine = sdk::read_struct(given, "program launch");
    const auto& engine = deref(program, "program").engine;
    std::vector<tutti_operand> operands;
    sdk::read_operands(engine->desc(), mine, operands);
    sdk::validate_launch(engine->desc(), mine);
    tutti_stream& line = deref(stream, "stream");
    sdk::thread_team& team = line.device->team;
    if (line.queue.is_idle() && engine->expected_ns(mine) < sdk::too_long_to_wait_ns)
      return run_now(line, event, [&] { engine->run(mine, memory_of, team); });
    enqueue(line, event, [engine, kept = sdk::owned_program_launch(engine->desc(), mine), &team] {
      engine->run(kept.get(), memory_of, team);
    });
  });
}

// Nothing is generated here.
const char* source(tutti_program*) { return nullptr; }

}  // namespace

const tutti_program_api program_api = {
    sizeof(tutti_program_api), capabilities, supports, create, release, workspace, launch, source};

}  // namespace tutti::host_device
