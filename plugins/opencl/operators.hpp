// SPDX-License-Identifier: Apache-2.0
//
// The operators of the plugin; operators.cpp checks the views and hands over to these.
#pragma once

#include "opencl/objects.hpp"

namespace tutti::opencl {

// Matrix products (blas.cpp, clblast.cpp). Views: out, a, b and, with an epilogue, bias.
bool matmul_supported(tutti_device& device, const tutti_operator_launch& launch,
                      const char** reason);
uint64_t matmul_workspace(tutti_device& device, const tutti_operator_launch& launch);
void matmul(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

// Takes the product to CLBlast where it is present, right on this device and wanted; else false.
// clblast_serves tells beforehand, from views that may lack buffers.
bool clblast_serves(tutti_device& device, const tutti_operator_launch& launch);
bool clblast_matmul(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

// Rows by index (gather.cpp). Views: out, x or updates, index.
bool gather_supported(const device_info& info, const tutti_operator_launch& launch,
                      const char** reason);
void gather(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

// Scans, sorts and what belongs to them (sort.cpp), of which scans (scan.cpp) and selections
// (partition.cpp).
bool ordering_supported(const device_info& info, const tutti_operator_launch& launch,
                        const char** reason);
uint64_t ordering_workspace(tutti_device& device, const tutti_operator_launch& launch);
void order(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);
uint64_t scan_workspace(tutti_device& device, const tutti_operator_launch& launch);
uint64_t selection_workspace(tutti_device& device, const tutti_operator_launch& launch);
void partition(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);
void scan(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

// The workspace of a launch that needs `bytes` of it; null where it needs none.
cl_mem workspace_on(const tutti_device& device, const tutti_operator_launch& launch, uint64_t bytes,
                    const char* what);

// An event for work that turned out to be empty, where one is wanted.
void record_empty(tutti_stream& stream, tutti_event** event);

}  // namespace tutti::opencl
