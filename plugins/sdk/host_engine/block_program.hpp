// SPDX-License-Identifier: Apache-2.0
//
// The elementwise part of a program: loads and instructions as routines over blocks, and the
// registers of one thread.
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

/// A list used by one launch; a few operands need no allocation.
template <typename T>
using launch_list = boost::container::small_vector<T, 8>;

/// Immutable. Values are numbered as in the description; casts required by outputs or the
/// accumulator are additional instructions at the end.
class block_program {
 public:
  /// `block`: elements per register; larger if a single loop computes everything. `loop_bits`: see
  /// host_program. `by_lines`: the program runs line by line along the innermost dimension, where
  /// an input of TUTTI_ACCESS_ZERO is one element. `joins`: the loop that computes the values of a
  /// reduction also adds them to the totals, if possible (block_registers::join).
  block_program(const tutti_program_desc& desc, host_routines set, uint32_t block,
                uint32_t loop_bits, bool by_lines = false, bool joins = false);

  /// The minimum length of a line that is run separately.
  static constexpr uint64_t least_line = 64;

  bool is_one_loop() const { return steps_.size() == 1 && steps_[0].loop != nullptr; }
  /// Of a program that is one loop: the inputs that it reads and the values that it writes, both in
  /// its order.
  const fused_loop& loop() const { return *steps_[0].loop; }
  const std::vector<uint32_t>& loop_inputs() const { return steps_[0].operands; }
  const std::vector<uint32_t>& loop_results() const { return steps_[0].results; }
  uint32_t block() const { return block_; }
  /// For maps, the value that output n stores, in its register dtype; for a reduction (n = 0), the
  /// value to reduce, in the accumulator's dtype.
  uint32_t result(uint32_t n) const { return results_[n]; }
  /// Whether an instruction may write result n directly to its destination, which overlaps only the
  /// inputs `same`: an instruction computes it, and no later one reads these inputs.
  bool writes_in_place(uint32_t n, const launch_list<uint32_t>& same) const;
  /// Whether result n is a loaded input.
  bool is_input(uint32_t n) const { return results_[n] < inputs_.size(); }
  /// Whether a loop adds its values to totals.
  bool joins() const;
  /// Converts `count` totals to the accumulator's dtype; NULL: they have it. Others have 32 bits,
  /// and hold the sum of most_narrow values.
  routines::block_routine widens() const { return widens_; }
  static constexpr uint64_t most_narrow = 32768;  // of 16 bits
  /// Whether a loop reads an input, or input `value`, as one element.
  bool has_singles() const { return has_singles_; }
  bool is_single(uint32_t value) const { return value < inputs_.size() && single_[value]; }

 private:
  friend class block_registers;
  static constexpr uint32_t no_slot = ~0u, no_value = ~0u;
  // Values passed between instructions fit the L1 cache.
  static constexpr uint32_t most_of_piece = 2048;
  struct typed_value {
    uint8_t dtype;     // of the register
    uint32_t element;  // bytes
    uint32_t slot = no_slot;
    bool is_result = false;
  };
  struct block_step {
    fused_loop::instruction what;             // of a single instruction
    routines::block_routine run = nullptr;    // NULL:
    std::shared_ptr<const fused_loop> loop;   // several instructions
    std::vector<uint32_t> operands, results;  // without the scalars of loops
  };

  uint32_t add_value(uint8_t dtype);
  void add_step(uint16_t opcode, const uint32_t* operands, uint32_t count, uint8_t dtype);
  uint32_t with_dtype(uint32_t value, uint8_t dtype);
  uint32_t joined(uint32_t value, uint8_t reduction);
  bool is_scalar(uint32_t value) const {
    return value >= inputs_.size() && value - inputs_.size() < scalars_;
  }
  void fuse_steps(uint32_t loop_bits);
  bool fits(const std::vector<block_step>& steps, const block_step& next) const;
  block_step loop_of(const std::vector<block_step>& steps, const std::vector<block_step>& later,
                     uint32_t bits) const;
  void give_slots();
  // The step that computes a value, or steps_.size().
  size_t step_of(uint32_t value) const;

  host_routines set_;
  uint32_t block_;
  std::vector<uint32_t> inputs_;  // bytes per element
  std::vector<bool> single_;      // inputs that loops read as one element
  bool has_singles_ = false;
  uint32_t scalars_ = 0, totals_ = no_value;
  routines::block_routine widens_ = nullptr;
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
  // Inputs are copied before anything is stored, because an output uses the same memory.
  bool copied = false;

  /// The number of points in a line if each input is dense or one element along it, else 0. Blocks
  /// within a line read inputs in place.
  uint64_t line() const;
  /// Whether an input's lines are next to each other (transposes).
  bool across_lines() const;
  /// Whether input n has the same line for all points of the other dimensions.
  bool repeats(size_t n) const;
  /// The length of lines if an input repeats one, else 1.
  uint64_t repeated_line() const;
};

