// SPDX-License-Identifier: Apache-2.0
//
// Random programs over arrays, for comparing lazy evaluation with evaluation step by step and with
// loops on the host. Real values stay within [-4, 4] and every real step is continuous, so that
// rounding stays small; integer values are exact.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "tutti_test/dense.hpp"

namespace tutti_test {

enum class operation {
  input,
  unary,       // by `choice`: tanh, sin, ...
  binary,      // add, subtract, ... scaled back into the range
  where_less,  // of two integer arrays, choosing between two values
  reshape,
  transpose,
  slice,
  broadcast,
  reduce,  // mean, min, max over `axes`; integers: sum modulo, min, max
  concatenate,
  product,  // of matrices, over the inner extent
  take,     // rows at constant places
  to_real   // integers / 97
};

struct step {
  operation what{};
  int choice = 0;
  std::vector<int> from;  // earlier steps
  tutti::shape shape;     // of the result
  tutti::shape numbers;   // axes, starts or places
  bool integer = false;
  dense values;  // input: its elements
};

using program = std::vector<step>;

/// A program of `length` steps, always the same for a seed.
program random_program(std::uint64_t seed, int length);

/// Every step's value by loops on the host.
std::vector<dense> on_host(const program& steps);

/// What reals and integers are on the device. Integers stay within [-4704, 4704] before their
/// remainder is taken: i16 holds them.
struct dtypes {
  tutti::dtype real, integer;
};

/// Every step's value as an array of these dtypes; each evaluated before the next where `eager`.
std::vector<tutti::array> on_device(const program& steps, dtypes types, bool eager);

std::ostream& operator<<(std::ostream& out, const program& steps);

}  // namespace tutti_test
