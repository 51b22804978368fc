// SPDX-License-Identifier: Apache-2.0
//
// Views of rank 3 as the groups of operators fill and read them.
#pragma once

#include <cstdint>

#include "harness.hpp"

namespace tutti::conformance {

// Random values in [low, high], in the guards as well.
void fill(view_spec& v, double low, double high, generator& random);

// Index in the image of element [i, j, k].
uint64_t at(const view_spec& v, uint64_t i, uint64_t j, uint64_t k);

// Throws `failure` where a byte in front of or behind the row-major `out` has changed.
void check_guards(const view_spec& out, const image& before);

}  // namespace tutti::conformance
