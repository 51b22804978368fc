// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of the ABI as problems of matmul_plan.hpp.
#pragma once

#include "sdk/device_layer/description.hpp"
#include "sdk/device_layer/matmul_plan.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// The reason why the kernels do not support a product that has passed check_operator, or null.
const char* against_matmul(const device_description& device, const operator_call& call);
/// For a product without such a reason.
MatmulProblem matmul_problem(const operator_call& call);
MatmulDevice matmul_device(const device_description& device);

}  // namespace tutti::sdk
