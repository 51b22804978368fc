// SPDX-License-Identifier: Apache-2.0
//
// Capabilities of a device, queried while a graph is built, without memory.
#pragma once

#include <cstdint>
#include <span>

#include "plugin/opened_device.hpp"
#include "tutti/dtype.hpp"
#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::plugins {

/// An operator over these views, outputs first.
TUTTI_INTERNAL_API tutti_operator_desc describe(tutti_operator kind,
                                                std::span<const tutti_view_desc> views,
                                                const void* params, std::uint32_t outputs = 1);

/// Whether the device has an operator.
bool supports(const opened_device& device, const tutti_operator_desc& desc);

/// Whether the device multiplies matrices of this dtype.
bool supports_products(const opened_device& device, dtype type);

/// Whether the device finds the first elements of rows of this length, or partitions them
/// (TUTTI_OPERATOR_TOPK, TUTTI_OPERATOR_PARTITION).
bool supports_selection(const opened_device& device, tutti_operator kind, dtype type,
                        std::int64_t length);

}  // namespace tutti::plugins
