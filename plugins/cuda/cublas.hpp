// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with cuBLASLt, if it is installed.
#pragma once

#include "cuda/objects.hpp"

namespace tutti::cuda {

// Queries cuBLASLt for the product of operands at aligned addresses. NULL if it is not installed or
// does not support the views.
std::shared_ptr<const cublas_plan> cublas_prepare(tutti_device& device,
                                                  const sdk::operator_call& call);
uint64_t cublas_workspace(const cublas_plan& plan);
// False if it does not support these addresses.
bool cublas_matmul(tutti_stream& stream, const sdk::operator_call& call,
                   const std::shared_ptr<const cublas_plan>& plan,
                   const sdk::operator_memory& memory, tutti_event** event);
// Whether it supports the product but not its epilogue.
bool cublas_leaves_epilogue(tutti_device& device, const sdk::operator_call& call);

}  // namespace tutti::cuda
