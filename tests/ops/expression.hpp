// SPDX-License-Identifier: Apache-2.0
//
// Random programs over arrays, for comparing lazy evaluation with evaluation step by step and with
// loops on the host. Real values stay within [-4, 4] and every real step is continuous, so that the
// host can bound the error of each element; integers and truth values are exact.
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

/// Values by loops on the host, and for each how far a device may be off: every step adds its own
/// rounding to what its operands' errors become.
struct host_array {
  tutti::shape extents;
  std::vector<std::complex<double>> values;
  std::vector<double> bounds;
};

/// Every step's value.
std::vector<host_array> on_host(const program& steps, dtypes types);

/// Every step's value as an array of these dtypes; each evaluated before the next where `eager`.
std::vector<tutti::array> on_device(const program& steps, dtypes types, bool eager);

/// What differs between a result and the host's, or nothing.
std::optional<std::string> difference(const tutti::array& got, const host_array& expected);
std::optional<std::string> difference(const host_array& got, const host_array& expected);

std::ostream& operator<<(std::ostream& out, const program& steps);

}  // namespace tutti_test
