// SPDX-License-Identifier: Apache-2.0
//
// Loops for x86-64 processors with AVX2, written by xbyak. 256 bits on every processor: the values
// of a program come from the second cache or from memory, which wider registers do not hasten.
#include <xbyak/xbyak.h>

#include <algorithm>
#include <array>
#include <map>

#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

using Xbyak::Ymm;

#define TUTTI_EMIT(name, ...) (wide_ ? name##pd(__VA_ARGS__) : name##ps(__VA_ARGS__))

// A number of f32 or of f64 is in each lane; of a boolean all bits of the lane.
class writer : private Xbyak::CodeGenerator {
 public:
  using instruction = fused_loop::instruction;
  using array = fused_loop::array;

  writer(const fused_loop::description& what, bool wide, const std::vector<uint32_t>& element)
      : CodeGenerator(code_bytes), what_(what), wide_(wide), element_(element) {
    for (size_t n = 0; n < what.instructions.size(); ++n)
      for (uint32_t value : what.instructions[n].operands) last_use_[value] = n;
    for (const array& result : what.results) last_use_[result.value] = what.instructions.size();
    write();
    setProtectModeRE();
  }
  template <typename F>
  F function() const {
    return getCode<F>();
  }

  // How an instruction on f32 or f64 is written, or one on booleans; NULL: not at all.
  using form = void (writer::*)(const Ymm& y, const Ymm& a, const Ymm& b, const Ymm& c);
  static form form_of(const instruction& one);

 private:
  static constexpr size_t code_bytes = 4096;
  static constexpr int saved_from = 5;  // of addresses(): what the caller wants back

  std::array<Xbyak::Reg64, fused_loop::most_arrays> addresses() const {
    return {rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15, rdi};
  }

  void write() {
    const auto address = addresses();
    const size_t arrays = element_.size(), saved = std::min(arrays, fused_loop::most_arrays - 1);
    for (size_t n = saved_from; n < saved; ++n) push(address[n]);
    for (size_t n = 0; n < arrays; ++n) mov(address[n], ptr[rdi + 8 * static_cast<int>(n)]);
    xor_(ecx, ecx);
    Xbyak::Label next;
    L(next);
    for (size_t n = 0; n < what_.instructions.size(); ++n) write(what_.instructions[n], n);
    for (size_t n = what_.inputs.size(); n < arrays; ++n) {
      const array& result = what_.results[n - what_.inputs.size()];
      store(place(n), register_.at(result.value), result.dtype);
    }
    add(rcx, wide_ ? 4 : 8);
    cmp(rcx, rdx);
    jb(next, T_NEAR);
    for (size_t n = saved; n-- > saved_from;) pop(address[n]);
    vzeroupper();
    ret();
    align(8);
    for (auto& [bits, label] : constants_) {
      L(label);
      dq(bits);
    }
  }

  Xbyak::RegExp place(size_t n) const {
    return addresses()[n] + rcx * static_cast<int>(element_[n]);
  }

  // ---- registers: free_ is taken from the end

  Ymm take(uint32_t value) {
    if (free_.empty()) throw Xbyak::Error(Xbyak::ERR_BAD_COMBINATION);
    const Ymm taken(free_.back());
    free_.pop_back();
    register_[value] = taken;
    return taken;
  }
  void release(uint32_t value) {
    free_.push_back(register_.at(value).getIdx());
    register_.erase(value);
  }
  bool is_scalar(uint32_t value) const {
    return value >= what_.first_scalar && value - what_.first_scalar < what_.scalars;
  }

  Ymm operand(uint32_t value) {
    const auto there = register_.find(value);
    if (there != register_.end()) return there->second;
    const Ymm to = take(value);
    if (is_scalar(value)) {
      const auto at =
          ptr[rsi + static_cast<int>((value - what_.first_scalar) * sizeof(tutti_scalar))];
      wide_ ? vbroadcastsd(to, at) : vbroadcastss(to, at);
      return to;
    }
    size_t n = 0;
    while (what_.inputs[n].value != value) ++n;
    load(to, place(n), what_.inputs[n].dtype);
    return to;
  }

