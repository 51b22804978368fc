// SPDX-License-Identifier: Apache-2.0
//
// What a device's programs may hold, and whether one keeps to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// By opcode and by tutti_reduction: TUTTI_DTYPE_BIT sets as in tutti_program_capabilities.
struct program_sets {
  std::vector<uint32_t> opcodes, reductions;
  /// Of operands, as in the device's properties; the core reads that there.
  uint32_t stored_dtypes = ~uint32_t{0};

  /// Points into this object, which stays until process exit.
  tutti_program_capabilities capabilities() const;
};

/// Every opcode and reduction of plugin.h over these register dtypes, and no other dtype, with
/// operands of these dtypes. The object stays until process exit.
const program_sets& programs_in(uint32_t computed_dtypes, uint32_t stored_dtypes = ~uint32_t{0});

/// What a description from program_description has that `offered` lacks, "has no tanh of f64";
/// empty where there is nothing.
std::string beyond(const program_sets& offered, const tutti_program_desc& desc);

/// A copy that stays until process exit, the same for equal texts: for reasons.
const char* kept_text(const std::string& text);

/// For `supports` of a program API: YES, or NO and why. Throws plugin_error where the description
/// is malformed. `limits` as for program_description.
struct program_limits;
int32_t supports_program(const program_sets& offered, const program_limits& limits,
                         const tutti_program_desc* desc, const char** reason);

}  // namespace tutti::sdk
