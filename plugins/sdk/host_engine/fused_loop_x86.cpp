// SPDX-License-Identifier: Apache-2.0
//
// Loops for x86-64 processors, written with xbyak: 512-bit registers with AVX-512, 256-bit
// registers with AVX2 and FMA.
#include <algorithm>
#include <tuple>
#include <utility>

#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/host_engine/lane_program.hpp"
#include "sdk/host_engine/operation_assembler.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

class writer : private operation_assembler {
 public:
  writer(const loop_plan& plan, const fused_loop::description& what,
         const std::vector<uint32_t>& element)
      : operation_assembler(plan, what, element) {
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
    const size_t hoisted = hoist_invariants();
    keep_constants(plan_.kept - hoisted);
    Xbyak::Label streamed, done;
    const auto before = std::make_tuple(uses_, register_, free_, free_masks_);
    const auto begin = [&] { std::tie(uses_, register_, free_, free_masks_) = before; };
    if (plan_.totals > 0) {
      Xbyak::Label others;
      const auto cycle = static_cast<uint32_t>(static_cast<int>(plan_.totals) * lanes());
      cmp(rcx, cycle - 1);
      jne(others, T_NEAR);
      test(rdx, cycle - 1);
      jnz(others, T_NEAR);
      loop_of_rows();
      jmp(done, T_NEAR);
      begin();
      L(others);
    }
    if (plan_.joins) {
      mov(totals(), rcx);
    } else {
      test(rcx, rcx);
      jnz(streamed, T_NEAR);
    }
    xor_(ecx, ecx);
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
    if (looks_up_) {
      L(words_);
      // As in math_f32_trig.cl; lookups read up to 16 words from each of the first four on.
      for (const uint32_t bits : {0x00000028u, 0xbe60db93u, 0x91054a7fu, 0x09d5f47du, 0x4d377036u,
                                  0xd8a5664fu, 0x10e4107fu, 0x9458eaf7u})
        dd(bits);
      for (int k = 8; k < 20; ++k) dd(0);
    }
    for (auto& [bits, label] : constants_) {
      L(label);
      for (int k = 0; k < (has_masks() ? 1 : 4); ++k) dq(program_.wide ? bits : bits << 32 | bits);
    }
  }

  // Computes what is the same for all elements before the loops, if there are registers for the
  // results; returns their number.
  size_t hoist_invariants() {
    const size_t count = program_.nodes.size();
    std::vector<bool> same(count), kept(count);
    for (uint32_t n = 0; n < count; ++n) {
      const node& one = program_.nodes[n];
      bool all = one.operands > 0 && uses_[n] > 0 && !is_mask(n);
      for (uint32_t k = 0; k < one.operands; ++k) {
        const uint32_t operand = one.operand[k];
        all = all && (same[operand] || program_.is_constant(operand) || is_one(operand));
      }
      same[n] = all;
      for (uint32_t k = 0; k < one.operands && !all && uses_[n] > 0; ++k)
        kept[one.operand[k]] = same[one.operand[k]];
    }
    for (uint32_t result : plan_.results) kept[result] = same[result];
    const auto results = static_cast<size_t>(std::count(kept.begin(), kept.end(), true));
    if (results == 0 || results > plan_.kept) return 0;
    for (uint32_t n = 0; n < count; ++n) {
      if (!same[n]) continue;
      write_operation(n);
      if (kept[n]) ++uses_[n];  // never released
    }
    hoisted_ = std::move(same);
    other_uses_ = uses_;
    other_register_ = register_;
    return results;
  }
  void write_unless_hoisted(uint32_t n) {
    if (uses_[n] > 0 && !hoisted_[n]) write_operation(n);
  }

  // The loop of a row, whose totals stay in registers.
  void loop_of_rows() {
    const auto totals = static_cast<int>(plan_.totals);
    const int bytes = static_cast<int>(plan_.bits) / 8;
    const uint32_t result = plan_.results[0];
    uint32_t joined = 0;
    while (program_.nodes[joined].what != op::input ||
           !what_.inputs[program_.nodes[joined].detail].joined)
      ++joined;
    const Xbyak::Reg64 memory = addresses()[program_.nodes[joined].detail];
    std::vector<int> held;
    for (int k = 0; k < totals; ++k) {
      held.push_back(take(joined).getIdx());
      vmovups(vector(held[k]), ptr[memory + k * bytes]);
    }
    ++uses_[joined];  // never released
    const auto before = std::make_tuple(uses_, register_, free_, free_masks_);
    Xbyak::Label next;
    xor_(ecx, ecx);
    L(next);
    for (int k = 0; k < totals; ++k) {
      std::tie(uses_, register_, free_, free_masks_) = before;
      offset_ = k * lanes();
      register_[joined] = held[k];
      for (uint32_t n = 0; n < program_.nodes.size(); ++n) write_unless_hoisted(n);
      vmovaps(vector(held[k]), in_register(result, 0));
    }
    offset_ = 0;
    add(rcx, totals * lanes());
    cmp(rcx, rdx);
    jb(next, T_NEAR);
    for (int k = 0; k < totals; ++k) vmovups(ptr[memory + k * bytes], vector(held[k]));
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
    for (uint32_t n = 0; n < program_.nodes.size(); ++n) each([&] { write_unless_hoisted(n); });
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
};

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
  plan.program.funnels = bits == 512 && __builtin_cpu_supports("avx512vbmi2") != 0;
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
    if (plan.joins && what.results[0].adds == widened::no) {
      plan.totals = row_totals(what.results[0].dtype) / loop->lanes_;
      if (plan.totals > std::min<size_t>(spare, 8)) plan.totals = 0;
      plan.kept = std::min(plan.kept, spare - plan.totals);
    }
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
