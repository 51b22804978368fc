// SPDX-License-Identifier: Apache-2.0
//
// Several instructions of a program as one loop of machine code that passes values in registers.
// The results are bit-identical to those of the routines, since both are generated from
// op_table.def and the math source.
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
    uint8_t of, result_dtype;  // of the first operand and of the result
    std::vector<uint32_t> operands;
    uint32_t result;
  };
  /// 32-bit integers that are added to a 64-bit result.
  enum class widened : uint8_t { no, integer, natural };
  struct array {
    uint32_t value;
    uint8_t dtype;
    bool single = false;  // one element for all lanes, as wide as a lane
    bool joined = false;  // the totals of a reduction: an input that is also the result
    widened adds = widened::no;
  };
  /// The caller chooses the numbers of values; each must be an input, a scalar or an earlier
  /// result. Every operand that is neither a scalar nor a result is in `inputs`.
  struct description {
    std::vector<instruction> instructions;
    std::vector<array> inputs, results;
    uint32_t first_scalar = 0, scalars = 0;  // numbered from first_scalar on
  };

  /// The register width for loops on this processor: 512, 256, or 0 if loops are not supported.
  static uint32_t most_bits();
  /// How an addition to 64-bit totals, the last instruction of a loop, widens 32-bit integers.
  static widened widens(const instruction& one);
  /// Whether a loop may contain the instruction, whatever its operands are.
  static bool takes(const instruction& one);
  /// The element size in a loop with this instruction, 4 or 8 bytes; 0 if it uses only booleans.
  static uint32_t width(const instruction& one);
  /// `bits`: register width, at most most_bits(). NULL if there are too many live values.
  static std::unique_ptr<fused_loop> make(const description& what, uint32_t bits = most_bits());

  /// The number of totals of a row, as in program::cpu_inner_row; for integers more, which shortens
  /// the dependency chains.
  static uint64_t row_totals(uint8_t dtype);

  /// Computes `count` elements; addresses are in the order of the description. An output may be an
  /// input of the same element size. `streams`: stores bypass the caches where possible; call
  /// end_streams() afterwards. `totals`: the number of totals, of two registers or more, a power of
  /// two that divides `count`; element i is added to total i % totals. With 0 each element has its
  /// own total.
  void run(const std::byte* const* inputs, std::byte* const* results, const tutti_scalar* scalars,
           uint64_t count, bool streams = false, uint64_t totals = 0) const;

  /// Makes the streaming stores of the calling thread visible to other threads.
  static void end_streams();

  /// The maximum number of inputs and results.
  static constexpr size_t most_arrays = 12;

 private:
  static constexpr size_t none = ~size_t{0};
  // `how`: whether it streams, or, with totals, totals - 1.
  using code = void (*)(const void* const* arrays, const tutti_scalar* scalars, uint64_t count,
                        uint64_t how);

  fused_loop() = default;
  void run_last(const std::byte* const* inputs, std::byte* const* results,
                const tutti_scalar* scalars, uint64_t count) const;

  std::shared_ptr<const void> memory_;  // owns the code
  code code_ = nullptr;                 // for a positive multiple of lanes_ elements
  uint32_t lanes_ = 0, vector_bytes_ = 0;
  size_t inputs_ = 0, joined_ = none;  // of arrays; the index of the totals
  std::vector<uint32_t> element_;      // bytes; inputs, then results
  std::vector<bool> single_;           // of inputs
};

}  // namespace tutti::sdk
