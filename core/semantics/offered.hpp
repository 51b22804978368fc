// SPDX-License-Identifier: Apache-2.0
//
// How sets of dtypes declare what a device's programs may contain (tutti_program_capabilities in
// plugin.h).
#pragma once

#include <cstdint>
#include <span>

#include "tutti/plugin.h"

namespace tutti::host {

/// Whether the set of an opcode contains an instruction whose result and operands have these
/// dtypes: each of them except BOOL, and BOOL if there is no other.
inline bool is_offered(uint32_t set, std::span<const uint8_t> dtypes) {
  uint32_t needed = 0;
  for (const uint8_t d : dtypes) needed |= TUTTI_DTYPE_BIT(d);
  const uint32_t numbers = needed & ~TUTTI_DTYPE_BIT(TUTTI_BOOL);
  if (numbers != 0) needed = numbers;
  return (set & needed) == needed;
}

}  // namespace tutti::host
