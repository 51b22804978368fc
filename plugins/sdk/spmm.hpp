// SPDX-License-Identifier: Apache-2.0
//
// The product of a sparse matrix with a dense one, and the elements of a product of dense ones at
// the places of a sparse one, as far as they are the same for every plugin.
#pragma once

#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// Throws plugin_error where TUTTI_OPERATOR_SPMM or TUTTI_OPERATOR_SDDMM, which fits its row, has
/// elements in rows of which there are none.
void check_sparse(const operator_call& call);

/// Multiply-adds of each.
double spmm_work(const operator_call& call);
double sddmm_work(const operator_call& call);

}  // namespace tutti::sdk
