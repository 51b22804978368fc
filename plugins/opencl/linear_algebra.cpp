// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra on CPU devices: LAPACK over the device's own memory, as a command of the queue.
#include "sdk/linear_algebra.hpp"

#include <memory>

#include "opencl/host_matrices.hpp"
#include "opencl/lapack.hpp"
#include "opencl/objects.hpp"

namespace tutti::opencl {
namespace {

bool runs_host_functions(const device_info& info) {
  cl_device_exec_capabilities can = 0;
  return clGetDeviceInfo(info.id, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, nullptr) ==
             CL_SUCCESS &&
         (can & CL_EXEC_NATIVE_KERNEL) != 0;
}

// One launch. Lives from its enqueueing until it has run.
struct job {
  sdk::owned_operator what;
  std::byte* operands[sdk::most_operands];
  unsigned threads;
  sdk::shared_outcome outcome;
};

void CL_CALLBACK run_job(void* arguments) {
  const std::unique_ptr<job> mine(*static_cast<job**>(arguments));
  std::optional<sdk::plugin_error> failure;
  try {
    const sdk::operator_call call = mine->what.call();
    run_by_lapack(*find_lapack(), call, mine->operands, mine->threads);
  } catch (const sdk::plugin_error& e) {
    failure = e;
  } catch (const std::bad_alloc&) {
    failure = sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory", 0, true);
  } catch (const std::exception& e) {
    failure = sdk::plugin_error(TUTTI_ERROR_INTERNAL, e.what());
  }
  mine->outcome->settle(failure);
}

}  // namespace

bool backend::matrices_supported(tutti_device& device, const sdk::operator_call& call,
                                 const char** reason) {
  const device_info& info = *device.info;
  const char* against = nullptr;
  if (info.kind != sdk::schedule::cpu || !device.works_in_place || !runs_host_functions(info))
    against = "linear algebra: only on CPU devices that compute in the host's memory";
  else if (find_lapack() == nullptr)
    against = "linear algebra: neither libopenblas.so.0 nor liblapack.so.3 was found";
  else if (!fits_lapack(call))
    against = "linear algebra: matrices of 2^28 elements and more";
  if (against != nullptr && reason != nullptr) *reason = against;
  return against == nullptr;
}

void backend::matrices(tutti_stream& stream, const sdk::owned_operator& what,
                       const sdk::operator_memory& memory, tutti_event** event) {
  auto work = std::make_unique<job>(job{what,
                                        {},
                                        stream.device->info->properties.compute_units,
                                        std::make_shared<sdk::event_outcome>()});
  const sdk::operator_call call = what.call();
  for (uint32_t n = 0; n < call.view_count; ++n) {
    const tutti_range& range = memory.operands[n];
    if (range.buffer->host == nullptr)
      sdk::throw_unsupported("linear algebra: memory that the host does not see");
    work->operands[n] = static_cast<std::byte*>(range.buffer->host) + range.offset;
  }
  sdk::outcomes behind = stream.awaited.open();
  behind.push_back(work->outcome);
  job* argument = work.get();
  cl_event done = nullptr;
  check(clEnqueueNativeKernel(stream.queue, run_job, &argument, sizeof argument, 0, nullptr,
                              nullptr, 0, nullptr, event != nullptr ? &done : nullptr),
        "clEnqueueNativeKernel");
  static_cast<void>(work.release());  // run_job's
  if (event != nullptr)
    *event = publish(owned_event(done), behind);
  else
    stream.awaited.add({behind.back()});
}

}  // namespace tutti::opencl
