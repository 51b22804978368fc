// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: CLBlast where the device is a GPU and CLBlast is right on it, else the plans of
// matmul_plan.hpp on this plugin's own kernels.
#include <cstring>

#include "embedded_kernels.hpp"
#include "opencl/clblast.hpp"
#include "opencl/matmul_plan.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::opencl {
namespace {

MatmulElement element_of(int32_t dtype) {
  switch (dtype) {
    case TUTTI_F32:
      return MatmulElement::f32;
    case TUTTI_F64:
      return MatmulElement::f64;
    default:
      break;
  }
  switch (sdk::dtype_size(dtype)) {
    case 1:
      return MatmulElement::int8;
    case 2:
      return MatmulElement::int16;
    case 4:
      return MatmulElement::int32;
    default:
      return MatmulElement::int64;
  }
}

MatmulDevice machine_of(const device_info& info) {
  MatmulDevice machine;
  machine.cpu = info.kind == sdk::schedule::cpu;
  machine.compute_units = static_cast<int>(info.properties.compute_units);
  machine.vector_bytes = static_cast<int>(info.vector_bytes);
  machine.max_work_group_size = info.properties.max_work_group_size;
  return machine;
}

MatmulOperand operand_of(const tutti_view& view) {
  return {view.stride[0], view.stride[1], view.stride[2]};
}

MatmulProblem problem_of(const sdk::operator_call& l) {
  MatmulProblem problem;
  problem.element = element_of(l.views[0].dtype);
  problem.batches = static_cast<int64_t>(l.views[0].extent[0]);
  problem.rows = static_cast<int64_t>(l.views[0].extent[1]);
  problem.cols = static_cast<int64_t>(l.views[0].extent[2]);
  problem.depth = static_cast<int64_t>(l.views[1].extent[2]);
  problem.a = operand_of(l.views[1]);
  problem.b = operand_of(l.views[2]);
  const tutti_matmul_params params = sdk::matmul_params(l);
  problem.relu = params.activation == TUTTI_ACTIVATION_RELU;
  problem.has_bias = params.has_bias != 0;
  return problem;
}

std::string_view kernel_file(const char* name) {
  return std::strcmp(name, "matmul_cpu") == 0 ? kernels::matmul_cpu_cl : kernels::matmul_gpu_cl;
}

constexpr size_t output = 0, left = 1, right = 2, bias = 3;  // numbers of the operands

const tutti_range& range_of(MatmulArgument::Kind kind, const sdk::operator_memory& memory) {
  switch (kind) {
    case MatmulArgument::Kind::a:
      return memory.operands[left];
    case MatmulArgument::Kind::b:
      return memory.operands[right];
    case MatmulArgument::Kind::c:
      return memory.operands[output];
    case MatmulArgument::Kind::bias:
      return memory.operands[bias];
    default:
      return memory.workspace;
  }
}

void set_arguments(cl_kernel kernel, const MatmulLaunch& step, const sdk::operator_memory& memory,
                   uint64_t element_bytes) {
  cl_uint n = 0;
  for (const MatmulArgument& argument : step.arguments) {
    const tutti_range& range = range_of(argument.of, memory);
    switch (argument.kind) {
      case MatmulArgument::Kind::integer:
        set_argument(kernel, n++, argument.value);
        break;
      case MatmulArgument::Kind::place:
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
                              const MatmulLaunch& step) {
  return device.kernel(kernel_file(product.program.file), product.program.options, step.kernel);
}

}  // namespace

bool backend::matmul_supported(tutti_device& device, const sdk::operator_call& launch,
                               const char** reason) {
  const int32_t dtype = launch.views[0].dtype;
  const char* against = sdk::against_epilogue(launch);
  if (dtype > TUTTI_F64) {
    against = "matmul: complex products are left to the host, which makes them of real ones";
  } else if (dtype == TUTTI_BOOL ||
             (device.info->properties.computed_dtypes & TUTTI_DTYPE_BIT(dtype)) == 0) {
    against = "matmul: only numeric dtypes that this device computes in";
  } else if (against == nullptr && problem_of(launch).has_epilogue() &&
             clblast_serves(device, launch)) {
    against = "matmul: CLBlast has no epilogues";
  }
  if (against == nullptr) return true;
  *reason = against;
  return false;
}

prepared_product backend::prepare_matmul(tutti_device& device, const sdk::operator_call& call) {
  const MatmulProblem problem = problem_of(call);
  const MatmulDevice machine = machine_of(*device.info);
  prepared_product p;
  p.by_clblast = !problem.has_epilogue() && clblast_serves(device, call);
  p.plan = plan_matmul(problem, machine);
  p.program = matmul_program(problem, machine);
  if (p.by_clblast) return p;
  for (const MatmulLaunch& step : p.plan.launches)
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
    const MatmulLaunch& step = launches[n];
    shared_kernel& kernel = product.kernels.empty() ? kernel_of_step(*stream.device, product, step)
                                                    : *product.kernels[n];
    const std::lock_guard lock(kernel.mutex);
    set_arguments(kernel.kernel.get(), step, memory, element_bytes);
    const bool last = n + 1 == launches.size();
    cl_event done = nullptr;
    check(clEnqueueNDRangeKernel(stream.queue, kernel.kernel.get(), step.dimensions, nullptr,
                                 step.global.data(), step.local.data(), 0, nullptr,
                                 last && event != nullptr ? &done : nullptr),
          "matmul");
    if (last && event != nullptr) *event = hand_out(stream, done);
  }
}

}  // namespace tutti::opencl
