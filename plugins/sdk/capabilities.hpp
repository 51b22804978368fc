// SPDX-License-Identifier: Apache-2.0
//
// The program features that a device supports, and checks of programs against them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// By opcode and by tutti_reduction: TUTTI_DTYPE_BIT sets as in tutti_program_capabilities.
struct program_sets {
  std::vector<uint32_t> opcodes, reductions;
  /// Of operands, as in the device's properties, where the core reads it.
  uint32_t stored_dtypes = ~uint32_t{0};

  /// Points into this object, which must live until process exit.
  tutti_program_capabilities capabilities() const;
};

/// Every opcode and reduction of plugin.h for these register dtypes and these operand dtypes. The
/// object lives until process exit.
const program_sets& programs_in(uint32_t computed_dtypes, uint32_t stored_dtypes = ~uint32_t{0});

/// The first feature of a program_description that `offered` lacks, such as "has no tanh of f64";
/// empty if there is none.
std::string beyond(const program_sets& offered, const tutti_program_desc& desc);

/// A copy that lives until process exit, one per text, for `reason` results.
const char* kept_text(const std::string& text);

/// For `supports` of a program API: YES, or NO with a reason. Throws plugin_error if the
/// description is malformed. `limits` as for program_description.
struct program_limits;
int32_t supports_program(const program_sets& offered, const program_limits& limits,
                         const tutti_program_desc* desc, const char** reason);

}  // namespace tutti::sdk
