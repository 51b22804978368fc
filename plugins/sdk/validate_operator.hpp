// SPDX-License-Identifier: Apache-2.0
//
// Checks of operators that are the same for every plugin: views, ranges and how the shapes
// of one operator belong together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// "matmul", ...; null for a number this version does not know.
const char* operator_name(int32_t kind);

/// Throws plugin_error naming the operator and the shapes where views or parameters are malformed
/// or do not fit each other and the operator's row; UNSUPPORTED for dtypes that it is not defined
/// for.
void check_operator(const operator_call& call);
/// Throws plugin_error of INVALID_ARGUMENT: "matmul: WHAT: [2,3] of f32, ..." where it is not so.
void require(bool good, const operator_call& call, std::string_view what);
/// ": [2,3] of f32, [3] of i64": extents and dtypes of the views, for messages.
std::string shapes_of(const operator_call& call);
/// Whether elements lie row-major without gaps; so does what has none.
bool is_contiguous(const tutti_view& view);

/// Throws plugin_error naming the operator where a view that begins at byte `offset` reaches beyond
/// its buffer of `buffer_bytes`.
void check_operand(const operator_call& call, uint32_t view, uint64_t offset,
                   uint64_t buffer_bytes);

/// The epilogue of a product at full size; without one all zeros.
tutti_matmul_params matmul_params(const operator_call& launch);

/// Parameters of TUTTI_OPERATOR_SCATTER at full size, checked.
tutti_scatter_params scatter_params(const operator_call& launch);
/// What TUTTI_OPERATOR_SCATTER_ADD or TUTTI_OPERATOR_SCATTER does to an element and an update.
enum class combination { add = 0, set = 1, multiply = 2, min = 3, max = 4 };
combination combination_of(const operator_call& launch);
/// Why such an operator is beyond a device that computes in these dtypes, or null.
const char* against_scatter(const operator_call& launch, uint32_t computed_dtypes);

/// Why the epilogue of a product is beyond this version: an unknown activation, one of a dtype that
/// it is not defined for, a bias that is not one contiguous row. Null where nothing is against it.
const char* against_epilogue(const operator_call& launch);

}  // namespace tutti::sdk
