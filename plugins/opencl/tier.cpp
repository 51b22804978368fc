// SPDX-License-Identifier: Apache-2.0
//
// The tiers as the core sees them.
#include "opencl/plan.hpp"
#include "opencl/pocl.hpp"
#include "opencl/program.hpp"

namespace tutti::opencl {
namespace {

int32_t begins_on_host(tutti_device* device) { return device != nullptr && device->runs_on_host; }

template <class T>
int32_t is_on_host(T* work) {
  return work != nullptr && work->is_on_host();
}

template <class T>
uint64_t cost_of(T* work) {
  return work != nullptr ? work->cost() : 0;
}

template <class T>
tutti_status* promote(T* work) {
  return sdk::guarded([&] {
    T& wanted = sdk::deref(work, "what is to be compiled");
    if (is_pocl(wanted.device->info->driver))
      if (const std::string why = against_compiling(); !why.empty())
        throw sdk::plugin_error(TUTTI_ERROR_COMPILE, why);
    wanted.promote();
  });
}

template <class T>
int32_t can_be_left(T* work) {
  return work != nullptr && keeps_programs(work->device->info->driver) &&
         work->compile_time() >= sdk::usual_compile_ns;
}

int32_t ran_on_host(tutti_event* event) { return event != nullptr && event->on_host; }

}  // namespace

const tutti_tier_api tier_api = {
    sizeof(tutti_tier_api),     begins_on_host,         is_on_host<tutti_program>,
    is_on_host<tutti_plan>,     cost_of<tutti_program>, cost_of<tutti_plan>,
    promote<tutti_program>,     promote<tutti_plan>,    ran_on_host,
    can_be_left<tutti_program>, can_be_left<tutti_plan>};

}  // namespace tutti::opencl
