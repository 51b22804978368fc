// SPDX-License-Identifier: Apache-2.0
//
// Loops for x86-64 processors, written by xbyak: in registers of 512 bits where there is AVX-512,
// of 256 bits where there are AVX2 and FMA.
#include <xbyak/xbyak.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/host_engine/lane_program.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

using Xbyak::Address;
using Xbyak::Opmask;
using Xbyak::Xmm;

// Of vector instructions the one for f32 or f64, or for integers of that width.
#define TUTTI_REAL(name, ...) (program_.wide ? name##pd(__VA_ARGS__) : name##ps(__VA_ARGS__))
#define TUTTI_WHOLE(name, ...) (program_.wide ? name##q(__VA_ARGS__) : name##d(__VA_ARGS__))

// What a loop is made for, and into what.
struct loop_plan {
  lane_program program;
  std::vector<bool> booleans;     // of the inputs
  std::vector<uint32_t> results;  // nodes
  uint32_t bits = 256;            // of a register
  size_t kept = 0;                // constants and scalars that stay in registers
};

// A number is in each lane. A condition is all bits of the lane or none with AVX2, and a bit of a
// mask register with AVX-512.
class writer : private Xbyak::CodeGenerator {
 public:
  writer(const loop_plan& plan, const fused_loop::description& what,
         const std::vector<uint32_t>& element)
      : CodeGenerator(bytes_for(plan.program)),
        plan_(plan),
        program_(plan.program),
        what_(what),
        element_(element),
        uses_(program_.nodes.size()),
        register_(program_.nodes.size(), none) {
    for (int n = has_masks() ? 28 : 12; n >= 0; --n) free_.push_back(n);
    for (int n = 7; n > 0; --n) free_masks_.push_back(n);
    spare_ = free_.size();
    count_uses();
    write();
    setProtectModeRE();
  }
  template <typename F>
  F function() const {
    return getCode<F>();
  }
  // Vectors that were never taken.
  size_t spare() const { return spare_; }

 private:
  using op = lane_program::op;
  using node = lane_program::node;
  static constexpr int none = -1;
  static constexpr size_t saved_from = 5;  // of addresses(): what the caller wants back

  // No operation takes more than four instructions of ten bytes and a constant.
  static size_t bytes_for(const lane_program& program) { return 1024 + 72 * program.nodes.size(); }

  bool has_masks() const { return plan_.bits == 512; }
  int lanes() const { return static_cast<int>(plan_.bits) / (program_.wide ? 64 : 32); }
  Xmm vector(int n) const {
    if (has_masks()) return Xbyak::Zmm(n);
    return Xbyak::Ymm(n);
  }
  Xmm scratch(int k) const { return vector((has_masks() ? 29 : 13) + k); }

  std::array<Xbyak::Reg64, fused_loop::most_arrays> addresses() const {
    return {rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15, rdi};
  }
  Xbyak::RegExp place(size_t n) const {
    return addresses()[n] + rcx * static_cast<int>(element_[n]);
  }

  // Of what a result needs.
  void count_uses() {
    for (uint32_t result : plan_.results) ++uses_[result];
    for (size_t n = program_.nodes.size(); n-- > 0;) {
      const node& one = program_.nodes[n];
      if (uses_[n] == 0) continue;
      for (uint32_t k = 0; k < one.operands; ++k) ++uses_[one.operand[k]];
    }
  }

