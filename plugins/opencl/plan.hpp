// SPDX-License-Identifier: Apache-2.0
//
// Operators: by their kernels, and where the device computes in the host's memory by the host
// engine, until the kernels are compiled.
#pragma once

#include "opencl/host_tier.hpp"
#include "sdk/device_layer/operator_table.hpp"

namespace tutti::opencl {

struct host_operator;

using operator_functions = sdk::operator_functions<backend, tutti_plan>;

}  // namespace tutti::opencl

struct tutti_plan : tutti::sdk::device_plan<tutti::opencl::backend> {
  using device_plan::device_plan;

  bool begins_without_code();
  bool runs_without_code(tutti_stream& stream, const tutti::sdk::operator_memory& memory);
  void run_without_code(tutti_stream& stream, const tutti::sdk::operator_memory& memory,
                        tutti_event** event);
  bool is_on_host() const { return !has_code_.load(std::memory_order_acquire); }
  uint64_t cost() const;
  uint64_t compile_time() const;  // as far as it is known, ns
  void promote();

 private:
  void warm_up();

  std::shared_ptr<tutti::opencl::host_operator> host_;  // none: it is compiled when it is made
  std::atomic<bool> has_code_ = true;
  std::mutex building_;
};