  void load(const Ymm& to, const Xbyak::RegExp& from, uint8_t dtype) {
    if (dtype != TUTTI_BOOL) return TUTTI_EMIT(vmovu, to, ptr[from]);
    // Any byte but 0 is true.
    vpxor(scratch_[0], scratch_[0], scratch_[0]);
    wide_ ? vpmovzxbq(to, ptr[from]) : vpmovzxbd(to, ptr[from]);
    wide_ ? vpcmpgtq(to, to, scratch_[0]) : vpcmpgtd(to, to, scratch_[0]);
  }

  void store(const Xbyak::RegExp& to, const Ymm& from, uint8_t dtype) {
    if (dtype != TUTTI_BOOL) return TUTTI_EMIT(vmovu, ptr[to], from);
    const Xbyak::Xmm low(scratch_[0].getIdx()), high(scratch_[1].getIdx());
    vextracti128(high, from, 1);
    if (wide_) {
      vshufps(low, Xbyak::Xmm(from.getIdx()), high, 0x88);
      vpackssdw(low, low, low);
    } else {
      vpackssdw(low, Xbyak::Xmm(from.getIdx()), high);
    }
    vpacksswb(low, low, low);
    vpabsb(low, low);
    wide_ ? vmovd(ptr[to], low) : vmovq(ptr[to], low);
  }

  // The same number, by its bits as f32 or as f64, in each lane.
  const Ymm& constant(uint32_t narrow, uint64_t wide, int scratch = 0) {
    const Ymm& to = scratch_[scratch];
    const auto at = ptr[rip + constants_[wide_ ? wide : narrow]];
    wide_ ? vbroadcastsd(to, at) : vbroadcastss(to, at);
    return to;
  }
  const Ymm& one() { return constant(0x3f800000u, 0x3ff0000000000000u); }
  const Ymm& infinity() { return constant(0x7f800000u, 0x7ff0000000000000u); }
  const Ymm& sign_bit(int scratch = 0) {
    return constant(0x80000000u, 0x8000000000000000u, scratch);
  }

  void write(const instruction& one, size_t number) {
    Ymm in[3];
    for (size_t k = 0; k < one.operands.size(); ++k) in[k] = operand(one.operands[k]);
    (this->*form_of(one))(take(one.result), in[0], in[1], in[2]);
    for (uint32_t value : one.operands) {
      const bool over = last_use_.at(value) == number || is_scalar(value);
      if (over && register_.count(value) > 0) release(value);
    }
    if (last_use_.count(one.result) == 0) release(one.result);
  }

