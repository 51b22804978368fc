// SPDX-License-Identifier: Apache-2.0
//
// Random programs over arrays, for comparing lazy evaluation with evaluation step by step, on the
// same device and in f64 on the reference device, each of whose operators `tutti verify` compares
// with loops. Real values stay within [-4, 4] and every real step is continuous, so that the error
// of each element has a bound; integers and truth values are exact.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "tutti_test/dense.hpp"

namespace tutti_test {

enum class operation {
  input,
  unary,    // by `choice`: tanh, sin, ...
  binary,   // add, subtract, ... scaled back into the range
  compare,  // two integer arrays: less, equal, not_equal, greater_equal
  where,    // truth values, choosing between two arrays
  reshape,
  transpose,
  slice,
  broadcast,
  reduce,   // mean, min, max over `axes`; integers: sum modulo, min, max; truth values: any, all
  scan,     // along an axis; real: cumsum / extent, cummax, cummin; integers: cumsum modulo
  sort,     // along an axis; choice 1: descending
  argsort,  // of integers, modulo
  concatenate,
  product,     // of matrices, over the inner extent
  take,        // rows at constant places
  to_real,     // integers / 97, truth values
  to_integer,  // truth values
  to_complex,  // of two real arrays
  part         // of a complex array: real, imaginary, absolute / 2
};
const char* name(operation what);

enum class value_kind { real, integer, truth, complex };

struct step {
  operation what{};
  int choice = 0;
  std::vector<int> from;  // earlier steps
  tutti::shape shape;     // of the result
  tutti::shape numbers;   // axes, starts or places
  value_kind kind{};
  dense values;  // input: its elements; complex ones twice as many, parts in turn
};

using program = std::vector<step>;

/// A program of `length` steps, always the same for a seed.
program random_program(std::uint64_t seed, int length);

/// What reals and integers are on the device. Integers are taken modulo 97 after each operation
/// that makes them larger, having wrapped as their dtype does.
struct dtypes {
  tutti::dtype real, integer;
};

inline bool is_signed(dtypes types) { return !tutti::is_unsigned(types.integer); }

/// The array of these dtypes that a step makes of earlier ones; not of an input.
tutti::array evaluate_step(const step& s, const std::vector<tutti::array>& done, dtypes types);

/// Every step's value as an array of these dtypes; each evaluated before the next where `eager`.
std::vector<tutti::array> on_device(const program& steps, dtypes types, bool eager,
                                    const tutti::device& on = tutti::default_device());

/// A value in f64 or c128, or of integers, and how far each element may be off on a device.
struct expected_array {
  tutti::array value, bound;
};
std::vector<expected_array> expected_values(const program& steps, dtypes types);

/// What differs between a result and what is expected, or nothing.
std::optional<std::string> difference(const tutti::array& got, const expected_array& expected);

std::ostream& operator<<(std::ostream& out, const program& steps);

}  // namespace tutti_test
