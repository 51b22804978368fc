// SPDX-License-Identifier: Apache-2.0
//
// What a device can do, asked while a graph is built, when no memory is at hand.
#pragma once

#include <cstdint>

#include "plugin/opened_device.hpp"
#include "tutti/dtype.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

/// Whether the device supports an operator, and is not slow at it; views may lack buffers.
bool supports(const opened_device& device, const tutti_operator_launch& launch);

/// Whether the device multiplies matrices of this dtype.
bool supports_products(const opened_device& device, dtype type);

/// Whether the device finds the first elements of rows of this length, or parts them
/// (TUTTI_OPERATOR_TOPK, TUTTI_OPERATOR_PARTITION).
bool supports_selection(const opened_device& device, tutti_operator kind, dtype type,
                        std::int64_t length);

}  // namespace tutti::detail
