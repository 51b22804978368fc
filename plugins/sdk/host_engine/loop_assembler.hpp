// SPDX-License-Identifier: Apache-2.0
//
// Registers, constants and memory of a machine code loop for x86-64 (see fused_loop_x86.cpp).
#pragma once

#include <xbyak/xbyak.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/host_engine/lane_program.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {

// The vector instruction for f32 or f64, or for integers of that width.
#define TUTTI_REAL(name, ...) (program_.wide ? name##pd(__VA_ARGS__) : name##ps(__VA_ARGS__))
#define TUTTI_WHOLE(name, ...) (program_.wide ? name##q(__VA_ARGS__) : name##d(__VA_ARGS__))

// The input of the assembler.
struct loop_plan {
  lane_program program;
  std::vector<bool> booleans;     // of the inputs
  std::vector<uint32_t> results;  // nodes
  uint32_t bits = 256;            // register width
  size_t kept = 0;                // number of constants and scalars kept in registers
  bool side_by_side = false;      // two registers of elements at once
  bool joins = false;             // whether it adds to totals
  size_t totals = 0;              // vectors of totals of a row that stay in registers
};

// Each lane holds one number. A condition is a lane of all ones or zeros with AVX2, and a bit of a
// mask register with AVX-512.
class loop_assembler : protected Xbyak::CodeGenerator {
 protected:
  using Address = Xbyak::Address;
  using Opmask = Xbyak::Opmask;
  using Xmm = Xbyak::Xmm;
  using op = lane_program::op;
  using node = lane_program::node;
  static constexpr int none = -1;

  // An operation takes at most ten instructions and a constant, in each of five places and for each
  // vector of totals.
  static size_t bytes_for(const loop_plan& plan) {
    return 1024 + 96 * (5 + plan.totals) * plan.program.nodes.size();
  }

  bool has_masks() const { return plan_.bits == 512; }
  int lanes() const { return static_cast<int>(plan_.bits) / (program_.wide ? 64 : 32); }
  Xmm vector(int n) const {
    if (has_masks()) return Xbyak::Zmm(n);
    return Xbyak::Ymm(n);
  }
  // Registers for values; three more vectors are scratch registers.
  static constexpr size_t masks = 6;
  static size_t vectors(uint32_t bits) { return bits == 512 ? 29 : 13; }
  Xmm scratch(int k) const { return vector(static_cast<int>(vectors(plan_.bits)) + k); }

  std::array<Xbyak::Reg64, fused_loop::most_arrays> addresses() const {
    return {rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15, rdi};
  }
  // With totals, the last of these is the index of the total for the next element.
  Xbyak::Reg64 total() const { return addresses().back(); }
  const fused_loop::array& array(size_t n) const {
    const size_t inputs = what_.inputs.size();
    return n < inputs ? what_.inputs[n] : what_.results[n - inputs];
  }
  Xbyak::RegExp place(size_t n) const {
    const auto element = static_cast<int>(element_[n]);
    const Xbyak::Reg64 index = array(n).joined ? total() : rcx;
    return addresses()[n] + index * element + (offset_ + (second_ ? lanes() : 0)) * element;
  }

  loop_assembler(const loop_plan& plan, const fused_loop::description& what,
                 const std::vector<uint32_t>& element)
      : CodeGenerator(bytes_for(plan)),
        plan_(plan),
        program_(plan.program),
        what_(what),
        element_(element),
        uses_(program_.nodes.size()),
        register_(program_.nodes.size(), none),
        hoisted_(program_.nodes.size()) {
    for (int n = static_cast<int>(vectors(plan.bits)); n-- > 0;) free_.push_back(n);
    for (int n = static_cast<int>(masks); n > 0; --n) free_masks_.push_back(n);
    spare_ = free_.size();
    count_uses();
    other_uses_ = uses_;
    other_register_ = register_;
  }

  // Counts the uses of nodes that results need.
  void count_uses() {
    for (uint32_t result : plan_.results) ++uses_[result];
    for (size_t n = program_.nodes.size(); n-- > 0;) {
      const node& one = program_.nodes[n];
      if (uses_[n] == 0) continue;
      for (uint32_t k = 0; k < one.operands; ++k) ++uses_[one.operand[k]];
    }
  }

  // One number in memory for all elements.
  bool is_one(uint32_t n) const {
    const node& one = program_.nodes[n];
    return one.what == op::scalar || (one.what == op::input && what_.inputs[one.detail].single);
  }

