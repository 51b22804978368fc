// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra on CPU devices: LAPACK over the device's own memory.
#include "sdk/linear_algebra.hpp"

#include <array>

#include "opencl/host_work.hpp"
#include "sdk/host_engine/lapack.hpp"
#include "sdk/host_engine/lapack_matrices.hpp"
#include "sdk/host_layer/thread_team.hpp"

namespace tutti::opencl {

bool backend::matrices_supported(tutti_device& device, const sdk::operator_call& call,
                                 const char** reason) {
  const device_info& info = *device.info;
  const char* against = nullptr;
  if (info.kind != sdk::schedule::cpu || !device.works_in_place)
    against = "linear algebra: only on CPU devices that compute in the host's memory";
  else if (sdk::find_lapack() == nullptr)
    against = "linear algebra: neither libopenblas.so.0 nor liblapack.so.3 was found";
  else if (!sdk::fits_lapack(call))
    against = "linear algebra: matrices of 2^28 elements and more";
  if (against != nullptr && reason != nullptr) *reason = against;
  return against == nullptr;
}

void backend::matrices(tutti_stream& stream, const sdk::owned_operator& what,
                       const sdk::operator_memory& memory, tutti_event** event) {
  std::array<std::byte*, sdk::most_operands> operands{};
  for (uint32_t n = 0; n < what.call().view_count; ++n) {
    const tutti_range& range = memory.operands[n];
    if (range.buffer->host == nullptr)
      sdk::throw_unsupported("linear algebra: memory that the host does not see");
    operands[n] = static_cast<std::byte*>(range.buffer->host) + range.offset;
  }
  const auto run = [what, operands, threads = stream.device->info->properties.compute_units] {
    static auto* const team = new sdk::thread_team(threads);
    sdk::run_by_lapack(*sdk::find_lapack(), what.call(), operands.data(), *team);
  };
  run_on_host(stream, run, event);
}

}  // namespace tutti::opencl
