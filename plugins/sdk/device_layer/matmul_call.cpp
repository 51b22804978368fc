// SPDX-License-Identifier: Apache-2.0
//
// Converts views to element types, extents and strides.
#include "sdk/device_layer/matmul_call.hpp"

#include "sdk/op_info.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

MatmulElement element_of(int32_t dtype) {
  if (dtype == TUTTI_F32) return MatmulElement::f32;
  if (dtype == TUTTI_F64) return MatmulElement::f64;
  const uint32_t bytes = dtype_size(dtype);
  return bytes == 1   ? MatmulElement::int8
         : bytes == 2 ? MatmulElement::int16
         : bytes == 4 ? MatmulElement::int32
                      : MatmulElement::int64;
}

MatmulOperand operand_of(const tutti_view& view) {
  return {view.stride[0], view.stride[1], view.stride[2]};
}

}  // namespace

const char* against_matmul(const device_description& device, const operator_call& call) {
  const int32_t dtype = call.views[0].dtype;
  if (dtype > TUTTI_F64)
    return "matmul: complex products are left to the host, which makes them of real ones";
  if (dtype == TUTTI_BOOL || (device.properties.computed_dtypes & TUTTI_DTYPE_BIT(dtype)) == 0)
    return "matmul: only numeric dtypes that this device computes in";
  return against_epilogue(call);
}

MatmulDevice matmul_device(const device_description& device) {
  MatmulDevice machine;
  machine.cpu = device.kind == schedule::cpu;
  machine.compute_units = static_cast<int>(device.properties.compute_units);
  machine.vector_bytes = static_cast<int>(device.vector_bytes);
  machine.max_work_group_size = device.properties.max_work_group_size;
  return machine;
}

MatmulProblem matmul_problem(const operator_call& l) {
  MatmulProblem problem;
  problem.element = element_of(l.views[0].dtype);
  problem.batches = static_cast<int64_t>(l.views[0].extent[0]);
  problem.rows = static_cast<int64_t>(l.views[0].extent[1]);
  problem.cols = static_cast<int64_t>(l.views[0].extent[2]);
  problem.depth = static_cast<int64_t>(l.views[1].extent[2]);
  problem.a = operand_of(l.views[1]);
  problem.b = operand_of(l.views[2]);
  const tutti_matmul_params params = matmul_params(l);
  problem.relu = params.activation == TUTTI_ACTIVATION_RELU;
  problem.has_bias = params.has_bias != 0;
  return problem;
}

}  // namespace tutti::sdk
