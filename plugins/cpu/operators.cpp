// SPDX-License-Identifier: Apache-2.0
//
// The operator group, run by the host engine; factorisations by LAPACK or, without it, plain loops.
#include "sdk/device_layer/operators.hpp"

#include "sdk/device_layer/matmul_call.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/host_engine/on_buffers.hpp"
#include "sdk/linear_algebra.hpp"
#include "sdk/validate.hpp"
#include "sdk/validate_operator.hpp"

struct tutti_plan {
  std::shared_ptr<const tutti::sdk::engine_operator> what;  // shared with queued launches
};

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

// Returns the description, or null and the reason in `against`. For products of complex numbers and
// halves the core uses other operations, which are faster than plain loops.
std::shared_ptr<const sdk::owned_operator> read_description(const tutti_device& device,
                                                            const tutti_operator_desc* desc,
                                                            const char*& against) {
  auto what = sdk::read_for_host(desc, against);
  if (!what || what->call().kind != TUTTI_OPERATOR_MATMUL) return what;
  against = sdk::against_matmul(*device.info, what->call());
  return against == nullptr ? what : nullptr;
}

tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    const char* against = nullptr;
    deref(support, "support") = TUTTI_SUPPORT_NO;
    if (read_description(deref(device, "device"), desc, against)) *support = TUTTI_SUPPORT_YES;
    if (reason != nullptr) *reason = against != nullptr ? against : "";
  });
}

tutti_status* create(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan) {
  return guarded([&] {
    deref(plan, "plan") = nullptr;
    const char* against = nullptr;
    auto what = read_description(deref(device, "device"), desc, against);
    if (!what) sdk::throw_unsupported(against);
    *plan = new tutti_plan{
        std::make_shared<sdk::engine_operator>(std::move(what), device->info->compute_units())};
  });
}

void release(tutti_plan* plan) { delete plan; }

tutti_status* workspace(tutti_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const uint64_t wanted = deref(plan, "plan").what->workspace_bytes();
    deref(bytes, "bytes") = wanted;
  });
}

std::byte* checked_workspace(const sdk::engine_operator& what, const sdk::operator_memory& memory) {
  const uint64_t wanted = what.workspace_bytes();
  if (wanted == 0) return nullptr;
  const char* name = sdk::operator_name(what.call().kind);
  const tutti_buffer& buffer = deref(memory.workspace.buffer, name);
  sdk::validate_workspace(memory, wanted, buffer.bytes, buffer_alignment, name);
  return buffer.memory + memory.workspace.offset;
}

tutti_status* launch(tutti_stream* stream, tutti_plan* plan, const tutti_operator_launch* given,
                     tutti_event** event) {
  return guarded([&] {
    const auto& what = deref(plan, "plan").what;
    const sdk::operator_memory memory = sdk::read_launch(given, what->call());
    const sdk::host_operator mine = what->on(memory, memory_of);
    std::byte* const scratch = checked_workspace(*what, memory);
    tutti_stream& line = deref(stream, "stream");
    sdk::thread_team& team = line.device->team;
    if (line.queue.is_idle() && what->expected_ns() < sdk::too_long_to_wait_ns)
      return run_now(line, event, [&] { what->run(mine, team, scratch); });
    enqueue(line, event, [what, mine, scratch, &team] { what->run(mine, team, scratch); });
  });
}

}  // namespace

const tutti_operator_api operator_api = {
    sizeof(tutti_operator_api), supports, create, release, workspace, launch};

}  // namespace tutti::host_device