  // Keeps the most frequently used ones in at most `kept` registers.
  void keep_constants(size_t kept) {
    std::vector<uint32_t> all;
    for (uint32_t n = 0; n < program_.nodes.size(); ++n) {
      if (uses_[n] > 0 && (program_.is_constant(n) || is_one(n))) all.push_back(n);
    }
    // A scalar in memory takes an additional instruction.
    const auto worth = [&](uint32_t n) { return uses_[n] * (is_one(n) ? 2 : 1); };
    std::stable_sort(all.begin(), all.end(),
                     [&](uint32_t a, uint32_t b) { return worth(a) > worth(b); });
    if (all.size() > kept) all.resize(kept);
    for (uint32_t n : all) {
      load(take(n), n);
      other_register_[n] = register_[n];
      ++uses_[n];  // never released
      ++other_uses_[n];
    }
  }

  // Switches between the first and the second registers of elements.
  void turn() {
    second_ = !second_;
    std::swap(uses_, other_uses_);
    std::swap(register_, other_register_);
  }

  // ---- registers; three vectors and a mask are scratch registers of one operation

  bool is_mask(uint32_t n) const { return has_masks() && program_.is_condition(n, plan_.booleans); }
  int take_from(std::vector<int>& free) {
    if (free.empty()) throw lane_program::impossible("too many values at once");
    const int taken = free.back();
    free.pop_back();
    spare_ = std::min(spare_, free_.size());
    spare_masks_ = std::min(spare_masks_, free_masks_.size());
    return taken;
  }
  Xmm take(uint32_t n) { return vector(register_[n] = take_from(free_)); }
  Opmask take_mask(uint32_t n) { return Opmask(register_[n] = take_from(free_masks_)); }
  // Ends one use of an operand; frees its register after the last one.
  void used(uint32_t n) {
    if (--uses_[n] > 0 || register_[n] == none) return;
    (is_mask(n) ? free_masks_ : free_).push_back(register_[n]);
  }
  bool dies(uint32_t n) const { return uses_[n] == 1 && register_[n] != none; }

  // A memory operand; without AVX-512 it is as long as a register.
  Address constant(uint64_t bits) {
    const auto at = rip + constants_[bits];
    return has_masks() ? ptr_b[at] : ptr[at];
  }

  // Loads a number that is in no register into scratch register k.
  Xmm in_register(uint32_t n, int k) {
    if (register_[n] != none) return vector(register_[n]);
    load(scratch(k), n);
    return scratch(k);
  }
  void load(const Xmm& to, uint32_t n) {
    const node& one = program_.nodes[n];
    if (one.what == op::constant) return broadcast(to, ptr[rip + constants_[one.bits]]);
    if (one.what == op::input) return broadcast(to, ptr[addresses()[one.detail]]);
    broadcast(to, ptr[rsi + static_cast<int>(one.detail * sizeof(tutti_scalar))]);
  }
  void broadcast(const Xmm& to, const Address& from) {
    program_.wide ? vbroadcastsd(Xbyak::Ymm(to.getIdx(), to.getKind(), to.getBit()), from)
                  : vbroadcastss(to, from);
  }
  // Calls f with the last operand of an instruction, which may be in memory.
  template <typename F>
  void last(uint32_t n, int k, const F& f) {
    if (program_.is_constant(n) && register_[n] == none) return f(constant(program_.nodes[n].bits));
    f(in_register(n, k));
  }

  // The upper halves of products, for even and odd lanes separately.
  void multiply_high(uint32_t n, uint32_t a, uint32_t b) {
    if (program_.wide) throw lane_program::impossible("the upper half of a product of u64");
    const Xmm x = in_register(a, 0), y = in_register(b, 1), even = scratch(2), odd = take(n);
    vpsrlq(even, x, 32);
    vpsrlq(odd, y, 32);
    vpmuludq(odd, odd, even);
    vpmuludq(even, x, y);
    vpsrlq(even, even, 32);
    vpsrlq(odd, odd, 32);
    vpsllq(odd, odd, 32);
    has_masks() ? vporq(odd, odd, even) : vpor(odd, odd, even);
    used(a);
    used(b);
  }

  // ---- memory

  // Loads node n if it is an input that was not loaded before.
  void load_input(uint32_t n) {
    if (program_.nodes[n].what != op::input || register_[n] != none || is_one(n)) return;
    const uint32_t number = program_.nodes[n].detail;
    const auto from = place(number);
    const uint8_t dtype = what_.inputs[number].dtype;
    if (loads_converted(dtype)) return load_converted(take(n), ptr[from], dtype);
    if (!plan_.booleans[number]) return TUTTI_REAL(vmovu, take(n), ptr[from]);
    // Any nonzero byte is true.
    const Xmm to = has_masks() ? scratch(0) : take(n);
    program_.wide ? vpmovzxbq(to, ptr[from]) : vpmovzxbd(to, ptr[from]);
    if (has_masks()) return TUTTI_WHOLE(vptestm, take_mask(n), to, to);
    vpxor(scratch(0), scratch(0), scratch(0));
    TUTTI_WHOLE(vpcmpgt, to, to, scratch(0));
  }

