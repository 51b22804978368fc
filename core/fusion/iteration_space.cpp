// SPDX-License-Identifier: Apache-2.0
//
// Ordering and merging of the loops of a program.
#include "fusion/iteration_space.hpp"

#include <algorithm>
#include <cstdlib>

namespace tutti::fusion {
namespace {

// The cost of a row itself is that of some tens of elements; from this length, loops over
// neighbouring rows pay off.
constexpr std::int64_t longest_short_row = 32, least_neighbouring_rows = 64;

struct axis_list {
  int axes[max_rank];
  int count = 0;
  void add(int axis) { axes[count++] = axis; }
  // Makes `axis` the last one.
  void move_to_end(int axis) {
    int* found = std::find(axes, axes + count, axis);
    if (found != axes + count) std::rotate(found, found + 1, axes + count);
  }
};

template <class F>
void each_operand(lowered& program, F&& f) {
  for (operand& x : program.inputs) f(x);
  for (operand& x : program.outputs) f(x);
}

// The axis along which the inputs are contiguous; -1 if there is none.
int contiguous_axis(const lowered& program, const shape& space) {
  int votes[max_rank] = {};
  for (const operand& x : program.inputs)
    for (int i = 0; i < space.rank(); ++i)
      if (space[i] > 1 && std::abs(x.stride[i]) == 1) ++votes[i];
  int best = -1;
  for (int i = space.rank() - 1; i >= 0; --i)
    if (votes[i] > 0 && (best < 0 || votes[i] > votes[best])) best = i;
  return best;
}

bool merges(lowered& program, int outer, int inner, std::int64_t inner_extent) {
  bool all = true;
  each_operand(program,
               [&](operand& x) { all &= x.stride[outer] == x.stride[inner] * inner_extent; });
  return all;
}

// Merged extents of the listed axes; each entry keeps the innermost axis of its run.
void merge(lowered& program, const shape& space, axis_list& list, std::int64_t* extents) {
  int kept = 0;
  for (int i = 0; i < list.count; ++i) {
    const int axis = list.axes[i];
    if (kept > 0 && merges(program, list.axes[kept - 1], axis, space[axis])) {
      extents[kept - 1] *= space[axis];
      list.axes[kept - 1] = axis;
    } else {
      extents[kept] = space[axis];
      list.axes[kept++] = axis;
    }
  }
  list.count = kept;
}

bool needs_wide_index(lowered& program) {
  bool wide = static_cast<std::int64_t>(program.points()) >= narrow_limit;
  each_operand(program,
               [&](operand& x) { wide |= x.offset + reach_of(program, x) >= narrow_limit; });
  return wide;
}

std::uint8_t access_of(std::int64_t stride) {
  return stride == 1 ? TUTTI_ACCESS_UNIT : stride == 0 ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_STRIDED;
}

void choose_order(lowered& program, const shape& space, std::uint8_t reduced_axes, axis_list& kept,
                  axis_list& reduced) {
  const bool is_arg =
      program.reduction == TUTTI_REDUCE_ARGMIN || program.reduction == TUTTI_REDUCE_ARGMAX;
  int inner = contiguous_axis(program, space);
  if (inner < 0) inner = space.rank() - 1;
  if (inner >= 0 && (reduced_axes >> inner & 1) == 0 && kept.count > 0) {
    kept.move_to_end(inner);
    program.reduce_layout = TUTTI_REDUCE_OUTER;
  } else if (!is_arg) {
    reduced.move_to_end(inner);  // the indices of argmin and argmax depend on the given order
  }
}

// Many rows of few elements: the innermost loop runs over neighbouring rows instead, along the
// longest kept axis if the last one is short too. The lists are merged.
void loop_over_short_rows(lowered& program, axis_list& kept, std::int64_t* kept_extents,
                          const axis_list& reduced, const std::int64_t* reduced_extents) {
  std::int64_t length = 1;
  for (int i = 0; i < reduced.count; ++i)
    if (__builtin_mul_overflow(length, reduced_extents[i], &length)) return;
  if (length > longest_short_row || kept.count == 0) return;
  int inner = kept.count - 1;
  if (kept_extents[inner] < least_neighbouring_rows)
    inner =
        static_cast<int>(std::max_element(kept_extents, kept_extents + kept.count) - kept_extents);
  if (kept_extents[inner] < least_neighbouring_rows) return;
  std::rotate(kept_extents + inner, kept_extents + inner + 1, kept_extents + kept.count);
  kept.move_to_end(kept.axes[inner]);
  program.reduce_layout = TUTTI_REDUCE_OUTER;
}

}  // namespace

std::int64_t reach_of(const lowered& program, const operand& x) {
  std::int64_t reach = 0;
  for (int i = 0; i < program.kept_rank + program.reduced_rank; ++i)
    reach += std::abs(x.stride[i]) * (static_cast<std::int64_t>(program.extent[i]) - 1);
  return reach;
}

void arrange(lowered& program, const shape& space, std::uint8_t reduced_axes) {
  axis_list kept, reduced;
  for (int i = 0; i < space.rank(); ++i) {
    if (space[i] == 1) continue;
    ((reduced_axes >> i & 1) != 0 ? reduced : kept).add(i);
  }
  const bool reduces = program.reduction != TUTTI_REDUCE_NONE;
  // One element is a row of length one: the program is that of longer rows.
  if (!reduces && kept.count == 0 && space.rank() > 0) kept.add(space.rank() - 1);
  if (reduces) choose_order(program, space, reduced_axes, kept, reduced);
  std::int64_t kept_extents[max_rank], reduced_extents[max_rank];
  merge(program, space, kept, kept_extents);
  merge(program, space, reduced, reduced_extents);
  if (reduces && program.reduce_layout == TUTTI_REDUCE_INNER)
    loop_over_short_rows(program, kept, kept_extents, reduced, reduced_extents);

  program.kept_rank = kept.count;
  program.reduced_rank = reduces ? std::max(reduced.count, 1) : 0;
  const int rank = program.kept_rank + program.reduced_rank;
  std::fill(program.extent, program.extent + max_rank, 1);
  for (int i = 0; i < kept.count; ++i)
    program.extent[i] = static_cast<std::uint64_t>(kept_extents[i]);
  for (int i = 0; i < reduced.count; ++i)
    program.extent[kept.count + i] = static_cast<std::uint64_t>(reduced_extents[i]);
  each_operand(program, [&](operand& x) {
    std::int64_t strides[max_rank] = {};
    for (int i = 0; i < kept.count; ++i) strides[i] = x.stride[kept.axes[i]];
    for (int i = 0; i < reduced.count; ++i) strides[kept.count + i] = x.stride[reduced.axes[i]];
    std::copy(strides, strides + max_rank, x.stride);
  });

  const bool along_reduced = reduces && program.reduce_layout == TUTTI_REDUCE_INNER;
  const int inner = along_reduced ? rank - 1 : program.kept_rank - 1;
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    program.input_descs[i].access = access_of(inner < 0 ? 0 : program.inputs[i].stride[inner]);
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const int kept_inner = program.kept_rank - 1;
    program.output_descs[i].access =
        access_of(kept_inner < 0 ? 1 : program.outputs[i].stride[kept_inner]);
  }
  program.wide_index = needs_wide_index(program);
}

}  // namespace tutti::fusion
