// SPDX-License-Identifier: Apache-2.0
//
// Builds and runs the steps of a program.
#include "sdk/host_engine/block_program.hpp"

#include <algorithm>
#include <utility>

#include "sdk/op_info.hpp"

namespace tutti::sdk {

block_program::block_program(const tutti_program_desc& desc, host_routines set, uint32_t block,
                             uint32_t loop_bits, bool by_lines, bool joins)
    : set_(set), block_(block), scalars_(desc.scalar_count) {
  std::vector<uint32_t> own;  // for each value of the description
  for (uint32_t n = 0; n < desc.input_count; ++n) {
    const uint8_t dtype = desc.inputs[n].dtype;
    inputs_.push_back(dtype_size(dtype));
    single_.push_back(
        by_lines && desc.inputs[n].access == TUTTI_ACCESS_ZERO &&
        (dtype == TUTTI_F32 || dtype == TUTTI_F64 || dtype == TUTTI_I32 || dtype == TUTTI_U32));
    own.push_back(add_value(dtype));
  }
  for (uint32_t n = 0; n < desc.scalar_count; ++n) own.push_back(add_value(desc.scalar_dtypes[n]));
  if (joins) totals_ = add_value(desc.accumulator);
  for (uint32_t n = 0; n < desc.input_count; ++n)
    own[n] = with_dtype(own[n], register_dtype(desc.inputs[n].dtype));
  for (uint32_t n = 0; n < desc.instruction_count; ++n) {
    const tutti_instruction& given = desc.instructions[n];
    uint32_t operands[3] = {};
    for (uint32_t k = 0; k < given.operand_count; ++k) operands[k] = own[given.operand[k]];
    add_step(given.opcode, operands, given.operand_count, given.dtype);
    own.push_back(steps_.back().results[0]);
  }
  const bool reduces = desc.reduction != TUTTI_REDUCE_NONE;
  for (uint32_t n = 0; n < desc.output_count; ++n) {
    const uint8_t stored = desc.outputs[n].dtype;
    if (joins) {
      results_.push_back(joined(own[desc.outputs[n].value], desc.reduction));
      continue;
    }
    const uint32_t value =
        with_dtype(own[desc.outputs[n].value], reduces ? desc.accumulator : register_dtype(stored));
    results_.push_back(reduces ? value : with_dtype(value, stored));
  }
  std::vector<bool> used(values_.size(), false);
  for (const block_step& step : steps_)
    for (uint32_t operand : step.operands) used[operand] = true;
  for (uint32_t result : results_) used[result] = true;
  std::erase_if(steps_, [&](const block_step& step) { return !used[step.results[0]]; });
  if (loop_bits > 0) fuse_steps(loop_bits);
  // A single copy or loop needs no registers between instructions.
  if (steps_.empty() || is_one_loop()) block_ = std::max(block_, most_of_piece);
  give_slots();
  for (const block_step& step : steps_)
    for (uint32_t operand : step.operands)
      has_singles_ = has_singles_ || (step.loop != nullptr && is_single(operand));
}

uint32_t block_program::add_value(uint8_t dtype) {
  values_.push_back({dtype, dtype_size(dtype)});
  return static_cast<uint32_t>(values_.size() - 1);
}

void block_program::add_step(uint16_t opcode, const uint32_t* operands, uint32_t count,
                             uint8_t dtype) {
  // A conversion of the index is a routine.
  if (opcode == TUTTI_OP_cast && (is_integer(dtype) || is_floating(dtype))) {
    const size_t step = step_of(operands[0]);
    if (step < steps_.size() && steps_[step].what.opcode == TUTTI_OP_iota)
      return add_step(TUTTI_OP_iota, nullptr, 0, dtype);
  }
  block_step next;
  next.operands.assign(operands, operands + count);
  const uint8_t of = count > 0 ? values_[operands[0]].dtype : dtype;
  next.run = find_block(set_, opcode, of, dtype);
  next.results = {add_value(dtype)};
  next.what = {opcode, of, dtype, next.operands, next.results[0]};
  steps_.push_back(std::move(next));
}

uint32_t block_program::with_dtype(uint32_t value, uint8_t dtype) {
  if (values_[value].dtype == dtype) return value;
  add_step(TUTTI_OP_cast, &value, 1, dtype);
  return steps_.back().results[0];
}

// The operands of a reduction routine: the totals first, then the value.
uint32_t block_program::joined(uint32_t value, uint8_t reduction) {
  uint8_t dtype = values_[totals_].dtype;
  // Sums widen before they add; a loop widens while it adds, or adds short integers in 32 bits.
  if (!steps_.empty() && steps_.back().results[0] == value) {
    const fused_loop::instruction& last = steps_.back().what;
    const fused_loop::instruction sum{TUTTI_OP_add, last.of, last.result_dtype, {}, 0};
    const bool is_cast =
        last.opcode == TUTTI_OP_cast && reduction == TUTTI_REDUCE_SUM && last.result_dtype == dtype;
    const bool is_short = last.of == TUTTI_BOOL || (is_integer(last.of) && dtype_size(last.of) < 4);
    if (is_cast && is_short && dtype_size(dtype) == 8 && is_integer(dtype)) {
      const uint8_t narrow = last.of == TUTTI_U8 || last.of == TUTTI_U16 ? TUTTI_U32 : TUTTI_I32;
      widens_ = find_block(set_, TUTTI_OP_cast, narrow, dtype);
      dtype = narrow;
      values_[totals_] = {dtype, dtype_size(dtype)};
    }
    if (is_cast && (widens_ != nullptr || fused_loop::widens(sum) != fused_loop::widened::no)) {
      value = last.operands[0];
      steps_.pop_back();
    }
  }
  const uint16_t opcode = reduction == TUTTI_REDUCE_SUM    ? TUTTI_OP_add
                          : reduction == TUTTI_REDUCE_PROD ? TUTTI_OP_multiply
                          : reduction == TUTTI_REDUCE_MIN  ? TUTTI_OP_minimum
                                                           : TUTTI_OP_maximum;
  const fused_loop::instruction sum{opcode, values_[value].dtype, dtype, {totals_, value}, 0};
  if (fused_loop::widens(sum) == fused_loop::widened::no) {
    const uint32_t operands[] = {totals_, with_dtype(value, dtype)};
    add_step(opcode, operands, 2, dtype);
  } else {
    add_step(opcode, sum.operands.data(), 2, dtype);
    steps_.back().what.of = sum.of;
  }
  return steps_.back().results[0];
}

bool block_program::joins() const {
  const size_t last = totals_ == no_value ? steps_.size() : step_of(results_[0]);
  return last < steps_.size() && steps_[last].loop != nullptr;
}

size_t block_program::step_of(uint32_t value) const {
  size_t s = 0;
  const auto has = [&](const std::vector<uint32_t>& all) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  while (s < steps_.size() && !has(steps_[s].results)) ++s;
  return s;
}

bool block_program::writes_in_place(uint32_t n, const launch_list<uint32_t>& same) const {
  const size_t writer = step_of(results_[n]);
  if (writer == steps_.size()) return false;
  for (uint32_t other = 0; other < n; ++other)
    if (results_[other] == results_[n]) return false;  // each result is written once
  for (size_t s = writer + 1; s < steps_.size(); ++s)
    for (uint32_t operand : steps_[s].operands)
      if (std::find(same.begin(), same.end(), operand) != same.end()) return false;
  return true;
}

// Gives each input, scalar and result its own register, and each instruction a free one.
void block_program::give_slots() {
  for (const typed_value& v : values_) slot_bytes_ = std::max(slot_bytes_, v.element);
  const auto fixed = static_cast<uint32_t>(inputs_.size()) + scalars_;
  for (uint32_t n = 0; n < fixed; ++n) values_[n].slot = slots_++;
  filled_.assign(fixed, false);
  std::vector<size_t> last_use(values_.size(), 0);
  const auto use = [&](uint32_t value, size_t step) {
    last_use[value] = step;
    if (value < fixed) filled_[value] = true;
  };
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (uint32_t result : steps_[s].results) last_use[result] = s;
    for (uint32_t operand : steps_[s].operands)
      if (steps_[s].loop == nullptr || !is_single(operand)) use(operand, s);
  }
  for (uint32_t result : results_) {
    use(result, steps_.size());
    values_[result].is_result = true;
  }
  std::vector<uint32_t> free;
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (uint32_t result : steps_[s].results) {
      // A result is computed piece by piece, so it keeps its register.
      if (free.empty() || last_use[result] == steps_.size()) free.push_back(slots_++);
      values_[result].slot = free.back();
      free.pop_back();
    }
    for (uint32_t n = fixed; n < values_.size(); ++n) {
      if (values_[n].slot != no_slot && last_use[n] == s) free.push_back(values_[n].slot);
    }
  }
}

