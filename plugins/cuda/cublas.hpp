// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by cuBLASLt, where it is installed.
#pragma once

#include "cuda/objects.hpp"

namespace tutti::cuda {

// Asks cuBLASLt how it would do the product of operands at aligned addresses. NULL where it is not
// installed or does not serve the views.
std::shared_ptr<const cublas_plan> cublas_prepare(tutti_device& device,
                                                  const sdk::operator_call& call);
uint64_t cublas_workspace(const cublas_plan& plan);
// False where it does not serve these addresses.
bool cublas_matmul(tutti_stream& stream, const sdk::operator_call& call,
                   const std::shared_ptr<const cublas_plan>& plan,
                   const sdk::operator_memory& memory, tutti_event** event);
// Whether it would take the product but not its epilogue.
bool cublas_leaves_epilogue(tutti_device& device, const sdk::operator_call& call);

}  // namespace tutti::cuda
