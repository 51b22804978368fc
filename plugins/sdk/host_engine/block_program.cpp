// SPDX-License-Identifier: Apache-2.0
//
// Making the steps of a program, and running them.
#include "sdk/host_engine/block_program.hpp"

#include <algorithm>
#include <utility>

#include "sdk/op_info.hpp"

namespace tutti::sdk {

block_program::block_program(const tutti_program_desc& desc, host_routines set, uint32_t block)
    : set_(set), block_(block), scalars_(desc.scalar_count) {
  for (uint32_t n = 0; n < desc.input_count; ++n) {
    const uint8_t stored = desc.inputs[n].dtype;
    stored_input next{dtype_size(stored)};
    if (is_storage_only(stored)) next.widen = find_block(set, TUTTI_OP_cast, stored, TUTTI_F32);
    inputs_.push_back(next);
    add_value(register_dtype(stored));
  }
  for (uint32_t n = 0; n < desc.scalar_count; ++n) add_value(desc.scalar_dtypes[n]);
  for (uint32_t n = 0; n < desc.instruction_count; ++n) {
    const tutti_instruction& given = desc.instructions[n];
    block_step next{nullptr, {}, given.operand_count, 0};
    std::copy_n(given.operand, given.operand_count, next.operand);
    if (given.opcode != TUTTI_OP_iota)
      next.run = find_block(set, given.opcode, values_[given.operand[0]].dtype, given.dtype);
    next.result = add_value(given.dtype);
    steps_.push_back(next);
  }
  const bool reduces = desc.reduction != TUTTI_REDUCE_NONE;
  for (uint32_t n = 0; n < desc.output_count; ++n) {
    const uint8_t wanted = reduces ? desc.accumulator : register_dtype(desc.outputs[n].dtype);
    results_.push_back(with_dtype(desc.outputs[n].value, wanted));
  }
  give_slots();
}

uint32_t block_program::add_value(uint8_t dtype) {
  values_.push_back({dtype, dtype_size(dtype)});
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t block_program::with_dtype(uint32_t value, uint8_t dtype) {
  if (values_[value].dtype == dtype) return value;
  block_step cast{find_block(set_, TUTTI_OP_cast, values_[value].dtype, dtype), {value}, 1, 0};
  cast.result = add_value(dtype);
  steps_.push_back(cast);
  return cast.result;
}

size_t block_program::step_of(uint32_t value) const {
  size_t s = 0;
  while (s < steps_.size() && steps_[s].result != value) ++s;
  return s;
}

bool block_program::writes_in_place(uint32_t n, const std::vector<uint32_t>& same) const {
  const size_t writer = step_of(results_[n]);
  if (writer == steps_.size()) return false;
  for (uint32_t other = 0; other < n; ++other)
    if (results_[other] == results_[n]) return false;  // it is written once
  for (size_t s = writer + 1; s < steps_.size(); ++s)
    for (uint32_t k = 0; k < steps_[s].operands; ++k)
      if (std::find(same.begin(), same.end(), steps_[s].operand[k]) != same.end()) return false;
  return true;
}

// A register for each input and scalar, and one of those that are free for each instruction.
void block_program::give_slots() {
  for (const typed_value& v : values_) slot_bytes_ = std::max(slot_bytes_, v.element);
  for (const stored_input& i : inputs_) slot_bytes_ = std::max(slot_bytes_, i.element);
  const auto fixed = static_cast<uint32_t>(inputs_.size()) + scalars_;
  for (uint32_t n = 0; n < fixed; ++n) values_[n].slot = slots_++;
  std::vector<size_t> last_use(values_.size(), 0);
  for (size_t s = 0; s < steps_.size(); ++s) {
    last_use[steps_[s].result] = s;
    for (uint32_t k = 0; k < steps_[s].operands; ++k) last_use[steps_[s].operand[k]] = s;
  }
  for (uint32_t result : results_) last_use[result] = steps_.size();
  std::vector<uint32_t> free;
  for (size_t s = 0; s < steps_.size(); ++s) {
    typed_value& made = values_[steps_[s].result];
    if (free.empty()) {
      made.slot = slots_++;
    } else {
      made.slot = free.back();
      free.pop_back();
    }
    for (uint32_t n = fixed; n < values_.size(); ++n) {
      if (values_[n].slot != no_slot && last_use[n] == s) free.push_back(values_[n].slot);
    }
  }
}

block_registers::block_registers(const block_program& program, const tutti_scalar* scalars,
                                 uint64_t most)
    : program_(program), most_(std::min<uint64_t>(most, program.block_)) {
  slot_bytes_ = (most_ * program.slot_bytes_ + 63) / 64 * 64;
  // One more, for what halves are before they are widened.
  const size_t bytes = (size_t{program.slots_} + 1) * slot_bytes_;
  memory_.reset(new (std::align_val_t{64}) std::byte[bytes]);
  at_.resize(program.values_.size());
  for (uint32_t n = 0; n < program_.values_.size(); ++n) at_[n] = slot(program_.values_[n].slot);
  for (uint32_t n = 0; n < program_.scalars_; ++n) {
    const block_program::typed_value& v = program_.values_[program_.inputs_.size() + n];
    fill_block(reinterpret_cast<const std::byte*>(&scalars[n]), v.element, most_, slot(v.slot));
  }
}

uint64_t bound_inputs::line() const {
  const uint32_t inner = space->rank - 1;
  for (const walk_access& a : access)
    if (a.kind == walk_kind::strided && (a.stride[inner] == 0 || a.stride[inner] == 1))
      return space->extent[inner];
  return 0;
}

void block_registers::bind(const bound_inputs& inputs) {
  inputs_ = &inputs;
  held_.assign(program_.inputs_.size(), nullptr);
  for (uint32_t n = 0; n < program_.inputs_.size(); ++n) {
    if (inputs.access[n].kind == walk_kind::constant) load_one(n, inputs.base[n]);
  }
}

void block_registers::load_one(uint32_t n, const std::byte* element) {
  const block_program::typed_value& v = program_.values_[n];
  at_[n] = slot(v.slot);
  if (std::exchange(held_[n], element) == element) return;
  alignas(16) std::byte one[16];
  if (program_.inputs_[n].widen != nullptr) {
    const void* const from[] = {element};
    program_.inputs_[n].widen(from, one, 1);
    element = one;
  }
  fill_block(element, v.element, most_, slot(v.slot));
}

void block_registers::load(uint32_t n, uint64_t first, uint64_t count) {
  const walk_access& access = inputs_->access[n];
  if (access.kind == walk_kind::constant) return;
  if (access.kind == walk_kind::strided || inputs_->copied) return gather_input(n, first, count);
  at_[n] = inputs_->base[n] + first * program_.inputs_[n].element;
  widen(n, count);
}

void block_registers::gather_input(uint32_t n, uint64_t first, uint64_t count) {
  const walk_space& space = *inputs_->space;
  const walk_access& access = inputs_->access[n];
  const walk_point from(space, first);
  const int64_t step = access.stride[space.rank - 1];
  if (!inputs_->copied && (step == 0 || step == 1)) {
    if (const auto offset = line_offset(space, access, from, count)) {
      if (step == 0) return load_one(n, inputs_->base[n] + *offset);
      at_[n] = inputs_->base[n] + *offset;
      return widen(n, count);
    }
  }
  const bool is_wide = program_.inputs_[n].widen == nullptr;
  std::byte* const to = slot(is_wide ? program_.values_[n].slot : program_.slots_);
  gather(space, access, from, inputs_->base[n], count, to);
  held_[n] = nullptr;
  at_[n] = to;
  widen(n, count);
}

void block_registers::widen(uint32_t n, uint64_t count) {
  const auto run = program_.inputs_[n].widen;
  if (run == nullptr) return;
  std::byte* const own = slot(program_.values_[n].slot);
  const void* const halves[] = {at_[n]};
  run(halves, own, static_cast<long>(count));
  held_[n] = nullptr;
  at_[n] = own;
}

void block_registers::place(const std::vector<std::byte*>& places,
                            const std::vector<uint32_t>& elements) {
  placed_.assign(program_.values_.size(), {});
  for (size_t n = 0; n < places.size(); ++n)
    if (places[n] != nullptr) placed_[program_.results_[n]] = {places[n], elements[n]};
}

void block_registers::evaluate(uint64_t first, uint64_t count) {
  for (uint32_t n = 0; n < program_.inputs_.size(); ++n) load(n, first, count);
  for (const block_program::block_step& step : program_.steps_) {
    std::byte* out = slot(program_.values_[step.result].slot);
    if (!placed_.empty() && placed_[step.result].base != nullptr)
      out = placed_[step.result].base + first * placed_[step.result].element;
    at_[step.result] = out;
    if (step.run == nullptr) {
      auto* index = reinterpret_cast<int64_t*>(out);
      for (uint64_t i = 0; i < count; ++i) index[i] = static_cast<int64_t>(first + i);
      continue;
    }
    const void* in[3] = {};
    for (uint32_t k = 0; k < step.operands; ++k) in[k] = at_[step.operand[k]];
    step.run(in, out, static_cast<long>(count));
  }
}

}  // namespace tutti::sdk
