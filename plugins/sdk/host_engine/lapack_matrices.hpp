// SPDX-License-Identifier: Apache-2.0
//
// The operators of dense linear algebra by LAPACK, in memory that the host sees.
#pragma once

#include <cstddef>

#include "sdk/host_layer/thread_team.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

struct lapack;

/// Computes a checked call. `operands` has the memory of its views. Batches are shared by `team`; a
/// single matrix is OpenBLAS's threads' own, of which no more are taken than the team has. Throws
/// plugin_error naming a matrix that has no result.
void run_by_lapack(const lapack& library, const operator_call& call, std::byte* const* operands,
                   thread_team& team);

/// Whether all extents fit LAPACK's integers.
bool fits_lapack(const operator_call& call);

}  // namespace tutti::sdk
