// SPDX-License-Identifier: Apache-2.0
//
// The routines of one set of instructions as tables. Included where those are compiled: nothing of
// the standard library here (host_language.hpp tells why).
#pragma once

namespace tutti::sdk::routines {

// `count` elements of contiguous arrays: out[i] = f(in[0][i], ...). `out` may be one of the inputs
// where the element sizes are the same.
using block_routine = void (*)(const void* const* in, void* out, long count);

// An instruction by opcode, register dtype of its first operand and dtype of its result.
// TUTTI_OP_cast also goes from and to the dtypes that are only stored.
struct block_row {
  unsigned short opcode;
  unsigned char of, result;
  block_routine run;
};

// The steps of a reduction of values that have the accumulator's dtype. Indices, for ARGMIN and
// ARGMAX alone, lie beside the values.
struct reduction_row {
  unsigned char reduction, accumulator;
  // into[0, count) = neutral elements.
  void (*start)(void* into, long* into_at, long count);
  // The line values[0, length), fewer than 2^31, whose first element has the index `linear`, joins
  // one total.
  void (*line)(const void* values, long linear, long length, void* into, long* into_at,
               void* losses);
  // into[j] joins values[j], which has the index `step`.
  void (*row)(void* into, long* into_at, const void* values, long step, long count);
  // The same with an index for each value; NULL where none are found.
  void (*join)(void* into, long* into_at, const void* values, const long* value_at, long count);
  // into[j] joins the sum of the values j of eight rows, which are added up first; NULL for others
  // than sums of real floats.
  void (*eight)(void* into, const void* const* rows, long count);
  // Sums that carry their rounding errors along: totals join values; NULL for other reductions.
  void (*compensate)(void* into, void* losses, const void* values, long count);
  // The last values, and what is owed from before, join the totals.
  void (*settle)(void* into, void* losses, const void* values, long count);
};

struct routine_table {
  const block_row* blocks;
  unsigned long block_count;
  const reduction_row* reductions;
  unsigned long reduction_count;
};

// Real numbers, and those with complex operands or results.
extern const routine_table baseline_real, baseline_complex;
extern const routine_table avx2_real, avx2_complex, avx512_real, avx512_complex;

}  // namespace tutti::sdk::routines
