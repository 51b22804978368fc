// SPDX-License-Identifier: Apache-2.0
//
// Dense linear algebra by LAPACK on host memory.
#pragma once

#include <cstddef>

#include "sdk/host_layer/thread_team.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

struct lapack;

/// Computes a checked call. `operands` are the addresses of its views. A batch is shared by `team`;
/// a single matrix uses the threads of OpenBLAS, at most as many as the team has. Throws
/// plugin_error naming a matrix that has no result.
void run_by_lapack(const lapack& library, const operator_call& call, std::byte* const* operands,
                   thread_team& team);

/// Whether all extents fit LAPACK's integers.
bool fits_lapack(const operator_call& call);

}  // namespace tutti::sdk
