// SPDX-License-Identifier: Apache-2.0
//
// Loops for x86-64 processors, written with xbyak: 512-bit registers with AVX-512, 256-bit
// registers with AVX2 and FMA.
#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/host_engine/lane_program.hpp"
#include "sdk/host_engine/loop_assembler.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

class writer : private loop_assembler {
 public:
  writer(const loop_plan& plan, const fused_loop::description& what,
         const std::vector<uint32_t>& element)
      : loop_assembler(plan, what, element) {
    write();
    setProtectModeRE();
  }
  template <typename F>
  F function() const {
    return getCode<F>();
  }
  // Vector and mask registers that were never used.
  std::pair<size_t, size_t> spare() const { return {spare_, spare_masks_}; }
  using loop_assembler::masks;
  using loop_assembler::vectors;

 private:
  static constexpr size_t saved_from = 5;  // of addresses(): callee-saved
  // The number of totals minus one, in the red zone of the stack.
  Address totals() const { return ptr[rsp - 8]; }

  void write() {
    const auto address = addresses();
    const size_t arrays = element_.size(), saved = std::min(arrays, fused_loop::most_arrays - 1);
    for (size_t n = saved_from; n < saved; ++n) push(address[n]);
    for (size_t n = 0; n < arrays; ++n) mov(address[n], ptr[rdi + 8 * static_cast<int>(n)]);
    keep_constants();
    Xbyak::Label streamed, done;
    if (plan_.joins) {
      mov(totals(), rcx);
    } else {
      test(rcx, rcx);
      jnz(streamed, T_NEAR);
    }
    xor_(ecx, ecx);
    const auto before = std::make_tuple(uses_, register_, free_, free_masks_);
    const auto begin = [&] { std::tie(uses_, register_, free_, free_masks_) = before; };
    if (plan_.side_by_side) {
      Xbyak::Label last;
      sub(rdx, lanes());
      jz(last, T_NEAR);
      loop(false, true);
      begin();
      L(last);
      add(rdx, lanes());
      cmp(rcx, rdx);
      jae(done, T_NEAR);
    }
    loop(false, false);
    if (!plan_.joins) {
      jmp(done, T_NEAR);
      begin();
      L(streamed);
      xor_(ecx, ecx);
      loop(true, false);
    }
    L(done);
    for (size_t n = saved; n-- > saved_from;) pop(address[n]);
    vzeroupper();
    ret();
    align(32);
    for (auto& [bits, label] : constants_) {
      L(label);
      for (int k = 0; k < (has_masks() ? 1 : 4); ++k) dq(program_.wide ? bits : bits << 32 | bits);
    }
  }

  // An operation takes several cycles: the next one works on other elements if registers allow.
  void loop(bool streams, bool side_by_side) {
    Xbyak::Label next;
    L(next);
    if (plan_.joins) {
      mov(total(), rcx);
      and_(total(), totals());
    }
    const auto each = [&](const auto& f) {
      f();
      if (!side_by_side) return;
      turn();
      f();
      turn();
    };
    for (uint32_t n = 0; n < program_.nodes.size(); ++n)
      each([&] { uses_[n] > 0 ? write(n) : void(); });
    for (uint32_t result : plan_.results) each([&] { load_input(result); });
    for (size_t n = 0; n < plan_.results.size(); ++n)
      each([&] {
        const fused_loop::array& result = what_.results[n];
        const auto to = place(what_.inputs.size() + n);
        const bool is_signed = result.adds == fused_loop::widened::integer;
        result.adds != fused_loop::widened::no
            ? add_widened(to, in_register(plan_.results[n], 0), is_signed)
            : store(to, plan_.results[n], result.dtype, streams);
      });
    add(rcx, side_by_side ? 2 * lanes() : lanes());
    cmp(rcx, rdx);
    jb(next, T_NEAR);
  }

  // ---- operations

