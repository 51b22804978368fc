// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent parts of the product of a sparse and a dense matrix, and of the elements of a
// dense product at sparse positions.
#pragma once

#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// Throws plugin_error if TUTTI_OPERATOR_SPMM or TUTTI_OPERATOR_SDDMM that matches its row has
/// elements in rows of an empty matrix.
void check_sparse(const operator_call& call);

/// The number of multiply-adds.
double spmm_work(const operator_call& call);
double sddmm_work(const operator_call& call);

}  // namespace tutti::sdk
