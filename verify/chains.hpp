// SPDX-License-Identifier: Apache-2.0
//
// Random programs, and the oracle for their results: each value in long double together with a
// bound of the error of the device.
#pragma once

#include <cstdint>
#include <vector>

#include "harness.hpp"

namespace tutti::conformance {

// A value of the oracle. Floats: real and bound; others: bits, certain or not.
struct cell {
  uint8_t dtype = 0;
  long double real = 0;
  long double bound = 0;
  uint64_t bits = 0;
  bool sure = true;
};

cell to_cell(uint8_t dtype, uint64_t bits);
// The value of an instruction on real numbers, from those before it.
cell run(const tutti_instruction& instruction, const std::vector<cell>& values);
// Within the bound. The oracle must be certain.
bool is_right(const cell& want, uint64_t got);

struct random_program {
  program_spec spec;
  std::vector<uint8_t> dtypes;  // of each value
};

// Three inputs, two scalars, `length` instructions that the device supports, up to three outputs.
// Throws `skipped` if it supports too few.
random_program make_program(session& s, generator& random, size_t length);

tutti_scalar to_scalar(uint8_t dtype, uint64_t bits);

}  // namespace tutti::conformance
