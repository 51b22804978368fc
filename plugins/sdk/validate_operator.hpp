// SPDX-License-Identifier: Apache-2.0
//
// Backend-independent checks of operators: views, ranges and the relations of shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// "matmul", ...; null for an unknown number.
const char* operator_name(int32_t kind);

/// Throws plugin_error naming the operator and the shapes if views or parameters are malformed or
/// inconsistent with each other or the operator's row; UNSUPPORTED for dtypes that it is not
/// defined for.
void check_operator(const operator_call& call);
/// Throws plugin_error of INVALID_ARGUMENT unless `good`: "matmul: WHAT: [2,3] of f32, ...".
void require(bool good, const operator_call& call, std::string_view what);
/// ": [2,3] of f32, [3] of i64": extents and dtypes of the views, for messages.
std::string shapes_of(const operator_call& call);
/// Whether the elements are row-major without gaps; true for empty views.
bool is_contiguous(const tutti_view& view);

/// Throws plugin_error naming the operator if a view that begins at byte `offset` exceeds its
/// buffer of `buffer_bytes`.
void check_operand(const operator_call& call, uint32_t view, uint64_t offset,
                   uint64_t buffer_bytes);

/// The epilogue of a product at full size; all zeros without one.
tutti_matmul_params matmul_params(const operator_call& launch);

/// Parameters of TUTTI_OPERATOR_SCATTER at full size, checked.
tutti_scatter_params scatter_params(const operator_call& launch);
/// How TUTTI_OPERATOR_SCATTER_ADD or TUTTI_OPERATOR_SCATTER combines an element and an update.
enum class combination { add = 0, set = 1, multiply = 2, min = 3, max = 4 };
combination combination_of(const operator_call& launch);
/// The reason why a device that computes in these dtypes does not support the operator, or null.
const char* against_scatter(const operator_call& launch, uint32_t computed_dtypes);

/// The reason why the epilogue of a product is unsupported: an unknown activation or one undefined
/// for the dtype, or a bias that is not one contiguous row. Null if it is supported.
const char* against_epilogue(const operator_call& launch);

}  // namespace tutti::sdk
