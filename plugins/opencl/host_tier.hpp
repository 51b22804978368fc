// SPDX-License-Identifier: Apache-2.0
//
// Fused programs by the host engine, as native kernels: in a queue's order, on the memory of its
// buffers, with its events.
#pragma once

#include <atomic>
#include <memory>

#include "opencl/objects.hpp"
#include "sdk/host_engine/host_engine.hpp"

namespace tutti::opencl {

class host_tier {
 public:
  /// Throws TUTTI_ERROR_UNSUPPORTED where the host engine lacks an instruction of the program.
  explicit host_tier(const tutti_program_desc& desc);

  /// Enqueues a launch that has been validated with its ranges; `memory` is that of the inputs,
  /// then of the outputs. `event` may be NULL. A launch that finds no memory for its registers
  /// fails its event.
  void launch(tutti_stream& stream, const sdk::program_layout& layout,
              const tutti_program_launch& launch, const std::vector<cl_mem>& memory,
              tutti_event** event, const char* label) const;
  /// What all launches that are done have taken together.
  double seconds() const { return static_cast<double>(work_->nanoseconds) * 1e-9; }

 private:
  struct work {
    explicit work(const tutti_program_desc& desc) : program(desc) {}
    const sdk::host_program program;
    std::atomic<uint64_t> nanoseconds{0};
  };
  struct job;
  static void CL_CALLBACK run(void* arguments);

  std::shared_ptr<work> work_;  // launches outlive the program that they are of
};

}  // namespace tutti::opencl
