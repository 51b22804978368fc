// SPDX-License-Identifier: Apache-2.0
//
// The operations of a machine code loop on one lane of its inputs, in execution order; operands are
// results of earlier operations.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tutti::sdk {

struct lane_program {
  // clang-format off
  enum class op : uint8_t {
    input,     // number `detail` of the loop's inputs
    scalar,    // number `detail` of the program's scalars
    constant,  // `bits`
    known,  // a constant condition: `detail` is 0 or 1
    add, subtract, multiply, divide,
    fma,       // a * b + c, rounded once
    fnma,      // c - a * b, rounded once
    minimum, maximum,  // a < b ? a : b and a > b ? a : b
    negative, sqrt,
    scale,  // a * 2^b, rounded once, for a whole b; f32 with `masks`
    round,  // `detail` is the mode of vroundps
    compare,   // a condition; `detail` is the predicate of vcmpps
    flag,  // the integer 1 if a holds, else 0
    pick,      // a ? b : c
    bit_and, bit_or, bit_xor, bit_not,  // of conditions too
    integer_add, integer_subtract, integer_multiply, integer_equal, integer_greater,
    integer_minimum, integer_maximum,  // of 32 bits, or with `masks`
    natural_less, natural_minimum, natural_to_real,  // with `masks`
    multiply_high,  // the upper half of a product of u32
    two_over_pi,  // the 32-bit word of 2/pi number a + `detail`, for a <= 4 and `detail` <= 3
    shift_left_from,  // the upper word of a b << c, for c < 32; with `funnels`
    // Of 64-bit words over pairs of 32-bit lanes, with `masks`: the even lanes' product; shifts by
    // `detail`; a sum; the upper words of a in the even lanes and of b in the odd ones; and so the
    // signed words a and b as f32.
    wide_product, wide_shift_left, wide_shift_right, wide_sum, wide_upper, wide_to_real,
    shift_left, shift_right, shift_right_signed,  // by `detail`
    shift_left_by, shift_right_by, shift_right_signed_by,  // by b; u32: 0 from 32 on
    integer_to_real
  };
  // clang-format on
  struct node {
    op what;
    uint32_t detail = 0;
    uint64_t bits = 0;
    std::array<uint32_t, 3> operand{};
    uint32_t operands = 0;

    bool operator==(const node& other) const {
      return what == other.what && detail == other.detail && bits == other.bits &&
             operand == other.operand && operands == other.operands;
    }
  };
  /// The program cannot be a loop.
  struct impossible : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  bool wide = false;     // 64-bit lanes, else 32-bit
  bool masks = false;    // conditions are bits of mask registers
  bool funnels = false;  // AVX512_VBMI2
  std::vector<node> nodes;

  /// Returns the node with this value, an earlier one if possible.
  uint32_t add(const node& wanted);
  template <typename... Id>
  uint32_t add(op what, uint32_t detail, Id... operand) {
    return add(node{what, detail, 0, {operand...}, sizeof...(operand)});
  }
  uint32_t constant(uint64_t bits) { return add(node{op::constant, 0, bits, {}, 0}); }
  bool is_constant(uint32_t n) const { return nodes[n].what == op::constant; }
  /// `booleans`: for each input, whether it is boolean.
  bool is_condition(uint32_t n, const std::vector<bool>& booleans) const {
    const node& one = nodes[n];
    switch (one.what) {
      case op::input:
        return booleans[one.detail];
      case op::known:
      case op::compare:
      case op::integer_equal:
      case op::integer_greater:
      case op::natural_less:
        return true;
      case op::bit_and:
      case op::bit_or:
      case op::bit_xor:
      case op::bit_not:
        return is_condition(one.operand[0], booleans);
      default:
        return false;
    }
  }

 private:
  node simplified(node wanted) const;

  std::vector<uint32_t> first_, next_;  // hash chains of nodes: index + 1; 0: none
};

/// Appends the operations of one instruction to `to` and returns the result. `write` is NULL if the
/// combination of opcode, first operand's dtype and result dtype is not supported.
struct traced_row {
  uint16_t opcode;
  uint8_t of, result;
  uint32_t (*write)(lane_program& to, const uint32_t* operands);
};
const traced_row* find_traced(uint16_t opcode, uint8_t of, uint8_t result);

}  // namespace tutti::sdk