block_registers::block_registers(const block_program& program, const tutti_scalar* scalars,
                                 uint64_t most)
    : program_(program), scalars_(scalars), most_(std::min<uint64_t>(most, program.block_)) {
  slot_bytes_ = (most_ * program.slot_bytes_ + 63) / 64 * 64;
  at_.resize(program.values_.size());
  for (uint32_t n = 0; n < program_.scalars_; ++n) {
    const size_t value = program_.inputs_.size() + n;
    const block_program::typed_value& v = program_.values_[value];
    if (!program_.filled_[value]) continue;
    fill_block(reinterpret_cast<const std::byte*>(&scalars[n]), v.element, most_, slot(v.slot));
    at_[value] = slot(v.slot);
  }
}

void block_registers::allocate() {
  memory_.reset(new (std::align_val_t{64}) std::byte[size_t{program_.slots_} * slot_bytes_]);
}

uint64_t bound_inputs::line() const {
  const uint32_t inner = space->rank - 1;
  for (const walk_access& a : access)
    if (a.kind == walk_kind::strided && (a.stride[inner] == 0 || a.stride[inner] == 1))
      return space->extent[inner];
  return 0;
}

bool bound_inputs::across_lines() const {
  if (space->rank < 2) return false;
  const uint32_t inner = space->rank - 1;
  return std::any_of(access.begin(), access.end(), [&](const walk_access& a) {
    return a.kind == walk_kind::strided && a.stride[inner] > 1 && a.stride[inner - 1] == 1 &&
           transposes(a.element, space->extent[inner - 1]);
  });
}

