// SPDX-License-Identifier: Apache-2.0
//
// The program group: checks and copies fused programs, and runs them with the SDK's host engine.
#include <tutti/sdk/capabilities.hpp>
#include <tutti/sdk/host_engine/on_buffers.hpp>
#include <tutti/sdk/owned_launch.hpp>
#include <vector>

#include "objects.hpp"

struct tutti_program {
  std::shared_ptr<const tutti::sdk::engine_program> engine;  // shared with queued launches
};

namespace threads {
namespace {

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
    deref(device, "device");
    deref(program, "program") = nullptr;
    sdk::program_description mine(desc, limits);
    *program = new tutti_program{std::make_shared<sdk::engine_program>(std::move(mine), cores())};
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
    const auto engine = deref(program, "program").engine;
    const tutti_program_desc& desc = engine->desc();
    tutti_program_launch mine = sdk::read_struct(given, "program launch");
    std::vector<tutti_operand> operands;
    sdk::read_operands(desc, mine, operands);
    sdk::validate_launch(desc, mine);
    sdk::owned_program_launch kept(desc, mine);
    tutti_stream& line = deref(stream, "stream");
    enqueue(line, event,
            [engine, kept, team = line.team] { engine->run(kept.get(), memory_of, *team); });
  });
}

// No code is generated.

}  // namespace

const tutti_program_api program_api = {
    sizeof(tutti_program_api), capabilities, supports, create, release, workspace, launch};

}  // namespace threads
