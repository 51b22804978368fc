// SPDX-License-Identifier: Apache-2.0
//
// What a device cannot do runs on the reference device, counted and said once, unless
// TUTTI_FALLBACK=error.
#pragma once

#include <span>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// Says once for a device that `label` runs elsewhere, and counts it. Throws device_error where
/// TUTTI_FALLBACK=error.
void announce_fallback(const device_context& context, const std::string& label,
                       const std::string& why);

/// Waits for all work of the compute stream, and for the copies that it waits for.
void drain(device_context& context);

/// Runs a program that the device refuses; `operands` (inputs, then outputs) lie on the device.
/// Waits for what the operands depend on, and is done when it returns.
void run_on_reference(device_context& context, const fusion::lowered& program,
                      std::span<const tutti_operand> operands, const std::string& label);

}  // namespace tutti::runtime