bool bound_inputs::repeats(size_t n) const {
  const walk_access& a = access[n];
  return a.kind == walk_kind::strided && space->rank > 1 && !copied &&
         std::all_of(a.stride, a.stride + space->rank - 1, [](int64_t s) { return s == 0; });
}

uint64_t bound_inputs::repeated_line() const {
  for (size_t n = 0; n < access.size(); ++n)
    if (repeats(n)) return space->extent[space->rank - 1];
  return 1;
}

void block_registers::bind(const bound_inputs& inputs) {
  inputs_ = &inputs;
  line_ = inputs.line();
  held_.assign(program_.inputs_.size(), nullptr);
  repeated_.assign(program_.inputs_.size(), 0);
  for (uint32_t n = 0; n < program_.inputs_.size(); ++n) {
    if (inputs.access[n].kind == walk_kind::constant) load_one(n, inputs.base[n], most_);
  }
  find_row_steps();
}

void block_registers::find_row_steps() {
  row_steps_.clear();
  const walk_space& space = *inputs_->space;
  if (!program_.is_one_loop() || inputs_->copied || space.rank != 2) return;
  row_ = space.extent[1];
  if (!joins() && row_ < block_program::least_line) return;
  for (uint32_t n = 0; n < program_.inputs_.size(); ++n) {
    const walk_access& access = inputs_->access[n];
    const bool is_one = access.kind == walk_kind::constant || access.stride[1] == 0;
    if (is_one ? program_.filled_[n] : access.stride[1] != 1) return row_steps_.clear();
    row_steps_.push_back(access.kind == walk_kind::constant ? 0
                                                            : access.stride[0] * access.element);
  }
}

void block_registers::load_one(uint32_t n, const std::byte* element, uint64_t count) {
  const block_program::typed_value& v = program_.values_[n];
  at_[n] = program_.filled_[n] ? slot(v.slot) : element;
  if (!program_.filled_[n]) return;
  if (std::exchange(held_[n], element) == element) return;
  fill_block(element, v.element, count, slot(v.slot));
}

void block_registers::load(uint32_t n, uint64_t first, uint64_t count) {
  const walk_access& access = inputs_->access[n];
  if (access.kind == walk_kind::constant) return;
  if (access.kind == walk_kind::strided || inputs_->copied) return gather_input(n, first, count);
  at_[n] = inputs_->base[n] + first * program_.inputs_[n];
}

