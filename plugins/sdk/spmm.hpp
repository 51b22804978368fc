// SPDX-License-Identifier: Apache-2.0
//
// The product of a sparse matrix with a dense one, and the elements of a product of dense ones at
// the places of a sparse one, as far as they are the same for every plugin.
#pragma once

#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// Of TUTTI_OPERATOR_SPMM. Throws plugin_error naming the shapes where views do not fit each other;
/// UNSUPPORTED for a dtype that it is not defined for.
void check_spmm(const operator_call& call, const char* name);

/// Its multiply-adds.
double spmm_work(const operator_call& call);

/// The same of TUTTI_OPERATOR_SDDMM.
void check_sddmm(const operator_call& call, const char* name);
double sddmm_work(const operator_call& call);

}  // namespace tutti::sdk
