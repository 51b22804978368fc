// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by cuBLASLt, where it is installed.
#pragma once

#include "cuda/objects.hpp"

namespace tutti::cuda {

// Takes the product to cuBLASLt where it is installed and serves the views; else false.
bool cublas_matmul(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);
// Whether it would take the product but not its epilogue; buffers may be NULL.
bool cublas_leaves_epilogue(tutti_device& device, const tutti_operator_launch& launch);
uint64_t cublas_workspace(tutti_device& device, const tutti_operator_launch& launch);

}  // namespace tutti::cuda
