// SPDX-License-Identifier: Apache-2.0
//
// The operators of dense linear algebra by LAPACK, in memory that the host sees.
#pragma once

#include <cstddef>

#include "sdk/operator_call.hpp"

namespace tutti::opencl {

struct lapack;

/// Computes a checked call. `operands` has the memory of its views. Batches are shared by `threads`
/// threads. Throws plugin_error naming a matrix that has no result.
void run_by_lapack(const lapack& library, const sdk::operator_call& call,
                   std::byte* const* operands, unsigned threads);

/// Whether all extents fit LAPACK's integers.
bool fits_lapack(const sdk::operator_call& call);

}  // namespace tutti::opencl
