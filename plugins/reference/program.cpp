// SPDX-License-Identifier: Apache-2.0
//
// The program group: checks what comes in, keeps a copy, and hands launches to the
// interpreter of the SDK.
#include "sdk/capabilities.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/host_layer/program_interpreter.hpp"
#include "sdk/owned_launch.hpp"
#include "sdk/program_description.hpp"

struct tutti_program {
  std::shared_ptr<const tutti::sdk::program_interpreter> program;  // kept by launches in line
};

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

// Short enough for the thread that brings it: some tens of microseconds, what another thread takes
// to wake.
bool is_short(const tutti_program_desc& desc, const tutti_program_launch& launch) {
  constexpr double most_steps = 4096;
  double steps = 2 + desc.instruction_count;
  for (uint32_t d = 0; d < desc.kept_rank + desc.reduced_rank; ++d)
    steps *= static_cast<double>(launch.extent[d]);
  return steps <= most_steps;
}

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
    *program = new tutti_program{
        std::make_shared<sdk::program_interpreter>(sdk::program_description(desc, limits))};
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
    const auto plain = deref(program, "program").program;
    std::vector<tutti_operand> operands;
    sdk::read_operands(plain->desc(), mine, operands);
    sdk::validate_launch(plain->desc(), mine);
    tutti_stream& line = deref(stream, "stream");
    if (line.queue.is_idle() && is_short(plain->desc(), mine))
      return run_now(line, event, [&] { plain->run(mine, memory_of, line.device->team); });
    enqueue(line, event,
            [plain, copy = sdk::owned_program_launch(plain->desc(), mine),
             &team = line.device->team] { plain->run(copy.get(), memory_of, team); });
  });
}

// Nothing is generated here.
const char* source(tutti_program*) { return nullptr; }

}  // namespace

const tutti_program_api program_api = {
    sizeof(tutti_program_api), capabilities, supports, create, release, workspace, launch, source};

}  // namespace tutti::host_device