  // ---- instructions: y from a, b and c

#define TUTTI_FORM(name, ...)                                               \
  void name([[maybe_unused]] const Ymm& y, [[maybe_unused]] const Ymm& a,   \
            [[maybe_unused]] const Ymm& b, [[maybe_unused]] const Ymm& c) { \
    __VA_ARGS__;                                                            \
  }
  TUTTI_FORM(add_of, TUTTI_EMIT(vadd, y, a, b))
  TUTTI_FORM(subtract_of, TUTTI_EMIT(vsub, y, a, b))
  TUTTI_FORM(multiply_of, TUTTI_EMIT(vmul, y, a, b))
  TUTTI_FORM(divide_of, TUTTI_EMIT(vdiv, y, a, b))
  TUTTI_FORM(square_of, TUTTI_EMIT(vmul, y, a, a))
  TUTTI_FORM(sqrt_of, TUTTI_EMIT(vsqrt, y, a))
  TUTTI_FORM(rsqrt_of, TUTTI_EMIT(vsqrt, y, a); TUTTI_EMIT(vdiv, y, one(), y))
  TUTTI_FORM(negative_of, TUTTI_EMIT(vxor, y, a, sign_bit()))
  TUTTI_FORM(abs_of, TUTTI_EMIT(vandn, y, sign_bit(), a))
  TUTTI_FORM(copysign_of, abs_of(y, a, b, c); TUTTI_EMIT(vand, scratch_[0], scratch_[0], b);
             TUTTI_EMIT(vor, y, y, scratch_[0]))
  // vmin and vmax give a where neither is less, so also where b is NaN.
  TUTTI_FORM(minimum_of, TUTTI_EMIT(vmin, y, b, a); b_where_nan(y, b))
  TUTTI_FORM(maximum_of, TUTTI_EMIT(vmax, y, b, a); b_where_nan(y, b))
  TUTTI_FORM(round_of, TUTTI_EMIT(vround, y, a, 8))
  TUTTI_FORM(floor_of, TUTTI_EMIT(vround, y, a, 9))
  TUTTI_FORM(ceil_of, TUTTI_EMIT(vround, y, a, 10))
  TUTTI_FORM(trunc_of, TUTTI_EMIT(vround, y, a, 11))
  TUTTI_FORM(equal_of, TUTTI_EMIT(vcmp, y, a, b, 0x00))
  TUTTI_FORM(not_equal_of, TUTTI_EMIT(vcmp, y, a, b, 0x04))
  TUTTI_FORM(less_of, TUTTI_EMIT(vcmp, y, a, b, 0x11))
  TUTTI_FORM(less_equal_of, TUTTI_EMIT(vcmp, y, a, b, 0x12))
  TUTTI_FORM(greater_of, TUTTI_EMIT(vcmp, y, a, b, 0x1e))
  TUTTI_FORM(greater_equal_of, TUTTI_EMIT(vcmp, y, a, b, 0x1d))
  TUTTI_FORM(isnan_of, TUTTI_EMIT(vcmp, y, a, a, 0x03))
  TUTTI_FORM(isinf_of, abs_of(y, a, b, c); TUTTI_EMIT(vcmp, y, y, infinity(), 0x00))
  TUTTI_FORM(isfinite_of, abs_of(y, a, b, c); TUTTI_EMIT(vcmp, y, y, infinity(), 0x11))
  TUTTI_FORM(to_bool, vpxor(scratch_[0], scratch_[0], scratch_[0]);
             TUTTI_EMIT(vcmp, y, a, scratch_[0], 0x04))
  TUTTI_FORM(from_bool, TUTTI_EMIT(vand, y, a, one()))
  TUTTI_FORM(where_of, TUTTI_EMIT(vblendv, y, c, b, a))
  TUTTI_FORM(and_of, vpand(y, a, b))
  TUTTI_FORM(or_of, vpor(y, a, b))
  TUTTI_FORM(xor_of, vpxor(y, a, b))
  TUTTI_FORM(not_of, vpcmpeqd(scratch_[0], scratch_[0], scratch_[0]); vpxor(y, a, scratch_[0]))
#undef TUTTI_FORM

  void b_where_nan(const Ymm& y, const Ymm& b) {
    TUTTI_EMIT(vcmp, scratch_[0], b, b, 0x03);
    TUTTI_EMIT(vblendv, y, y, b, scratch_[0]);
  }