  void write() {
    const auto address = addresses();
    const size_t arrays = element_.size(), saved = std::min(arrays, fused_loop::most_arrays - 1);
    for (size_t n = saved_from; n < saved; ++n) push(address[n]);
    for (size_t n = 0; n < arrays; ++n) mov(address[n], ptr[rdi + 8 * static_cast<int>(n)]);
    keep_constants();
    xor_(ecx, ecx);
    Xbyak::Label next;
    L(next);
    for (uint32_t n = 0; n < program_.nodes.size(); ++n)
      if (uses_[n] > 0) write(n);
    for (uint32_t result : plan_.results) load_input(result);
    for (size_t n = 0; n < plan_.results.size(); ++n)
      store(place(what_.inputs.size() + n), plan_.results[n], what_.results[n].dtype);
    add(rcx, lanes());
    cmp(rcx, rdx);
    jb(next, T_NEAR);
    for (size_t n = saved; n-- > saved_from;) pop(address[n]);
    vzeroupper();
    ret();
    align(32);
    for (auto& [bits, label] : constants_) {
      L(label);
      for (int k = 0; k < (has_masks() ? 1 : 4); ++k) dq(program_.wide ? bits : bits << 32 | bits);
    }
  }

  // Those that are used most often, as far as registers are left.
  void keep_constants() {
    std::vector<uint32_t> all;
    for (uint32_t n = 0; n < program_.nodes.size(); ++n) {
      const op what = program_.nodes[n].what;
      if (uses_[n] > 0 && (what == op::constant || what == op::scalar)) all.push_back(n);
    }
    // A scalar in memory takes an instruction of its own.
    const auto worth = [&](uint32_t n) {
      return uses_[n] * (program_.nodes[n].what == op::scalar ? 2 : 1);
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](uint32_t a, uint32_t b) { return worth(a) > worth(b); });
    if (all.size() > plan_.kept) all.resize(plan_.kept);
    for (uint32_t n : all) {
      load(take(n), n);
      ++uses_[n];  // it never ends
    }
  }

  // ---- registers; three vectors hold something for one operation

  bool is_mask(uint32_t n) const { return has_masks() && program_.is_condition(n, plan_.booleans); }
  int take_from(std::vector<int>& free) {
    if (free.empty()) throw lane_program::impossible("too many values at once");
    const int taken = free.back();
    free.pop_back();
    spare_ = std::min(spare_, free_.size());
    return taken;
  }
  Xmm take(uint32_t n) { return vector(register_[n] = take_from(free_)); }
  Opmask take_mask(uint32_t n) { return Opmask(register_[n] = take_from(free_masks_)); }
  // One use of an operand is over; its register is free when the last one is.
  void used(uint32_t n) {
    if (--uses_[n] > 0 || register_[n] == none) return;
    (is_mask(n) ? free_masks_ : free_).push_back(register_[n]);
  }
  bool dies(uint32_t n) const { return uses_[n] == 1 && register_[n] != none; }

  // As the last operand of an instruction; without AVX-512 it is as long as a register.
  Address constant(uint64_t bits) {
    const auto at = rip + constants_[bits];
    return has_masks() ? ptr_b[at] : ptr[at];
  }

  // A number that is in no register comes to scratch register k.
  Xmm in_register(uint32_t n, int k) {
    if (register_[n] != none) return vector(register_[n]);
    load(scratch(k), n);
    return scratch(k);
  }
  void load(const Xmm& to, uint32_t n) {
    const node& one = program_.nodes[n];
    if (one.what == op::constant) return broadcast(to, ptr[rip + constants_[one.bits]]);
    broadcast(to, ptr[rsi + static_cast<int>(one.detail * sizeof(tutti_scalar))]);
  }
  void broadcast(const Xmm& to, const Address& from) {
    program_.wide ? vbroadcastsd(Xbyak::Ymm(to.getIdx(), to.getKind(), to.getBit()), from)
                  : vbroadcastss(to, from);
  }
  // The last operand of an instruction, which may be in memory: calls f with it.
  template <typename F>
  void last(uint32_t n, int k, const F& f) {
    if (program_.is_constant(n) && register_[n] == none) return f(constant(program_.nodes[n].bits));
    f(in_register(n, k));
  }

  // ---- memory

  // Where n is an input that was not wanted before.
  void load_input(uint32_t n) {
    if (program_.nodes[n].what != op::input || register_[n] != none) return;
    const uint32_t number = program_.nodes[n].detail;
    const auto from = place(number);
    if (!plan_.booleans[number]) return TUTTI_REAL(vmovu, take(n), ptr[from]);
    // Any byte but 0 is true.
    const Xmm to = has_masks() ? scratch(0) : take(n);
    program_.wide ? vpmovzxbq(to, ptr[from]) : vpmovzxbd(to, ptr[from]);
    if (has_masks()) return TUTTI_WHOLE(vptestm, take_mask(n), to, to);
    vpxor(scratch(0), scratch(0), scratch(0));
    TUTTI_WHOLE(vpcmpgt, to, to, scratch(0));
  }

  void store(const Xbyak::RegExp& to, uint32_t n, uint8_t dtype) {
    if (dtype != TUTTI_BOOL) return TUTTI_REAL(vmovu, ptr[to], in_register(n, 0));
    const Xmm low(scratch(1).getIdx()), high(scratch(2).getIdx());
    if (has_masks()) {
      vpmovm2b(low, Opmask(register_[n]));
      vpabsb(low, low);
      return program_.wide ? vmovq(ptr[to], low) : vmovdqu8(ptr[to], low);
    }
    const Xmm from(register_[n]);
    vextracti128(high, Xbyak::Ymm(register_[n]), 1);
    program_.wide ? vshufps(low, from, high, 0x88) : vpackssdw(low, from, high);
    if (program_.wide) vpackssdw(low, low, low);
    vpacksswb(low, low, low);
    vpabsb(low, low);
    program_.wide ? vmovd(ptr[to], low) : vmovq(ptr[to], low);
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
           what == op::integer_equal;
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
      default:
        break;
    }
    if (has_masks() && program_.wide) return vpsraq(to, x, by);
    if (!program_.wide) return vpsrad(to, x, by);
    // Where the sign bit comes to, it is turned and taken away.
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
      default:
        break;
    }
    compare(one, to, x, y);
  }

  // The result takes the place of an operand that nobody wants any more, the addend if it may.
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

  const loop_plan& plan_;
  const lane_program& program_;
  const fused_loop::description& what_;
  const std::vector<uint32_t>& element_;
  std::vector<uint32_t> uses_;  // that are still to come
  std::vector<int> register_;   // of each node
  std::vector<int> free_, free_masks_;
  size_t spare_ = 0;
  std::map<uint64_t, Xbyak::Label> constants_;
};
#undef TUTTI_REAL
#undef TUTTI_WHOLE

