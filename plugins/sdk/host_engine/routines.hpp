// SPDX-License-Identifier: Apache-2.0
//
// The routine tables of one instruction set. Included by files compiled for that set: no standard
// library here (see host_language.hpp).
#pragma once

namespace tutti::sdk::routines {

// Computes `count` elements of contiguous arrays: out[i] = f(in[0][i], ...). `out` may be an input
// of the same element size.
using block_routine = void (*)(const void* const* in, void* out, long count);

// An instruction, identified by opcode, register dtype of its first operand and result dtype.
// TUTTI_OP_cast also converts from and to the dtypes that are only stored.
struct block_row {
  unsigned short opcode;
  unsigned char of, result;
  block_routine run;
};

// The steps of a reduction in the accumulator's dtype. Only ARGMIN and ARGMAX use indices.
struct reduction_row {
  unsigned char reduction, accumulator;
  // into[0, count) = neutral elements.
  void (*start)(void* into, long* into_at, long count);
  // Adds the line values[0, length) to one total; length < 2^31, `linear`: index of the first.
  void (*line)(const void* values, long linear, long length, void* into, long* into_at,
               void* losses);
  // Adds values[j], which has the index `step`, to into[j].
  void (*row)(void* into, long* into_at, const void* values, long step, long count);
  // The same with an index for each value; NULL for reductions without indices.
  void (*join)(void* into, long* into_at, const void* values, const long* value_at, long count);
  // Adds the sum of the values j of eight rows to into[j]; NULL except for sums of real floats.
  void (*eight)(void* into, const void* const* rows, long count);
  // Compensated sums: adds values to totals, keeps the rounding errors; NULL for other kinds.
  void (*compensate)(void* into, void* losses, const void* values, long count);
  // Adds the last values and the rounding errors to the totals.
  void (*settle)(void* into, void* losses, const void* values, long count);
};

struct routine_table {
  const block_row* blocks;
  unsigned long block_count;
  const reduction_row* reductions;
  unsigned long reduction_count;
};

// Real routines, and those with complex operands or results.
extern const routine_table baseline_real, baseline_complex;
extern const routine_table avx2_real, avx2_complex, avx512_real, avx512_complex;

}  // namespace tutti::sdk::routines
