// SPDX-License-Identifier: Apache-2.0
//
// Several instructions of a program as one loop of machine code, in which a value goes from one to
// the next in a register of the processor. It gives the bits that the routines give, since both are
// made from op_table.def and the math source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// Immutable.
class fused_loop {
 public:
  struct instruction {
    uint16_t opcode;
    uint8_t of, result_dtype;  // of the first operand, and the result
    std::vector<uint32_t> operands;
    uint32_t result;
  };
  /// Numbers of 32 bits that are added to a result of 64 bits.
  enum class widened : uint8_t { no, integer, natural };
  struct array {
    uint32_t value;
    uint8_t dtype;
    bool single = false;  // an input that is one element for all, as wide as a lane
    bool joined = false;  // the totals of a reduction: an input, and the result in its place
    widened adds = widened::no;
  };
  /// Values are numbered as the caller likes; each is an input, a scalar or a result before it is
  /// an operand. Every operand that is neither a scalar nor a result is in `inputs`.
  struct description {
    std::vector<instruction> instructions;
    std::vector<array> inputs, results;
    uint32_t first_scalar = 0, scalars = 0;  // scalars have the numbers from first_scalar on
  };

  /// Bits of the registers that this processor has for it: 512, 256, or 0 where there are no loops.
  static uint32_t most_bits();
  /// An addition of totals of 64 bits and a value of fewer, whose dtype is `of`: the last
  /// instruction of a loop over numbers of 32 bits.
  static widened widens(const instruction& one);
  /// Whether a loop may contain the instruction, whatever its operands are.
  static bool takes(const instruction& one);
  /// Bytes of the elements that a loop with it works on: 4 or 8; 0 where only booleans occur.
  static uint32_t width(const instruction& one);
  /// In registers of `bits`, no more than most_bits(). NULL where there are too many values at once
  /// for them.
  static std::unique_ptr<fused_loop> make(const description& what, uint32_t bits = most_bits());

  /// Computes `count` elements; addresses are in the order of the description. An output may be an
  /// input of the same element size. `streams`: numbers go around the caches where that can be,
  /// since nobody reads them soon; end_streams() follows. `totals`: of as many, a power of two,
  /// each takes every totals-th element, the count being a multiple of it; 0: each takes one.
  void run(const std::byte* const* inputs, std::byte* const* results, const tutti_scalar* scalars,
           uint64_t count, bool streams = false, uint64_t totals = 0) const;

  /// What the calling thread has streamed is seen by others.
  static void end_streams();

  /// Inputs and results together.
  static constexpr size_t most_arrays = 12;

 private:
  static constexpr size_t none = ~size_t{0};
  // `how`: whether it streams, and where there are totals, totals - 1.
  using code = void (*)(const void* const* arrays, const tutti_scalar* scalars, uint64_t count,
                        uint64_t how);

  fused_loop() = default;

  std::shared_ptr<const void> memory_;  // keeps the code
  code code_ = nullptr;                 // for a multiple of lanes_ elements, not 0
  uint32_t lanes_ = 0, vector_bytes_ = 0;
  size_t inputs_ = 0, joined_ = none;  // of arrays, the totals
  std::vector<uint32_t> element_;      // bytes; inputs, then results
  std::vector<bool> single_;           // of inputs
};

}  // namespace tutti::sdk
