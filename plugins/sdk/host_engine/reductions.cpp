// SPDX-License-Identifier: Apache-2.0
//
// The order of reductions; the routines do the additions.
#include "sdk/host_engine/reductions.hpp"

#include <algorithm>

namespace tutti::sdk {
namespace {

constexpr uint64_t rows_at_once = 8, rows_between_totals = 256;  // as program::cpu_outer

struct row_of_lanes {
  std::byte* lane;
  long* index;
  uint64_t element;  // bytes
};

// Adds some columns of each row in turn: reading several rows at once is faster.
void add_rows(const routines::reduction_row& row, const row_of_lanes& to, const void* const* rows,
              uint64_t count, long step, uint64_t width) {
  constexpr uint64_t columns = 128;
  for (uint64_t c = 0; c < width; c += columns) {
    const auto taken = static_cast<long>(std::min(columns, width - c));
    for (uint64_t u = 0; u < count; ++u)
      row.row(to.lane + c * to.element, to.index == nullptr ? nullptr : to.index + c,
              static_cast<const std::byte*>(rows[u]) + c * to.element, step + static_cast<long>(u),
              taken);
  }
}

// The totals of a segment of each of some lines.
struct joined_segments {
  static constexpr uint64_t most_lines = 8;
  explicit joined_segments(const reduction_totals& of) : totals(of) {}

  const reduction_totals& totals;
  const uint64_t cycle = fused_loop::row_totals(totals.row->accumulator);
  uint64_t first = 0, end = 0;  // points
  uint64_t length = 0;          // totals of a line
  alignas(64) std::byte values[most_lines * 1024];

