// SPDX-License-Identifier: Apache-2.0
//
// The operator group: products, gathers, scans, sorts and others, run by the SDK's host engine.
#include <tutti/sdk/host_engine/on_buffers.hpp>
#include <utility>

#include "objects.hpp"

struct tutti_plan {
  std::shared_ptr<const tutti::sdk::engine_operator> what;  // shared with queued launches
};

namespace threads {
namespace {

tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    deref(device, "device");
    const char* against = nullptr;
    deref(support, "support") = TUTTI_SUPPORT_NO;
    if (sdk::read_for_host(desc, against)) *support = TUTTI_SUPPORT_YES;
    if (reason != nullptr) *reason = against != nullptr ? against : "";
  });
}

tutti_status* create(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan) {
  return guarded([&] {
    deref(device, "device");
    deref(plan, "plan") = nullptr;
    const char* against = nullptr;
    auto what = sdk::read_for_host(desc, against);
    if (!what) sdk::throw_unsupported(against);
    *plan = new tutti_plan{std::make_shared<sdk::engine_operator>(std::move(what), cores())};
  });
}

void release(tutti_plan* plan) { delete plan; }

tutti_status* workspace(tutti_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    deref(plan, "plan");
    deref(bytes, "bytes") = 0;
  });
}

tutti_status* launch(tutti_stream* stream, tutti_plan* plan, const tutti_operator_launch* given,
                     tutti_event** event) {
  return guarded([&] {
    const auto what = deref(plan, "plan").what;
    const auto mine = what->on(sdk::read_launch(given, what->call()), memory_of);
    tutti_stream& line = deref(stream, "stream");
    enqueue(line, event, [what, mine, team = line.team] { what->run(mine, *team); });
  });
}

}  // namespace

const tutti_operator_api operator_api = {
    sizeof(tutti_operator_api), supports, create, release, workspace, launch};

}  // namespace threads
