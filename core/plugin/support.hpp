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

/// The same with zero parameters over contiguous views of this dtype, with one element for the
/// letters O and B of operator.def and `length` for the others.
bool supports(const opened_device& device, tutti_operator kind, dtype type, std::int64_t length);

}  // namespace tutti::plugins