void block_registers::gather_input(uint32_t n, uint64_t first, uint64_t count) {
  const walk_space& space = *inputs_->space;
  const walk_access& access = inputs_->access[n];
  const walk_point from(space, first);
  const int64_t step = access.stride[space.rank - 1];
  if (!inputs_->copied && (step == 0 || step == 1)) {
    if (const auto offset = line_offset(space, access, from, count)) {
      if (step == 0) return load_one(n, inputs_->base[n] + *offset, std::min(most_, line_));
      at_[n] = inputs_->base[n] + *offset;
      return;
    }
  }
  if (!tiles_.empty() && !tiles_[n].values.empty()) {
    const uint64_t before = (first - tiles_[n].first) / space.extent[space.rank - 1];
    held_[n] = nullptr;
    at_[n] = tiles_[n].values.data() + before * tiles_[n].count * access.element;
    return;
  }
  std::byte* const to = slot(program_.values_[n].slot);
  held_[n] = nullptr;
  at_[n] = to;
  const bool is_repeated = from.at[space.rank - 1] == 0 && inputs_->repeats(n);
  if (is_repeated && repeated_[n] >= count) return;
  gather(space, access, from, inputs_->base[n], count, to);
  repeated_[n] = is_repeated ? count : 0;
}

void block_registers::load_tile(uint64_t first, uint64_t count, uint64_t lines) {
  const walk_space& space = *inputs_->space;
  tiles_.resize(program_.inputs_.size());
  for (uint32_t n = 0; n < program_.inputs_.size(); ++n) {
    const walk_access& access = inputs_->access[n];
    const int64_t step = access.stride[space.rank - 1];
    if (access.kind != walk_kind::strided || step == 0 || step == 1) continue;
    tile& to = tiles_[n];
    to.values.resize(lines * count * access.element);
    to.first = first;
    to.count = count;
    gather_lines(space, access, walk_point(space, first), inputs_->base[n], lines, count,
                 to.values.data());
  }
}

void block_registers::place(const launch_list<std::byte*>& places,
                            const launch_list<uint32_t>& elements, bool streams) {
  streams_ = streams;
  placed_.assign(program_.values_.size(), {});
  for (size_t n = 0; n < places.size(); ++n)
    if (places[n] != nullptr) placed_[program_.results_[n]] = {places[n], elements[n]};
}

bool block_registers::writes_rows() const {
  if (!takes_rows() || placed_.empty()) return false;
  for (uint32_t n = 0; n < program_.results_.size(); ++n)
    if (program_.is_input(n)) return false;
  const std::vector<uint32_t>& results = program_.steps_[0].results;
  return std::all_of(results.begin(), results.end(),
                     [&](uint32_t value) { return placed_[value].base != nullptr; });
}

const std::byte* block_registers::in_place(uint64_t first, uint64_t count) const {
  const uint32_t n = program_.results_[0];
  if (!program_.is_input(0) || inputs_->copied) return nullptr;
  const walk_access& access = inputs_->access[n];
  if (access.kind == walk_kind::constant) return nullptr;
  if (access.kind == walk_kind::dense) return inputs_->base[n] + first * program_.inputs_[n];
  const walk_space& space = *inputs_->space;
  if (access.stride[space.rank - 1] != 1) return nullptr;
  const auto offset = line_offset(space, access, walk_point(space, first), count);
  return offset ? inputs_->base[n] + *offset : nullptr;
}

std::byte* block_registers::place_of(uint32_t value, uint64_t first, uint64_t done) {
  if (!placed_.empty() && placed_[value].base != nullptr)
    return placed_[value].base + first * placed_[value].element;
  const block_program::typed_value& v = program_.values_[value];
  return slot(v.slot) + (v.is_result ? done * v.element : 0);
}

void block_registers::join(uint64_t first, uint64_t count, std::byte* totals, uint64_t cycle,
                           uint64_t rows, int64_t step) {
  totals_ = totals;
  cycle_ = cycle;
  if (takes_rows() && first % row_ + count <= row_) return evaluate_rows(first, count, rows, step);
  evaluate(first, count);
}

