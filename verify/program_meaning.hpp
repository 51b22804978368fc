// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a program according to plugin.h and the table of instructions, a random launch of
// it, and the oracle for its results.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace tutti::conformance {

// Whether each value can be computed and stored; `values` gets the dtype of each.
bool means_something(const program_spec& p, std::vector<uint8_t>& values);

// Whether the oracle can compute all of it, and no element is written twice. `values` as above.
bool can_be_judged(const program_spec& p, const std::vector<uint8_t>& values);

// Inputs, scalars and outputs for a launch of any valid program.
struct surroundings {
  extents extent;
  std::vector<operand> inputs, outputs;
  std::vector<uint64_t> scalar_bits;
  std::vector<tutti_scalar> scalars;
};

// Few elements along each dimension of the program.
extents small_extents(const program_spec& p, generator& random);
surroundings make_surroundings(const program_spec& p, const extents& extent, generator& random);

// Throws `failure` where an output is wrong, or returns the number of elements of which the oracle
// is certain.
uint64_t judge(const program_spec& p, const surroundings& w);

// "program of 3 inputs: add.f32 exp.f32".
std::string text_of(const program_spec& p);

}  // namespace tutti::conformance