/// The registers of one thread.
class block_registers {
 public:
  /// The program and the scalars must outlive this object. `most`: maximum elements per call.
  block_registers(const block_program& program, const tutti_scalar* scalars, uint64_t most);
  /// `inputs` must live until the next call.
  void bind(const bound_inputs& inputs);

  /// The instruction that computes result n writes it to `places[n] + first * elements[n]` unless
  /// that place is NULL (block_program::writes_in_place), until the next call. `streams`: bypass
  /// the caches.
  void place(const launch_list<std::byte*>& places, const launch_list<uint32_t>& elements,
             bool streams);
  /// Copies `count` points of each of `lines` consecutive lines from `first` on of the inputs that
  /// are not read along their lines. Until the next call, evaluate() takes `count` points of one of
  /// these lines.
  void load_tile(uint64_t first, uint64_t count, uint64_t lines);
  /// Computes all values of the points [first, first + count).
  void evaluate(uint64_t first, uint64_t count);
  /// For a program that joins: adds value n of those points to totals[n % cycle], or to totals[n]
  /// if `cycle` is 0. `cycle` is a power of two that divides `count`. With `rows`, the same for as
  /// many lines, if takes_rows(); the totals of the next line are `step` bytes further.
  void join(uint64_t first, uint64_t count, std::byte* totals, uint64_t cycle, uint64_t rows = 1,
            int64_t step = 0);
  /// Whether the program is one loop, which reads the lines of two dimensions in place.
  bool takes_rows() const { return !row_steps_.empty(); }
  /// Whether it also writes them in place: evaluate() then takes any number of points.
  bool writes_rows() const;
  bool joins() const { return program_.totals_ != block_program::no_value; }
  routines::block_routine widens() const { return program_.widens(); }
  /// The maximum number of elements per call.
  uint64_t block() const { return most_; }
  /// Result n of the points computed last.
  const std::byte* result(uint32_t n) {
    const uint32_t value = program_.results_[n];
    return program_.is_input(n) ? at_[value] : place_of(value, first_, 0);
  }
  /// The address of result 0 for the points [first, first + count) before anything is computed, if
  /// the result is an input that can be read in place, else NULL.
  const std::byte* in_place(uint64_t first, uint64_t count) const;

 private:
  std::byte* slot(uint32_t n) {
    if (memory_ == nullptr) [[unlikely]]
      allocate();
    return memory_.get() + size_t{n} * slot_bytes_;
  }
  void allocate();
  void find_row_steps();
  void evaluate_pieces(uint64_t first, uint64_t count, uint64_t done);
  // Computes `count` points of each of `rows` lines from point `first` on, with the totals of
  // the next line `step` bytes further.
  void evaluate_rows(uint64_t first, uint64_t count, uint64_t rows, int64_t step);
  // Computes points from `first` on; results are stored after `done` elements of their registers.
  void evaluate_piece(uint64_t first, uint64_t count, uint64_t done);
  void load(uint32_t n, uint64_t first, uint64_t count);
  void gather_input(uint32_t n, uint64_t first, uint64_t count);
  // Fills the first `count` elements of the register with one element, unless only loops read it.
  void load_one(uint32_t n, const std::byte* element, uint64_t count);

  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::byte* place_of(uint32_t value, uint64_t first, uint64_t done);

  const block_program& program_;
  const tutti_scalar* scalars_;
  const bound_inputs* inputs_ = nullptr;
  uint64_t line_ = 0;   // of the inputs
  uint64_t first_ = 0;  // of the points computed last
  uint64_t most_;
  uint64_t cycle_ = 0;           // of the totals
  std::byte* totals_ = nullptr;  // joined by the elements from first_ on
  size_t slot_bytes_;
  std::unique_ptr<std::byte[], aligned_delete> memory_;  // of the registers, allocated on first use
  // The operands of one step. A member, because zeroing a local array waits for streaming stores.
  const std::byte* in_[fused_loop::most_arrays] = {};
  std::byte* out_[fused_loop::most_arrays] = {};
  launch_list<const std::byte*> at_;    // the address of each value of the current block
  launch_list<const std::byte*> held_;  // for each input, the element that fills its register
  launch_list<uint64_t> repeated_;      // likewise, how many elements of repeated lines it has
  launch_list<int64_t> row_steps_;      // bytes, for each input; empty: see takes_rows()
  uint64_t row_ = 0;                    // points of a row
  struct placed {
    std::byte* base = nullptr;  // NULL: a register
    uint32_t element = 0;
  };
  launch_list<placed> placed_;  // for each value; empty: none
  struct tile {
    std::vector<std::byte> values;  // empty: the input is read along its lines
    uint64_t first = 0, count = 0;
  };
  launch_list<tile> tiles_;  // for each input; empty: none
  bool streams_ = false;
};

}  // namespace tutti::sdk
