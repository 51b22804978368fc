// SPDX-License-Identifier: Apache-2.0
//
// Checks of operator launches that are the same for every plugin: views, ranges and how the shapes
// of one operator belong together.
#pragma once

#include <cstdint>
#include <functional>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// "matmul", ...; null for a number this version does not know.
const char* operator_name(int32_t kind);

/// Size in bytes of a buffer that takes part in the operator `name`; throws where it is foreign.
using buffer_bytes = std::function<uint64_t(tutti_buffer* buffer, const char* name)>;

/// `given` at full size. Throws plugin_error naming the operator and the shapes where views are
/// malformed, reach beyond their buffers or do not fit each other. Without `bytes_of` the buffers
/// may be NULL and only shapes are looked at.
tutti_operator_launch checked_operator(const tutti_operator_launch* given,
                                       const buffer_bytes& bytes_of = nullptr);

/// The epilogue of a product at full size; without one all zeros. Throws plugin_error where the
/// bias is no fourth view, or one of other extents or of another dtype than the result.
tutti_matmul_params matmul_params(const tutti_operator_launch& launch);

/// Parameters of TUTTI_OPERATOR_SCATTER at full size, checked.
tutti_scatter_params scatter_params(const tutti_operator_launch& launch);
/// What TUTTI_OPERATOR_SCATTER_ADD or TUTTI_OPERATOR_SCATTER does to an element and an update.
enum class combination { add = 0, set = 1, multiply = 2, min = 3, max = 4 };
combination combination_of(const tutti_operator_launch& launch);
/// Why such an operator is beyond a device that computes in these dtypes, or null.
const char* against_scatter(const tutti_operator_launch& launch, uint32_t computed_dtypes);

/// Why the epilogue of a product is beyond this version: an unknown activation, one of a dtype that
/// it is not defined for, a bias that is not one contiguous row. Null where nothing is against it.
const char* against_epilogue(const tutti_operator_launch& launch);

}  // namespace tutti::sdk