const traced_row* row_of(const fused_loop::instruction& one) {
  return find_traced(one.opcode, one.of, one.result_dtype);
}

// Gives the nodes of the results.
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
    node_of[one.result] = row_of(one)->write(to, operands);
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

bool fused_loop::takes(const instruction& one) { return most_bits() > 0 && row_of(one) != nullptr; }

uint32_t fused_loop::width(const instruction& one) {
  for (uint8_t dtype : {one.of, one.result_dtype})
    if (dtype != TUTTI_BOOL) return dtype_size(dtype);
  return 0;
}

std::unique_ptr<fused_loop> fused_loop::make(const description& what, uint32_t bits) {
  if (what.inputs.size() + what.results.size() > most_arrays) return nullptr;
  std::unique_ptr<fused_loop> loop(new fused_loop);
  loop_plan plan;
  plan.bits = bits;
  for (const instruction& one : what.instructions)
    plan.program.wide = plan.program.wide || width(one) == 8;
  loop->lanes_ = bits / (plan.program.wide ? 64 : 32);
  loop->inputs_ = what.inputs.size();
  for (const array& input : what.inputs) {
    loop->element_.push_back(dtype_size(input.dtype));
    plan.booleans.push_back(input.dtype == TUTTI_BOOL);
  }
  for (const array& result : what.results) loop->element_.push_back(dtype_size(result.dtype));
  try {
    plan.results = trace(what, plan.program);
    // Once to see how many registers are left.
    plan.kept = writer(plan, what, loop->element_).spare();
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
