// SPDX-License-Identifier: Apache-2.0
//
// Reductions: an accumulator for the values of one output element, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tutti/plugin.h"

namespace tutti::sdk {

class reducer {
 public:
  virtual ~reducer() = default;
  virtual void reset() = 0;
  // Adds lanes [begin, end) of a register of the accumulator's dtype.
  virtual void feed(const void* values, size_t begin, size_t end) = 0;
  // Writes the result to lane 0 of a register: i64 for ARGMIN and ARGMAX, else the accumulator's
  // dtype. Without values, the result is 0, 1, the largest or smallest value, false, true, or index
  // 0.
  virtual void finish(void* result) const = 0;
};

// Sums and products of floats are computed in double; those of integers wrap.
std::unique_ptr<reducer> make_reducer(uint8_t reduction, uint8_t accumulator);

}  // namespace tutti::sdk
