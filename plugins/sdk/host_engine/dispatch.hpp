// SPDX-License-Identifier: Apache-2.0
//
// The tables of routines that this processor can use, and rows in them by what they compute.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_engine/host_kernels.hpp"
#include "sdk/host_engine/routines.hpp"

namespace tutti::sdk {

/// Real and complex ones. Throws plugin_error, TUTTI_ERROR_UNSUPPORTED, for a set that
/// has_host_routines denies.
std::array<const routines::routine_table*, 2> tables_of(host_routines set);

/// The routine for a register dtype of the first operand (a stored one for loads) and a dtype of
/// the result. Throws TUTTI_ERROR_UNSUPPORTED where there is none.
routines::block_routine find_block(host_routines set, uint16_t opcode, uint8_t of, uint8_t result);

/// Throws TUTTI_ERROR_UNSUPPORTED where there is none.
const routines::reduction_row& find_reduction(host_routines set, uint8_t reduction,
                                              uint8_t accumulator);

/// The kernel of that key (kernel_row) of the set, or of a lesser one; null where there is none.
routines::kernel_routine find_kernel(host_routines set, const std::string& key);

}  // namespace tutti::sdk