  const fused_loop::description& what_;
  const bool wide_;  // f64
  const std::vector<uint32_t>& element_;
  std::map<uint32_t, Ymm> register_;
  std::vector<int> free_{13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  const Ymm scratch_[2] = {Ymm(14), Ymm(15)};
  std::map<uint32_t, size_t> last_use_;  // the instruction
  std::map<uint64_t, Xbyak::Label> constants_;
};
#undef TUTTI_EMIT

writer::form writer::form_of(const instruction& one) {
  static const std::map<uint16_t, form> real{{TUTTI_OP_add, &writer::add_of},
                                             {TUTTI_OP_subtract, &writer::subtract_of},
                                             {TUTTI_OP_multiply, &writer::multiply_of},
                                             {TUTTI_OP_divide, &writer::divide_of},
                                             {TUTTI_OP_square, &writer::square_of},
                                             {TUTTI_OP_sqrt, &writer::sqrt_of},
                                             {TUTTI_OP_rsqrt, &writer::rsqrt_of},
                                             {TUTTI_OP_negative, &writer::negative_of},
                                             {TUTTI_OP_abs, &writer::abs_of},
                                             {TUTTI_OP_copysign, &writer::copysign_of},
                                             {TUTTI_OP_minimum, &writer::minimum_of},
                                             {TUTTI_OP_maximum, &writer::maximum_of},
                                             {TUTTI_OP_round, &writer::round_of},
                                             {TUTTI_OP_floor, &writer::floor_of},
                                             {TUTTI_OP_ceil, &writer::ceil_of},
                                             {TUTTI_OP_trunc, &writer::trunc_of},
                                             {TUTTI_OP_equal, &writer::equal_of},
                                             {TUTTI_OP_not_equal, &writer::not_equal_of},
                                             {TUTTI_OP_less, &writer::less_of},
                                             {TUTTI_OP_less_equal, &writer::less_equal_of},
                                             {TUTTI_OP_greater, &writer::greater_of},
                                             {TUTTI_OP_greater_equal, &writer::greater_equal_of},
                                             {TUTTI_OP_isnan, &writer::isnan_of},
                                             {TUTTI_OP_isinf, &writer::isinf_of},
                                             {TUTTI_OP_isfinite, &writer::isfinite_of}};
  static const std::map<uint16_t, form> boolean{
      {TUTTI_OP_logical_and, &writer::and_of}, {TUTTI_OP_bitwise_and, &writer::and_of},
      {TUTTI_OP_logical_or, &writer::or_of},   {TUTTI_OP_bitwise_or, &writer::or_of},
      {TUTTI_OP_logical_xor, &writer::xor_of}, {TUTTI_OP_bitwise_xor, &writer::xor_of},
      {TUTTI_OP_not_equal, &writer::xor_of},   {TUTTI_OP_logical_not, &writer::not_of},
      {TUTTI_OP_bitwise_not, &writer::not_of}};
  const auto in = [&](const std::map<uint16_t, form>& forms) {
    const auto found = forms.find(one.opcode);
    return found == forms.end() ? nullptr : found->second;
  };
  if (is_floating(one.of)) {
    const bool cast = one.opcode == TUTTI_OP_cast && one.result_dtype == TUTTI_BOOL;
    return cast ? &writer::to_bool : in(real);
  }
  if (one.of != TUTTI_BOOL) return nullptr;
  if (one.result_dtype == TUTTI_BOOL) return in(boolean);
  if (!is_floating(one.result_dtype)) return nullptr;
  if (one.opcode == TUTTI_OP_where) return &writer::where_of;
  return one.opcode == TUTTI_OP_cast ? &writer::from_bool : nullptr;
}

}  // namespace

bool fused_loop::takes(const instruction& one) {
  static const bool can = __builtin_cpu_supports("avx2") != 0;
  return can && writer::form_of(one) != nullptr;
}

uint32_t fused_loop::width(const instruction& one) {
  for (uint8_t dtype : {one.of, one.result_dtype})
    if (dtype != TUTTI_BOOL) return dtype_size(dtype);
  return 0;
}

std::unique_ptr<fused_loop> fused_loop::make(const description& what) {
  if (what.inputs.size() + what.results.size() > most_arrays) return nullptr;
  std::unique_ptr<fused_loop> loop(new fused_loop);
  bool wide = false;
  for (const instruction& one : what.instructions) wide = wide || width(one) == 8;
  loop->lanes_ = wide ? 4 : 8;
  loop->inputs_ = what.inputs.size();
  for (const array& input : what.inputs) loop->element_.push_back(dtype_size(input.dtype));
  for (const array& result : what.results) loop->element_.push_back(dtype_size(result.dtype));
  try {
    const auto written = std::make_shared<const writer>(what, wide, loop->element_);
    loop->code_ = written->function<code>();
    loop->memory_ = written;
  } catch (const Xbyak::Error&) {
    return nullptr;  // no register left, or no memory for code
  }
  return loop;
}

}  // namespace tutti::sdk