  static bool loads_converted(uint8_t dtype) {
    return dtype != TUTTI_BOOL && dtype_size(dtype) < 4;
  }
  void load_converted(const Xmm& to, const Address& from, uint8_t dtype) {
    switch (dtype) {
      case TUTTI_F16:
        return vcvtph2ps(to, from);
      case TUTTI_BF16:
        vpmovzxwd(to, from);
        return vpslld(to, to, 16);
      case TUTTI_I8:
        return vpmovsxbd(to, from);
      case TUTTI_I16:
        return vpmovsxwd(to, from);
      case TUTTI_U8:
        return vpmovzxbd(to, from);
      default:
        return vpmovzxwd(to, from);
    }
  }

  // Adds the two halves as 64-bit numbers.
  void add_widened(const Xbyak::RegExp& to, const Xmm& x, bool is_signed) {
    const Xmm wide = scratch(1);
    const Xbyak::Ymm low(x.getIdx());
    for (int half = 0; half < 2; ++half) {
      const auto narrow = [&](const Xmm& from) {
        is_signed ? vpmovsxdq(wide, from) : vpmovzxdq(wide, from);
      };
      const Xbyak::Ymm upper(scratch(1).getIdx());
      if (half > 0) {
        has_masks() ? vextracti64x4(upper, Xbyak::Zmm(x.getIdx()), 1)
                    : vextracti128(Xmm(upper.getIdx()), low, 1);
      }
      const Xbyak::Ymm& from = half > 0 ? upper : low;
      narrow(has_masks() ? static_cast<const Xmm&>(from) : Xmm(from.getIdx()));
      const Address at = ptr[to + half * static_cast<int>(plan_.bits) / 8];
      vpaddq(wide, wide, at);
      has_masks() ? vmovdqu64(at, wide) : vmovdqu(at, wide);
    }
  }

  void store(const Xbyak::RegExp& to, uint32_t n, uint8_t dtype, bool streams) {
    if (dtype == TUTTI_F16) return vcvtps2ph(ptr[to], in_register(n, 0), 0);
    if (dtype == TUTTI_BF16) return store_bf16(to, in_register(n, 0));
    if (dtype != TUTTI_BOOL && streams) return TUTTI_REAL(vmovnt, ptr[to], in_register(n, 0));
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

  // As tutti_to_bf16 of kernels_cl/prelude.cl: rounds to nearest even, and keeps NaN.
  void store_bf16(const Xbyak::RegExp& to, const Xmm& x) {
    const Xmm high = scratch(1), rounded = scratch(2);
    vpsrld(high, x, 16);
    vandps(rounded, high, constant(1));
    vpaddd(rounded, rounded, x);
    vpaddd(rounded, rounded, constant(0x7fff));
    vpsrld(rounded, rounded, 16);
    vorps(high, high, constant(0x40));
    if (has_masks()) {
      vcmpps(k7, x, x, 3);
      vmovaps(rounded | k7, high);
      return vpmovdw(ptr[to], Xbyak::Zmm(rounded.getIdx()));
    }
    const Xmm nan = scratch(0);  // may be x, which is not used again
    vcmpps(nan, x, x, 3);
    vblendvps(rounded, rounded, high, nan);
    vextracti128(Xmm(high.getIdx()), Xbyak::Ymm(rounded.getIdx()), 1);
    vpackusdw(Xmm(high.getIdx()), Xmm(rounded.getIdx()), Xmm(high.getIdx()));
    vmovdqu(ptr[to], Xmm(high.getIdx()));
  }

  const loop_plan& plan_;
  const lane_program& program_;
  const fused_loop::description& what_;
  const std::vector<uint32_t>& element_;
  std::vector<uint32_t> uses_;  // remaining uses
  std::vector<int> register_;   // of each node
  std::vector<bool> hoisted_;   // computed before the loops
  bool second_ = false;
  int offset_ = 0;  // of the elements behind those at the loop's index
  std::vector<uint32_t> other_uses_;
  std::vector<int> other_register_;
  std::vector<int> free_, free_masks_;
  size_t spare_ = 0, spare_masks_ = masks;
  std::map<uint64_t, Xbyak::Label> constants_;
  Xbyak::Label words_;  // of 2/pi
  bool looks_up_ = false;
};

}  // namespace tutti::sdk