  void write(uint32_t n) {
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

const traced_row* row_of(const fused_loop::instruction& one) {
  return find_traced(one.opcode, one.of, one.result_dtype);
}

// Returns the nodes of the results.
std::vector<uint32_t> trace(const fused_loop::description& what, lane_program& to) {
  using op = lane_program::op;
  std::map<uint32_t, uint32_t> node_of;
  for (uint32_t n = 0; n < what.inputs.size(); ++n)
    node_of[what.inputs[n].value] = to.add(op::input, n);
  for (uint32_t n = 0; n < what.scalars; ++n)
    node_of[what.first_scalar + n] = to.add(op::scalar, n);
  for (const fused_loop::instruction& one : what.instructions) {
    uint32_t operands[3] = {};
    for (size_t k = 0; k < one.operands.size(); ++k) operands[k] = node_of.at(one.operands[k]);
    const bool widens = fused_loop::widens(one) != fused_loop::widened::no;
    // Totals are added to in memory.
    node_of[one.result] = widens ? operands[1] : row_of(one)->write(to, operands);
  }
  std::vector<uint32_t> results;
  for (const fused_loop::array& result : what.results) results.push_back(node_of.at(result.value));
  return results;
}

}  // namespace

uint32_t fused_loop::most_bits() {
  static const uint32_t bits = [] {
    const bool fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    const bool masks = __builtin_cpu_supports("avx512bw") != 0 &&
                       __builtin_cpu_supports("avx512dq") != 0 &&
                       __builtin_cpu_supports("avx512vl") != 0;
    return !fma ? 0u : masks ? 512u : 256u;
  }();
  return bits;
}

fused_loop::widened fused_loop::widens(const instruction& one) {
  const bool totals = one.result_dtype == TUTTI_I64 || one.result_dtype == TUTTI_U64;
  if (one.opcode != TUTTI_OP_add || !totals) return widened::no;
  return one.of == TUTTI_I32   ? widened::integer
         : one.of == TUTTI_U32 ? widened::natural
                               : widened::no;
}

bool fused_loop::takes(const instruction& one) {
  return most_bits() > 0 && (row_of(one) != nullptr || widens(one) != widened::no);
}

uint32_t fused_loop::width(const instruction& one) {
  if (widens(one) != widened::no) return 4;
  for (uint8_t dtype : {one.of, one.result_dtype})
    if (dtype != TUTTI_BOOL) return std::max(dtype_size(dtype), 4u);
  return 0;
}

std::unique_ptr<fused_loop> fused_loop::make(const description& what, uint32_t bits) {
  if (what.inputs.size() + what.results.size() > most_arrays) return nullptr;
  std::unique_ptr<fused_loop> loop(new fused_loop);
  loop_plan plan;
  for (size_t n = 0; n < what.inputs.size(); ++n)
    if (what.inputs[n].joined) loop->joined_ = n;
  plan.joins = loop->joined_ != none;
  // Totals need one address register, and must be the only result.
  if (plan.joins && (what.inputs.size() + 1 == most_arrays || what.results.size() > 1))
    return nullptr;
  plan.bits = bits;
  plan.program.masks = bits == 512;
  for (const instruction& one : what.instructions)
    plan.program.wide = plan.program.wide || width(one) == 8;
  loop->lanes_ = bits / (plan.program.wide ? 64 : 32);
  loop->vector_bytes_ = bits / 8;
  loop->inputs_ = what.inputs.size();
  for (const array& input : what.inputs) {
    loop->element_.push_back(dtype_size(input.dtype));
    loop->single_.push_back(input.single);
    plan.booleans.push_back(input.dtype == TUTTI_BOOL);
  }
  for (const array& result : what.results) loop->element_.push_back(dtype_size(result.dtype));
  try {
    plan.results = trace(what, plan.program);
    // The first pass counts the free registers.
    const auto [spare, spare_masks] = writer(plan, what, loop->element_).spare();
    const size_t taken = writer::vectors(bits) - spare;
    plan.side_by_side = spare >= taken && 2 * spare_masks >= writer::masks;
    plan.kept = plan.side_by_side ? spare - taken : spare;
    const auto written = std::make_shared<const writer>(plan, what, loop->element_);
    loop->code_ = written->function<code>();
    loop->memory_ = written;
  } catch (const lane_program::impossible&) {
    return nullptr;
  } catch (const Xbyak::Error&) {
    return nullptr;  // no memory for code
  }
  return loop;
}

}  // namespace tutti::sdk