  // The loop that computes the values of `count` points from `point` on, of each of `lines` lines,
  // also adds them to the totals of the line, which are then reduced like the line of a routine.
  void join(uint64_t point, uint64_t count, uint64_t lines, block_registers& registers) {
    const uint64_t rest = count % cycle, whole = count - rest;
    length = std::min(count, cycle);
    const auto all = static_cast<long>(lines * length);
    const auto widen = registers.widens();
    alignas(64) std::byte narrow[most_lines * 512];
    std::byte* const to = widen != nullptr ? narrow : values;
    totals.row->start(to, nullptr, widen != nullptr ? (all + 1) / 2 : all);
    const uint64_t element = widen != nullptr ? totals.element / 2 : totals.element;
    const auto step = static_cast<int64_t>(length * element);
    if (whole > 0) registers.join(point, whole, to, cycle, lines, step);
    if (rest > 0) registers.join(point + whole, rest, to, 0, lines, step);
    const void* const from = narrow;
    if (widen != nullptr) widen(&from, values, all);
  }
};

}  // namespace

reduction_totals::reduction_totals(const routines::reduction_row& routines, uint32_t element_bytes,
                                   uint64_t count, uint64_t kept_points, bool finds_index)
    : row(&routines),
      element(element_bytes),
      kept(kept_points),
      values(std::make_unique_for_overwrite<std::byte[]>(count * element_bytes)),
      indices(finds_index ? count : 0) {
  row->start(values.get(), index(0), static_cast<long>(count));
}

void reduce_inner(const reduction_shape& s, uint64_t first, uint64_t last, uint64_t origin,
                  block_registers& registers, reduction_totals& totals) {
  // Steps are numbered along the lines; returns the first element of a step.
  const auto begin_of = [&](uint64_t step) {
    return step / s.segments * s.reduced_inner + step % s.segments * s.segment;
  };
  const auto bound = [&](uint64_t part) { return s.steps * part / s.parts; };
  const uint64_t end_of_units =
      (last - 1) / s.parts * s.reduced + begin_of(bound((last - 1) % s.parts + 1));
  uint64_t computed = 0, computed_end = 0;
  joined_segments joined(totals);
  // Adds `length` values from element `linear` of a row on to total `to`; `unit`: the first row of
  // those that may be computed at once.
  const auto add = [&](uint64_t unit, uint64_t point, uint64_t linear, uint64_t length, uint64_t to,
                       std::byte* lost) {
    const std::byte* values = registers.in_place(point, length);
    if (registers.joins()) {
      if (point < joined.first || point >= joined.end) {
        // Short lines of one segment each are computed at once.
        const uint64_t lines = registers.takes_rows() && s.steps == 1
                                   ? std::min(joined_segments::most_lines, last - unit)
                                   : 1;
        joined.join(point, length, lines, registers);
        joined.first = point;
        joined.end = point + (lines - 1) * s.reduced + 1;
      }
      values = joined.values + (point - joined.first) / s.reduced * joined.length * totals.element;
      length = joined.length;
    }
    if (values == nullptr && point + length > computed_end) {
      // Computes several whole lines at once if they fit.
      const uint64_t lines = registers.block() / s.reduced_inner * s.reduced_inner;
      const uint64_t count = std::max(length, std::min(lines, end_of_units - point));
      registers.evaluate(point, count);
      computed = point;
      computed_end = point + count;
    }
    if (values == nullptr) values = registers.result(0) + (point - computed) * totals.element;
    totals.row->line(values, static_cast<long>(linear), static_cast<long>(length), totals.value(to),
                     totals.index(to), lost);
  };
  for (uint64_t unit = first; unit < last; ++unit) {
    alignas(16) std::byte lost[16] = {};
    if (s.steps == 1 && s.parts == 1) {
      add(unit, unit * s.reduced, 0, s.reduced, unit - origin, lost);
      continue;
    }
    const uint64_t kept_index = unit / s.parts, part = unit % s.parts;
    const uint64_t to = s.parts > 1 ? part * s.kept + kept_index : unit - origin;
    const uint64_t end = bound(part + 1);
    for (uint64_t step = bound(part); step < end; ++step) {
      const uint64_t linear = begin_of(step);
      const uint64_t length = std::min(s.segment, s.reduced_inner - step % s.segments * s.segment);
      add(unit, kept_index * s.reduced + linear, linear, length, to, lost);
    }
  }
}

void reduce_outer(const reduction_shape& s, const outer_unit& unit, block_registers& registers,
                  reduction_totals& totals) {
  const routines::reduction_row& row = *totals.row;
  const bool sums = row.compensate != nullptr;
  const auto width = static_cast<long>(unit.width);
  const bool finds_index = totals.index(0) != nullptr;
  const auto widen = registers.joins() ? registers.widens() : nullptr;
  // Lanes, the sum of a few rows, and the rounding errors of the totals; or lanes of short totals,
  // and the same ones widened.
  const uint64_t lanes = sums ? 3 : widen != nullptr ? 2 : 1;
  reduction_totals state(row, totals.element, unit.width * lanes, 0, finds_index);
  std::byte* const lane = state.value(0);
  std::byte* const rows_sum = sums ? state.value(unit.width) : nullptr;
  std::byte* const losses = sums ? state.value(2 * unit.width) : nullptr;
  row.start(totals.value(unit.at), totals.index(unit.at), width);
  const uint64_t row_bytes = unit.width * totals.element;
  const uint64_t end = s.steps * (unit.part + 1) / s.parts;
  uint64_t added = 0;
  const auto add_widened = [&] {
    const void* const from = lane;
    widen(&from, state.value(unit.width), width);
    row.row(totals.value(unit.at), nullptr, state.value(unit.width), 0, width);
    row.start(lane, nullptr, width);
    added = 0;
  };
  for (uint64_t step = s.steps * unit.part / s.parts; step < end;) {
    const uint64_t run = std::min(s.reduced_inner - step % s.reduced_inner, end - step);
    for (uint64_t done = 0; done < run;) {
      const bool joins = registers.joins();
      uint64_t rows = joins ? run - done : std::min(run - done, registers.block() / unit.width);
      if (rows >= rows_at_once) rows -= rows % rows_at_once;
      const uint64_t first = (step + done) * unit.width;
      const bool in_place = registers.in_place(first, unit.width) != nullptr;
      if (!in_place && !joins) registers.evaluate(first, rows * unit.width);
      const auto row_at = [&](uint64_t r) {
        return in_place ? registers.in_place(first + r * unit.width, unit.width)
                        : registers.result(0) + r * row_bytes;
      };
      for (uint64_t r = 0; r < rows;) {
        const uint64_t taken = rows - r >= rows_at_once ? rows_at_once : 1;
        const bool apart = sums && taken > 1;
        const void* these[rows_at_once] = {};
        for (uint64_t u = 0; u < taken && !joins; ++u) these[u] = row_at(r + u);
        if (!joins && apart && row.eight != nullptr) {
          row.eight(lane, these, width);
        } else {
          if (apart) row.start(rows_sum, nullptr, width);
          std::byte* const to = apart ? rows_sum : lane;
          for (uint64_t u = 0; u < taken && joins; ++u)
            registers.join(first + (r + u) * unit.width, unit.width, to, 0);
          if (!joins)
            add_rows(row, {to, state.index(0), totals.element}, these, taken,
                     static_cast<long>(step + done + r), unit.width);
          if (apart) row.row(lane, nullptr, rows_sum, 0, width);
        }
        r += taken;
        added += taken;
        if (sums && added >= rows_between_totals) {
          added = 0;
          row.compensate(totals.value(unit.at), losses, lane, width);
          row.start(lane, nullptr, width);
        }
        if (widen != nullptr && added + rows_at_once > block_program::most_narrow) add_widened();
      }
      done += rows;
    }
    step += run;
  }
  if (sums) {
    row.settle(totals.value(unit.at), losses, lane, width);
  } else if (widen != nullptr) {
    add_widened();
  } else if (finds_index) {
    std::copy_n(lane, row_bytes, totals.value(unit.at));
    std::copy_n(state.index(0), unit.width, totals.index(unit.at));
  } else {
    std::copy_n(lane, row_bytes, totals.value(unit.at));
  }
}

void fold_parts(const reduction_shape& s, uint64_t first, uint64_t last, reduction_totals& partial,
                reduction_totals& totals) {
  const routines::reduction_row& row = *totals.row;
  const auto count = static_cast<long>(last - first);
  const uint64_t sums = row.compensate != nullptr ? last - first : 0;
  reduction_totals lost(row, totals.element, sums, 0, false);
  row.start(totals.value(0), totals.index(0), count);
  for (uint64_t part = 0; part < s.parts; ++part) {
    const uint64_t from = part * s.kept + first;
    if (row.compensate != nullptr) {
      row.compensate(totals.value(0), lost.value(0), partial.value(from), count);
    } else if (row.join != nullptr) {
      row.join(totals.value(0), totals.index(0), partial.value(from), partial.index(from), count);
    } else {
      row.row(totals.value(0), nullptr, partial.value(from), 0, count);
    }
  }
}

}  // namespace tutti::sdk
