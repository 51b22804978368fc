// SPDX-License-Identifier: Apache-2.0
//
// The elementwise part of a program: its loads and instructions as routines over blocks, and the
// registers that one thread runs them in.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "sdk/host_engine/dispatch.hpp"
#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/host_engine/memory_walk.hpp"

namespace tutti::sdk {

/// A list of a launch: launches of few operands allocate nothing.
template <typename T>
using launch_list = boost::container::small_vector<T, 8>;

/// Immutable. Values are numbered as in the description; casts that outputs or the accumulator need
/// are instructions of their own at the end.
class block_program {
 public:
  /// `block`: elements of a register, more where one loop does all. `loop_bits`: see host_program.
  /// `by_lines`: it is run line by line of the innermost loop, along which an input of
  /// TUTTI_ACCESS_ZERO is one element. `joins`: a reduction's values join totals in the loop that
  /// computes them, if there is one (block_registers::join).
  block_program(const tutti_program_desc& desc, host_routines set, uint32_t block,
                uint32_t loop_bits, bool by_lines = false, bool joins = false);

  /// Lines of so many elements are worth a run of their own.
  static constexpr uint64_t least_line = 64;

  uint32_t block() const { return block_; }
  /// Of maps the value that output n stores, in the dtype that it has in a register; of a reduction
  /// (n = 0) what is reduced, in the accumulator's dtype.
  uint32_t result(uint32_t n) const { return results_[n]; }
  /// Whether an instruction may write result n where it is stored, which is the memory of the
  /// inputs `same` alone: there is such an instruction, and none behind it reads these inputs.
  bool writes_in_place(uint32_t n, const launch_list<uint32_t>& same) const;
  /// Whether result n is an input as it is loaded.
  bool is_input(uint32_t n) const { return results_[n] < inputs_.size(); }
  /// Whether a loop joins what it computes to totals.
  bool joins() const;
  /// Whether a loop takes an input as one element.
  bool has_singles() const { return has_singles_; }

 private:
  friend class block_registers;
  static constexpr uint32_t no_slot = ~0u, no_value = ~0u;
  // What lies between instructions fits the closest cache.
  static constexpr uint32_t most_of_piece = 2048;
  struct typed_value {
    uint8_t dtype;     // in the register
    uint32_t element;  // its bytes
    uint32_t slot = no_slot;
    bool is_result = false;
  };
  struct block_step {
    fused_loop::instruction what;             // of one instruction
    routines::block_routine run = nullptr;    // NULL: iota, or
    std::shared_ptr<const fused_loop> loop;   // several instructions
    std::vector<uint32_t> operands, results;  // scalars of a loop are not among them
  };

  uint32_t add_value(uint8_t dtype);
  void add_step(uint16_t opcode, const uint32_t* operands, uint32_t count, uint8_t dtype);
  uint32_t with_dtype(uint32_t value, uint8_t dtype);
  uint32_t joined(uint32_t value, uint8_t reduction);
  bool is_scalar(uint32_t value) const {
    return value >= inputs_.size() && value - inputs_.size() < scalars_;
  }
  bool is_single(uint32_t value) const { return value < inputs_.size() && single_[value]; }
  void fuse_steps(uint32_t loop_bits);
  bool fits(const std::vector<block_step>& steps, const block_step& next) const;
  block_step loop_of(const std::vector<block_step>& steps, const std::vector<block_step>& later,
                     uint32_t bits) const;
  void give_slots();
  // The instruction that computes a value; steps_.size() where none does.
  size_t step_of(uint32_t value) const;

