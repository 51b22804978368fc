// SPDX-License-Identifier: Apache-2.0
//
// The operators of the plugin; operators.cpp checks the views, makes the context current and hands
// over to these.
#pragma once

#include "cuda/objects.hpp"

namespace tutti::cuda {

// Matrix products (blas.cpp). Views: out, a, b and, with an epilogue, bias.
bool matmul_supported(tutti_device& device, const tutti_operator_launch& launch,
                      const char** reason);
uint64_t matmul_workspace(tutti_device& device, const tutti_operator_launch& launch);
void matmul(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

// Takes the product to cuBLASLt where it is installed and serves the views; else false
// (cublas.cpp).
bool cublas_matmul(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);
// Whether it would take the product but not its epilogue; buffers may be NULL.
bool cublas_leaves_epilogue(tutti_device& device, const tutti_operator_launch& launch);
uint64_t cublas_workspace(tutti_device& device, const tutti_operator_launch& launch);

// Rows by index (gather.cpp). Views: out, x or updates, index.
bool gather_supported(const device_info& info, const tutti_operator_launch& launch,
                      const char** reason);
void gather(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

// Scans, sorts and what belongs to them (sort.cpp), of which scans (scan.cpp) and selections
// (partition.cpp).
bool ordering_supported(const tutti_operator_launch& launch, const char** reason);
uint64_t ordering_workspace(tutti_device& device, const tutti_operator_launch& launch);
void order(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);
uint64_t scan_workspace(tutti_device& device, const tutti_operator_launch& launch);
uint64_t selection_workspace(tutti_device& device, const tutti_operator_launch& launch);
void partition(tutti_stream& stream, const tutti_operator_launch& launch);
void scan(tutti_stream& stream, const tutti_operator_launch& launch);

// The workspace of a launch that needs `bytes` of it; 0 where it needs none.
CUdeviceptr workspace_on(const tutti_device& device, const tutti_operator_launch& launch,
                         uint64_t bytes, const char* what);

}  // namespace tutti::cuda
