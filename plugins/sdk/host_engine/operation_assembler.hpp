// SPDX-License-Identifier: Apache-2.0
//
// The machine code of each operation of a lane program (see fused_loop_x86.cpp).
#pragma once

#include <type_traits>
#include <utility>

#include "sdk/host_engine/loop_assembler.hpp"

namespace tutti::sdk {

class operation_assembler : protected loop_assembler {
 protected:
  using loop_assembler::loop_assembler;

  void write_operation(uint32_t n) {
    const node& one = program_.nodes[n];
    for (uint32_t k = 0; k < one.operands; ++k) load_input(one.operand[k]);
    switch (one.what) {
      case op::constant:
      case op::scalar:
      case op::input:
        return;
      case op::fma:
      case op::fnma:
        return multiply_add(n, one);
      case op::pick:
        return pick(n, one);
      case op::known:
        return known(n, one.detail != 0);
      case op::flag:
        return flag(n, one.operand[0]);
      case op::multiply_high:
        return multiply_high(n, one.operand[0], one.operand[1]);
      case op::shift_left_from:
        return shift_left_from(n, one);
      default:
        break;
    }
    uint32_t a = one.operand[0], b = one.operand[1];
    if (is_mask(a)) return of_masks(n, one);
    if (one.operands == 2 && commutes(one.what) && register_[a] == none) std::swap(a, b);
    const Xmm x = in_register(a, 0);
    if (one.operands == 1) {
      used(a);
      return of_one(one, take(n), x);
    }
    last(b, 1, [&](const auto& y) {
      used(a);
      used(b);
      is_mask(n) ? compare(one, take_mask(n), x, y) : of_two(one, take(n), x, y);
    });
  }

 private:
  static bool commutes(op what) {
    return what == op::add || what == op::multiply || what == op::bit_and || what == op::bit_or ||
           what == op::bit_xor || what == op::integer_add || what == op::integer_multiply ||
           what == op::integer_equal || what == op::natural_minimum ||
           what == op::integer_minimum || what == op::integer_maximum;
  }

  void known(uint32_t n, bool holds) {
    if (has_masks()) {
      const Opmask to = take_mask(n);
      return holds ? kxnorq(to, to, to) : kxorq(to, to, to);
    }
    const Xmm to = take(n);
    holds ? vpcmpeqd(to, to, to) : vpxor(to, to, to);
  }

  void flag(uint32_t n, uint32_t condition) {
    const int from = register_[condition];
    used(condition);
    const Xmm to = take(n);
    if (!has_masks()) return vandps(to, vector(from), constant(1));
    const Address one = ptr[rip + constants_[1]];
    program_.wide ? vpbroadcastq(to | Opmask(from) | T_z, one)
                  : vpbroadcastd(to | Opmask(from) | T_z, one);
  }

  void of_masks(uint32_t n, const node& one) {
    const Opmask a(register_[one.operand[0]]), b(register_[one.operand[one.operands - 1]]);
    for (uint32_t k = 0; k < one.operands; ++k) used(one.operand[k]);
    const Opmask to = take_mask(n);
    if (one.what == op::bit_and) return kandq(to, a, b);
    if (one.what == op::bit_or) return korq(to, a, b);
    if (one.what == op::bit_xor) return kxorq(to, a, b);
    knotq(to, a);
  }

  template <typename To, typename Last>
  void compare(const node& one, const To& to, const Xmm& x, const Last& y) {
    const auto predicate = static_cast<uint8_t>(one.detail);
    if (one.what == op::compare) return TUTTI_REAL(vcmp, to, x, y, predicate);
    if (one.what == op::integer_equal) return TUTTI_WHOLE(vpcmpeq, to, x, y);
    if constexpr (std::is_same_v<To, Opmask>)
      if (one.what == op::natural_less) return TUTTI_WHOLE(vpcmpu, to, x, y, 1);
    TUTTI_WHOLE(vpcmpgt, to, x, y);
  }

  void of_one(const node& one, const Xmm& to, const Xmm& x) {
    const uint64_t sign = uint64_t{1} << (program_.wide ? 63 : 31);
    const auto by = static_cast<uint8_t>(one.detail);
    switch (one.what) {
      case op::negative:
        return TUTTI_REAL(vxor, to, x, constant(sign));
      case op::sqrt:
        return TUTTI_REAL(vsqrt, to, x);
      case op::round:
        return has_masks() ? TUTTI_REAL(vrndscale, to, x, by) : TUTTI_REAL(vround, to, x, by);
      case op::bit_not:
        return TUTTI_REAL(vxor, to, x, constant(program_.wide ? ~uint64_t{0} : ~0u));
      case op::shift_left:
        return TUTTI_WHOLE(vpsll, to, x, by);
      case op::shift_right:
        return TUTTI_WHOLE(vpsrl, to, x, by);
      case op::wide_shift_left:
        return vpsllq(to, x, by);
      case op::wide_shift_right:
        return vpsrlq(to, x, by);
      case op::two_over_pi:
        looks_up_ = true;
        return vpermd(Xbyak::Ymm(to.getIdx(), to.getKind(), to.getBit()),
                      Xbyak::Ymm(x.getIdx(), x.getKind(), x.getBit()),
                      ptr[rip + words_ + 4 * static_cast<int>(one.detail)]);
      case op::integer_to_real:
        return vcvtdq2ps(to, x);
      case op::natural_to_real:
        return vcvtudq2ps(to, x);
      default:
        break;
    }
    if (has_masks() && program_.wide) return vpsraq(to, x, by);
    if (!program_.wide) return vpsrad(to, x, by);
    // Flips and subtracts the shifted sign bit.
    vpsrlq(to, x, by);
    vpxor(to, to, constant(sign >> by));
    vpsubq(to, to, constant(sign >> by));
  }

