// SPDX-License-Identifier: Apache-2.0
//
// The tables of routines that this processor supports, and lookups in them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_engine/host_kernels.hpp"
#include "sdk/host_engine/routines.hpp"

namespace tutti::sdk {

/// The tables of real and of complex routines. Throws plugin_error, TUTTI_ERROR_UNSUPPORTED, if
/// has_host_routines(set) is false.
std::array<const routines::routine_table*, 2> tables_of(host_routines set);

/// The routine for the register dtype of the first operand (the stored dtype for loads) and the
/// result dtype. Throws TUTTI_ERROR_UNSUPPORTED if there is none.
routines::block_routine find_block(host_routines set, uint16_t opcode, uint8_t of, uint8_t result);

/// Throws TUTTI_ERROR_UNSUPPORTED if there is none.
const routines::reduction_row& find_reduction(host_routines set, uint8_t reduction,
                                              uint8_t accumulator);

/// The kernel with that key (kernel_row) in the set or a smaller one; null if there is none.
routines::kernel_routine find_kernel(host_routines set, const std::string& key);

}  // namespace tutti::sdk
