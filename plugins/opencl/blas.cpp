// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: CLBlast if the device is a GPU on which CLBlast is correct, otherwise the plans
// of sdk/device_layer/matmul_plan.hpp with this plugin's own kernels.
#include "embedded_kernels.hpp"
#include "opencl/clblast.hpp"
#include "sdk/device_layer/matmul_call.hpp"
#include "sdk/op_info.hpp"

namespace tutti::opencl {
namespace {

constexpr size_t output = 0, left = 1, right = 2, bias = 3;  // indices of the operands

const tutti_range& range_of(sdk::MatmulArgument::Kind kind, const sdk::operator_memory& memory) {
  switch (kind) {
    case sdk::MatmulArgument::Kind::a:
      return memory.operands[left];
    case sdk::MatmulArgument::Kind::b:
      return memory.operands[right];
    case sdk::MatmulArgument::Kind::c:
      return memory.operands[output];
    case sdk::MatmulArgument::Kind::bias:
      return memory.operands[bias];
    default:
      return memory.workspace;
  }
}

void set_arguments(cl_kernel kernel, const sdk::MatmulLaunch& step,
                   const sdk::operator_memory& memory, uint64_t element_bytes) {
  cl_uint n = 0;
  for (const sdk::MatmulArgument& argument : step.arguments) {
    const tutti_range& range = range_of(argument.of, memory);
    switch (argument.kind) {
      case sdk::MatmulArgument::Kind::integer:
        set_argument(kernel, n++, argument.value);
        break;
      case sdk::MatmulArgument::Kind::place:
        set_argument(kernel, n++,
                     argument.value + static_cast<int64_t>(range.offset / element_bytes));
        break;
      default:
        set_argument(kernel, n++, range.buffer->memory);
        break;
    }
  }
}

shared_kernel& kernel_of_step(tutti_device& device, const prepared_product& product,
                              const sdk::MatmulLaunch& step) {
  const bool cpu = device.info->kind == sdk::schedule::cpu;
  return device.kernel(cpu ? kernels::matmul_cpu_cl : kernels::matmul_gpu_cl, product.options,
                       step.kernel);
}

}  // namespace

bool backend::matmul_supported(tutti_device& device, const sdk::operator_call& launch,
                               const char** reason) {
  const char* against = sdk::against_matmul(*device.info, launch);
  if (against == nullptr && sdk::matmul_problem(launch).has_epilogue() &&
      clblast_serves(device, launch)) {
    against = "matmul: CLBlast has no epilogues";
  }
  if (against == nullptr) return true;
  *reason = against;
  return false;
}

prepared_product backend::prepare_matmul(tutti_device& device, const sdk::operator_call& call) {
  const sdk::MatmulProblem problem = sdk::matmul_problem(call);
  const sdk::MatmulDevice machine = sdk::matmul_device(*device.info);
  prepared_product p;
  p.by_clblast = !problem.has_epilogue() && clblast_serves(device, call);
  p.plan = plan_matmul(problem, machine);
  p.options = matmul_options(problem, machine);
  if (p.by_clblast) return p;
  for (const sdk::MatmulLaunch& step : p.plan.launches)
    p.kernels.push_back(&kernel_of_step(device, p, step));
  return p;
}

uint64_t backend::matmul_workspace(const prepared_product& product) {
  return static_cast<uint64_t>(product.plan.workspace_bytes);
}

void backend::matmul(tutti_stream& stream, const sdk::operator_call& call,
                     const prepared_product& product, const sdk::operator_memory& memory,
                     tutti_event** event) {
  if (product.by_clblast && clblast_matmul(stream, call, memory, event)) return;
  const auto& launches = product.plan.launches;
  if (launches.empty()) return recording(stream, event).finish();
  const uint64_t element_bytes = sdk::dtype_size(call.views[0].dtype);
  for (size_t n = 0; n < launches.size(); ++n) {
    const sdk::MatmulLaunch& step = launches[n];
    shared_kernel& kernel = product.kernels.empty() ? kernel_of_step(*stream.device, product, step)
                                                    : *product.kernels[n];
    const std::lock_guard lock(kernel.mutex);
    set_arguments(kernel.kernel.handle.get(), step, memory, element_bytes);
    const bool last = n + 1 == launches.size();
    cl_event done = nullptr;
    const bool wanted = last && event != nullptr;
    enqueue(stream.queue, kernel.kernel, {step.dimensions, step.global.data(), step.local.data()},
            wanted ? &done : nullptr, "matmul");
    if (wanted) *event = hand_out(stream, done);
  }
}

}  // namespace tutti::opencl
