// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: CLBlast where the device is a GPU and CLBlast is right on it, else the plans of
// matmul_plan.hpp on this plugin's own kernels.
#include <cstring>

#include "embedded_kernels.hpp"
#include "opencl/clblast.hpp"
#include "opencl/matmul_plan.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate.hpp"
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
  return {static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype)), view.stride[0],
          view.stride[1], view.stride[2]};
}

MatmulProblem problem_of(const tutti_operator_launch& l) {
  MatmulProblem problem;
  problem.element = element_of(l.views[0].dtype);
  problem.batches = static_cast<int64_t>(l.views[0].extent[0]);
  problem.rows = static_cast<int64_t>(l.views[0].extent[1]);
  problem.cols = static_cast<int64_t>(l.views[0].extent[2]);
  problem.depth = static_cast<int64_t>(l.views[1].extent[2]);
  problem.a = operand_of(l.views[1]);
  problem.b = operand_of(l.views[2]);
  problem.c_offset = operand_of(l.views[0]).offset;
  const tutti_matmul_params params = sdk::matmul_params(l);
  problem.relu = params.activation == TUTTI_ACTIVATION_RELU;
  problem.has_bias = params.has_bias != 0;
  if (problem.has_bias) problem.bias_offset = operand_of(l.views[3]).offset;
  return problem;
}

std::string_view kernel_file(const char* name) {
  return std::strcmp(name, "matmul_cpu") == 0 ? kernels::matmul_cpu_cl : kernels::matmul_gpu_cl;
}

// The workspace as a buffer that starts where the host said.
owned_memory workspace_of(const tutti_device& device, const tutti_operator_launch& l,
                          uint64_t bytes) {
  const cl_mem memory = memory_on(device, l.workspace, "matmul workspace");
  if (l.workspace_bytes < bytes) {
    sdk::throw_invalid("matmul: workspace of " + std::to_string(l.workspace_bytes) +
                       " bytes, needs " + std::to_string(bytes));
  }
  sdk::validate_span("matmul workspace", l.workspace_offset, bytes, l.workspace->bytes);
  if (l.workspace_offset == 0) {
    check(clRetainMemObject(memory), "clRetainMemObject");
    return owned_memory(memory);
  }
  const cl_buffer_region region{l.workspace_offset, bytes};
  cl_int code = CL_SUCCESS;
  owned_memory part(
      clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  check(code, "matmul workspace: clCreateSubBuffer");
  return part;
}

void set_arguments(cl_kernel kernel, const MatmulLaunch& step, const tutti_view* views,
                   cl_mem workspace) {
  cl_uint n = 0;
  for (const MatmulArgument& argument : step.arguments) {
    switch (argument.kind) {
      case MatmulArgument::Kind::a:
        set_argument(kernel, n++, views[1].buffer->memory);
        break;
      case MatmulArgument::Kind::b:
        set_argument(kernel, n++, views[2].buffer->memory);
        break;
      case MatmulArgument::Kind::c:
        set_argument(kernel, n++, views[0].buffer->memory);
        break;
      case MatmulArgument::Kind::bias:
        set_argument(kernel, n++, views[3].buffer->memory);
        break;
      case MatmulArgument::Kind::workspace:
        set_argument(kernel, n++, workspace);
        break;
      case MatmulArgument::Kind::integer:
        set_argument(kernel, n++, argument.value);
        break;
    }
  }
}

}  // namespace

bool backend::matmul_supported(tutti_device& device, const tutti_operator_launch& launch,
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

uint64_t backend::matmul_workspace(tutti_device& device, const tutti_operator_launch& launch) {
  const MatmulPlan plan = plan_matmul(problem_of(launch), machine_of(*device.info));
  return static_cast<uint64_t>(plan.workspace_bytes);
}

void backend::matmul(tutti_stream& stream, const tutti_operator_launch& launch,
                     tutti_event** event) {
  tutti_device& device = *stream.device;
  const MatmulProblem problem = problem_of(launch);
  if (!problem.has_epilogue() && clblast_matmul(stream, launch, event)) return;
  const MatmulDevice machine = machine_of(*device.info);
  const MatmulPlan plan = plan_matmul(problem, machine);
  if (plan.launches.empty()) return recording(stream, event).finish();
  const MatmulProgram program = matmul_program(problem, machine);
  owned_memory workspace;
  if (plan.workspace_bytes > 0) {
    workspace = workspace_of(device, launch, static_cast<uint64_t>(plan.workspace_bytes));
  }
  for (size_t n = 0; n < plan.launches.size(); ++n) {
    const MatmulLaunch& step = plan.launches[n];
    shared_kernel& kernel = device.kernel(kernel_file(program.file), program.options, step.kernel);
    const std::lock_guard lock(kernel.mutex);
    set_arguments(kernel.kernel.get(), step, launch.views, workspace.get());
    const bool last = n + 1 == plan.launches.size();
    cl_event done = nullptr;
    check(clEnqueueNDRangeKernel(stream.queue, kernel.kernel.get(), step.dimensions, nullptr,
                                 step.global.data(), step.local.data(), 0, nullptr,
                                 last && event != nullptr ? &done : nullptr),
          "matmul");
    if (last && event != nullptr) *event = to_event(done);
  }
}

}  // namespace tutti::opencl