  template <typename Last>
  void of_two(const node& one, const Xmm& to, const Xmm& x, const Last& y) {
    switch (one.what) {
      case op::add:
        return TUTTI_REAL(vadd, to, x, y);
      case op::subtract:
        return TUTTI_REAL(vsub, to, x, y);
      case op::multiply:
        return TUTTI_REAL(vmul, to, x, y);
      case op::divide:
        return TUTTI_REAL(vdiv, to, x, y);
      case op::scale:
        return vscalefps(to, x, y);
      case op::minimum:
        return TUTTI_REAL(vmin, to, x, y);
      case op::maximum:
        return TUTTI_REAL(vmax, to, x, y);
      case op::integer_minimum:
        return program_.wide ? vpminsq(to, x, y) : vpminsd(to, x, y);
      case op::integer_maximum:
        return program_.wide ? vpmaxsq(to, x, y) : vpmaxsd(to, x, y);
      case op::natural_minimum:
        return program_.wide ? vpminuq(to, x, y) : vpminud(to, x, y);
      case op::bit_and:
        return TUTTI_REAL(vand, to, x, y);
      case op::bit_or:
        return TUTTI_REAL(vor, to, x, y);
      case op::bit_xor:
        return TUTTI_REAL(vxor, to, x, y);
      case op::integer_add:
        return TUTTI_WHOLE(vpadd, to, x, y);
      case op::integer_subtract:
        return TUTTI_WHOLE(vpsub, to, x, y);
      case op::integer_multiply:
        if (program_.wide) throw lane_program::impossible("a product of i64");
        return vpmulld(to, x, y);
      case op::wide_product:
        return vpmuludq(to, x, y);
      case op::wide_sum:
        return vpaddq(to, x, y);
      case op::wide_upper:
        vpsrlq(scratch(2), y, 32);
        vpsrlq(to, x, 32);
        vpsllq(scratch(2), scratch(2), 32);
        return vporq(to, to, scratch(2));
      case op::wide_to_real:
        return wide_to_real(to, x, y);
      case op::shift_left_by:
        return TUTTI_WHOLE(vpsllv, to, x, y);
      case op::shift_right_signed_by:
        return program_.wide ? vpsravq(to, x, y) : vpsravd(to, x, y);
      case op::shift_right_by:
        return TUTTI_WHOLE(vpsrlv, to, x, y);
      default:
        break;
    }
    compare(one, to, x, y);
  }

  template <typename Last>
  void wide_to_real(const Xmm& to, const Xmm& x, const Last& y) {
    const Xbyak::Ymm even(scratch(0).getIdx()), odd(scratch(2).getIdx());
    vcvtqq2ps(odd, y);
    vcvtqq2ps(even, x);
    vpmovzxdq(scratch(2), odd);
    vpmovzxdq(scratch(0), even);
    vpsllq(scratch(2), scratch(2), 32);
    vporq(to, scratch(0), scratch(2));
  }
  void shift_left_from(uint32_t n, const node& one) {
    const Xmm a = in_register(one.operand[0], 0), b = in_register(one.operand[1], 1);
    const Xmm by = in_register(one.operand[2], 2);
    const Xmm to = take(n);  // before the operands are released
    vmovaps(to, a);
    vpshldvd(to, b, by);
    for (uint32_t operand : one.operand) used(operand);
  }

  // The result replaces an operand that is not used again, preferably the addend.
  void multiply_add(uint32_t n, const node& one) {
    uint32_t a = one.operand[0], b = one.operand[1];
    const uint32_t c = one.operand[2];
    const bool negated = one.what == op::fnma;
    if (register_[a] == none || (dies(b) && !dies(a))) std::swap(a, b);
    if (dies(a) && !dies(c) && a != b && a != c) {
      const Xmm to = vector(register_[a]), y = in_register(b, 1);
      last(c, 2, [&](const auto& z) {
        negated ? TUTTI_REAL(vfnmadd213, to, y, z) : TUTTI_REAL(vfmadd213, to, y, z);
      });
      register_[n] = std::exchange(register_[a], none);
      --uses_[a];
      used(b);
      return used(c);
    }
    const bool in_place = dies(c) && c != a && c != b;
    if (in_place) {
      register_[n] = std::exchange(register_[c], none);
    } else {
      const Xmm fresh = take(n);
      register_[c] == none ? load(fresh, c) : vmovaps(fresh, vector(register_[c]));
    }
    const Xmm to = vector(register_[n]), x = in_register(a, 0);
    last(b, 1, [&](const auto& y) {
      negated ? TUTTI_REAL(vfnmadd231, to, x, y) : TUTTI_REAL(vfmadd231, to, x, y);
    });
    used(a);
    used(b);
    in_place ? void(--uses_[c]) : used(c);
  }

  void pick(uint32_t n, const node& one) {
    const uint32_t condition = one.operand[0], a = one.operand[1], b = one.operand[2];
    const int chosen = register_[condition];
    const Xmm otherwise = in_register(b, 0);
    last(a, 1, [&](const auto& x) {
      for (uint32_t operand : one.operand) used(operand);
      const Xmm to = take(n);
      if (!has_masks()) return TUTTI_REAL(vblendv, to, otherwise, x, vector(chosen));
      TUTTI_REAL(vblendm, to | Opmask(chosen), otherwise, x);
    });
  }
};
#undef TUTTI_REAL
#undef TUTTI_WHOLE

}  // namespace tutti::sdk