void block_registers::evaluate(uint64_t first, uint64_t count) {
  first_ = first;
  uint64_t head = count, rows = 0;
  if (writes_rows()) {
    head = std::min(count, (row_ - first % row_) % row_);
    rows = (count - head) / row_;
  }
  evaluate_pieces(first, head, 0);
  if (rows > 0) evaluate_rows(first + head, row_, rows, 0);
  const uint64_t done = head + rows * row_;
  evaluate_pieces(first + done, count - done, done);
}

void block_registers::evaluate_rows(uint64_t first, uint64_t count, uint64_t rows, int64_t step) {
  const block_program::block_step& only = program_.steps_[0];
  const uint64_t row = first / row_, from = first % row_;
  int64_t in_step[fused_loop::most_arrays], out_step[fused_loop::most_arrays];
  for (size_t k = 0; k < only.operands.size(); ++k) {
    const uint32_t n = only.operands[k];
    in_[k] = totals_;
    in_step[k] = step;
    if (n == program_.totals_) continue;
    const walk_access& access = inputs_->access[n];
    in_step[k] = row_steps_[n];
    in_[k] = inputs_->base[n] + static_cast<int64_t>(row) * in_step[k];
    if (access.kind != walk_kind::constant && access.stride[1] == 1)
      in_[k] += from * program_.inputs_[n];
  }
  for (size_t k = 0; k < only.results.size(); ++k) {
    out_[k] = totals_;
    out_step[k] = step;
    if (joins()) continue;
    const placed& to = placed_[only.results[k]];
    out_[k] = to.base + first * to.element;
    out_step[k] = static_cast<int64_t>(row_ * to.element);
  }
  for (uint64_t r = 0; r < rows; ++r) {
    only.loop->run(in_, out_, scalars_, count, streams_, cycle_);
    for (size_t k = 0; k < only.operands.size(); ++k) in_[k] += in_step[k];
    for (size_t k = 0; k < only.results.size(); ++k) out_[k] += out_step[k];
  }
}

// Long lines and lines of single elements are read in place, one line at a time, unless an input is
// copied several lines at a time.
void block_registers::evaluate_pieces(uint64_t first, uint64_t count, uint64_t done) {
  bool in_pieces = true;
  for (uint32_t n = 0; n < program_.results_.size(); ++n)
    in_pieces = in_pieces && !program_.is_input(n);
  const bool by_lines = (line_ >= block_program::least_line && !inputs_->across_lines()) ||
                        (line_ > 0 && program_.has_singles_);
  const uint64_t end = done + count;
  for (uint64_t piece = count; done < end; done += piece, first += piece) {
    if (in_pieces) piece = std::min<uint64_t>(end - done, block_program::most_of_piece);
    if (in_pieces && by_lines) piece = std::min(piece, line_ - first % line_);
    evaluate_piece(first, piece, done);
  }
}

void block_registers::evaluate_piece(uint64_t first, uint64_t count, uint64_t done) {
  std::byte* joined = nullptr;
  if (joins()) {
    const uint32_t totals = program_.totals_;
    at_[totals] = joined = totals_ + (cycle_ > 0 ? 0 : done * program_.values_[totals].element);
  }
  for (uint32_t n = 0; n < program_.inputs_.size(); ++n) load(n, first, count);
  for (const block_program::block_step& step : program_.steps_) {
    in_[0] = reinterpret_cast<const std::byte*>(&first);  // of an index
    for (size_t k = 0; k < step.operands.size(); ++k) in_[k] = at_[step.operands[k]];
    for (size_t k = 0; k < step.results.size(); ++k) {
      const bool is_joined = joins() && step.results[k] == program_.results_[0];
      out_[k] = is_joined ? joined : place_of(step.results[k], first, done);
      at_[step.results[k]] = out_[k];
    }
    if (step.loop != nullptr) {
      bool streams = streams_;
      for (size_t k = 0; k < step.results.size() && streams; ++k)
        streams = placed_[step.results[k]].base != nullptr;
      step.loop->run(in_, out_, scalars_, count, streams, cycle_);
    } else {
      step.run(reinterpret_cast<const void* const*>(in_), out_[0], static_cast<long>(count));
    }
  }
}

}  // namespace tutti::sdk