  host_routines set_;
  uint32_t block_;
  std::vector<uint32_t> inputs_;  // bytes of an element
  std::vector<bool> single_;      // inputs that loops take as one element
  bool has_singles_ = false;
  uint32_t scalars_ = 0, totals_ = no_value;
  std::vector<typed_value> values_;
  std::vector<block_step> steps_;
  std::vector<uint32_t> results_;
  uint32_t slots_ = 0, slot_bytes_ = 0;
  std::vector<bool> filled_;  // inputs and scalars that need a register
};

/// The inputs of a launch over a space.
struct bound_inputs {
  const walk_space* space;
  launch_list<walk_access> access;
  launch_list<const std::byte*> base;
  // Inputs that are copied before anything is stored, because an output is the same memory.
  bool copied = false;

  /// Points of a line, where an input is dense or one element along it and something else across;
  /// else 0. Blocks within a line read it in place.
  uint64_t line() const;
};

/// One thread's registers.
class block_registers {
 public:
  /// The program and the scalars stay where they are meanwhile. No more than `most` elements are
  /// computed at once.
  block_registers(const block_program& program, const tutti_scalar* scalars, uint64_t most);
  /// `inputs` stay until the next ones are bound.
  void bind(const bound_inputs& inputs);

  /// Result n is written to `places[n] + first * elements[n]` by the instruction that computes it,
  /// where the place is not NULL (block_program::writes_in_place). Until set again.
  /// `streams`: past the caches.
  void place(const launch_list<std::byte*>& places, const launch_list<uint32_t>& elements,
             bool streams);
  /// Computes all values of the points [first, first + count).
  void evaluate(uint64_t first, uint64_t count);
  /// Of a program that joins: value n of those points joins totals[n % cycle], or with 0 totals[n].
  /// `cycle` is a power of two that divides `count`.
  void join(uint64_t first, uint64_t count, std::byte* totals, uint64_t cycle);
  bool joins() const { return program_.totals_ != block_program::no_value; }
  /// The most elements at once.
  uint64_t block() const { return most_; }
  /// The result n of the points that were computed last.
  const std::byte* result(uint32_t n) {
    const uint32_t value = program_.results_[n];
    return program_.is_input(n) ? at_[value] : place_of(value, first_, 0);
  }
  /// Where the points [first, first + count) of result 0 lie before anything is computed: of one
  /// that is an input as it lies in memory. NULL where they do not.
  const std::byte* in_place(uint64_t first, uint64_t count) const;

 private:
  std::byte* slot(uint32_t n) {
    if (memory_ == nullptr) [[unlikely]]
      allocate();
    return memory_.get() + size_t{n} * slot_bytes_;
  }
  void allocate();
  // The points from `first` on, of which results go behind `done` elements of their registers.
  void evaluate_piece(uint64_t first, uint64_t count, uint64_t done);
  void load(uint32_t n, uint64_t first, uint64_t count);
  void gather_input(uint32_t n, uint64_t first, uint64_t count);
  // The first `count` of the register are one element, where more than loops want it.
  void load_one(uint32_t n, const std::byte* element, uint64_t count);

  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::byte* place_of(uint32_t value, uint64_t first, uint64_t done);

  const block_program& program_;
  const tutti_scalar* scalars_;
  const bound_inputs* inputs_ = nullptr;
  uint64_t line_ = 0;   // of the inputs
  uint64_t first_ = 0;  // of the points that were computed last
  uint64_t most_;
  uint64_t cycle_ = 0;           // of totals
  std::byte* totals_ = nullptr;  // that the elements from first_ on join
  size_t slot_bytes_;
  std::unique_ptr<std::byte[], aligned_delete> memory_;  // of registers, once one is used
  // Of one step. Not made for each, since setting them to 0 waits for what was streamed.
  const std::byte* in_[fused_loop::most_arrays] = {};
  std::byte* out_[fused_loop::most_arrays] = {};
  launch_list<const std::byte*> at_;    // where each value of the current block lies
  launch_list<const std::byte*> held_;  // of each input the element that its register is full of
  struct placed {
    std::byte* base = nullptr;  // NULL: a register
    uint32_t element = 0;
  };
  launch_list<placed> placed_;  // for each value; empty: none
  bool streams_ = false;
};

}  // namespace tutti::sdk
