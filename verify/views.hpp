// SPDX-License-Identifier: Apache-2.0
//
// Views as the groups of operators fill and read them.
#pragma once

#include <cstdint>

#include "harness.hpp"

namespace tutti::conformance {

// The view of a new row-major array.
view_spec packed_view(uint8_t dtype, const extents& extent);

// Random values in [low, high], also in the guards.
void fill(view_spec& v, double low, double high, generator& random);

// Index in the image of element [i, j, k] of a view of rank 3.
uint64_t at(const view_spec& v, uint64_t i, uint64_t j, uint64_t k);

// Throws `failure` if a byte before or after the row-major `out` has changed.
void check_guards(const view_spec& out, const image& before);

}  // namespace tutti::conformance
