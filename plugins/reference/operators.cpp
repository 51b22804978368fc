// SPDX-License-Identifier: Apache-2.0
//
// The operator group: the plain loops of the SDK.
#include <memory>

#include "sdk/host_device/objects.hpp"
#include "sdk/host_layer/host_operator.hpp"
#include "sdk/validate.hpp"

struct tutti_plan {
  std::shared_ptr<const tutti::sdk::owned_operator> what;  // kept by queued launches
};

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    deref(device, "device");
    deref(support, "support") = TUTTI_SUPPORT_NO;
    const char* against = nullptr;
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
    *plan = new tutti_plan{std::move(what)};
  });
}

void release(tutti_plan* plan) { delete plan; }

tutti_status* workspace(tutti_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    deref(plan, "plan");
    deref(bytes, "bytes") = 0;
  });
}

tutti_status* launch_operator(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* given, tutti_event** event) {
  return guarded([&] {
    const auto what = deref(plan, "plan").what;
    sdk::host_operator work(what, sdk::read_launch(given, what->call()), memory_of);
    tutti_stream& line = deref(stream, "stream");
    enqueue(line, event, [work = std::move(work), &team = line.device->team] { work.run(team); });
  });
}

}  // namespace

const tutti_operator_api operator_api = {
    sizeof(tutti_operator_api), supports, create, release, workspace, launch_operator};

}  // namespace tutti::host_device
