// SPDX-License-Identifier: Apache-2.0
//
// Fused programs: by their kernels, and where the device computes in the host's memory by the host
// engine, until the kernels are compiled.
#pragma once

#include "opencl/host_tier.hpp"
#include "sdk/device_layer/program_table.hpp"

namespace tutti::opencl {

struct host_code;
using program_functions = sdk::program_functions<backend, tutti_program>;

}  // namespace tutti::opencl

struct tutti_program : tutti::sdk::device_program<tutti::opencl::backend> {
  bool begins_without_code();
  bool runs_without_code(tutti_stream& stream, const tutti_program_launch& l);
  void run_without_code(tutti_stream& stream, const tutti_program_launch& l, tutti_event** event);
  void promote();
  bool is_on_host() const { return !has_code_.load(std::memory_order_acquire); }
  uint64_t cost() const;
  uint64_t compile_time() const;  // as far as it is known, ns

 private:
  void warm_up(const tutti::opencl::built_kernel& kernel, bool finishes);

  std::shared_ptr<tutti::opencl::host_code> host_;  // none: it is compiled when it is made
  std::atomic<bool> has_code_ = true;
  std::mutex building_;
};
