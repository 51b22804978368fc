// SPDX-License-Identifier: Apache-2.0
//
// Converts a group of nodes to a program of the plugin ABI and the arguments of one launch. The
// program depends only on arithmetic, dtypes and access classes; extents, strides, offsets and
// scalars are arguments, so that one compilation serves every shape.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string>
#include <vector>

#include "fusion/plan.hpp"

namespace tutti::fusion {

/// An operand before memory is assigned.
struct operand {
  const node* source = nullptr;        // inputs: base node; outputs: the member stored
  std::int64_t offset = 0;             // elements
  std::int64_t stride[max_rank] = {};  // over the iteration space
  dtype type = dtype::f32;
};

struct lowered {
  boost::container::small_vector<operand, 8> inputs;
  boost::container::small_vector<operand, 2> outputs;
  boost::container::small_vector<tutti_scalar, 8> scalars;
  boost::container::small_vector<std::uint8_t, 8> scalar_dtypes;
  boost::container::small_vector<tutti_instruction, 16> instructions;
  boost::container::small_vector<tutti_program_operand, 8> input_descs;
  boost::container::small_vector<tutti_program_operand, 2> output_descs;
  std::uint64_t extent[max_rank] = {};
  int kept_rank = 0;
  int reduced_rank = 0;
  tutti_reduction reduction = TUTTI_REDUCE_NONE;
  tutti_reduce_layout reduce_layout = TUTTI_REDUCE_INNER;
  dtype accumulator = dtype::f32;
  bool wide_index = false;

  /// The description to compile; points into this object.
  tutti_program_desc desc(const char* label) const;
  /// Equal for equal descriptions.
  void key(std::string& out) const;
  /// "multiply+tanh+sum"
  std::string label() const;
  std::uint64_t points() const;
};

/// A program of a group, for later groups of the same structure (plan_cache).
struct kept_program {
  // Input `input` of member number `member`.
  struct edge {
    std::uint32_t member, input;
  };
  struct kept_input {
    edge from;
    std::int64_t reach;  // reach_of()
  };
  struct kept_scalar {
    edge from;
    std::uint32_t scalar;
    bool imaginary;
  };

  bool is_filled = false;
  lowered program;
  std::vector<kept_input> inputs;      // of the program
  std::vector<kept_scalar> scalars;    // all constants, in their order
  std::vector<std::uint32_t> outputs;  // members
  void* code = nullptr;                // what the executor compiled from it,
  std::uint64_t code_generation = 0;   // and when

  /// The program with the inputs, outputs and scalars of g; null if that does not suffice.
  const lowered* of(const plan& p, const group& g);
};

/// A fused group as a program that stores the group's outputs contiguously. `keep`: filled, unless
/// the program depends on more than the group's structure.
lowered lower(const plan& p, const group& g, kept_program* keep = nullptr);

/// A copy of `source` (ready or a constant, broadcast to `extents`) to `where` in a storage.
lowered lower_copy(const node& source, const shape& extents, dtype type,
                   const graph::layout& where);
/// The same for several sources, each with its destination, as one program.
lowered lower_copies(std::span<const node* const> sources, const shape& extents, dtype type,
                     std::span<const graph::layout> places);

}  // namespace tutti::fusion
