// SPDX-License-Identifier: Apache-2.0
//
// Sizes were measured: docs/benchmarks.md. A CPU runtime wakes its threads in tens of microseconds,
// so little work stays in one group; a GPU needs many groups in flight.
#include "sdk/launch_plan.hpp"

#include <algorithm>
#include <limits>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

constexpr uint64_t elements_of_a_group = 16384;  // minimum per additional group
constexpr uint64_t reduce_segment = 2048;        // between two compensated additions
// The lines of a tile fit the L1 or L2 cache and use whole cache lines for any dtype.
constexpr int64_t tile_lines = 64, tile_columns = 64;

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) ||
      product > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw_invalid("program: the iteration space has more than 2^63 points");
  }
  return product;
}

// The iteration space in normalised dimensions.
struct space {
  uint64_t kept = 1, kept_inner = 1, reduced = 1, reduced_inner = 1;
};

space measure(const program_layout& layout, const uint64_t* extent) {
  space s;
  for (uint32_t d = 0; d < layout.given_kept; ++d) {
    if (extent[d] == 0) throw_invalid("program: a kept extent is 0");
    s.kept = times(s.kept, extent[d]);
    s.kept_inner = extent[d];
  }
  const uint64_t* reduced = extent + layout.given_kept;
  for (uint32_t d = 0; d < layout.given_reduced; ++d) {
    s.reduced = times(s.reduced, reduced[d]);
    s.reduced_inner = reduced[d];
  }
  times(s.kept, std::max<uint64_t>(s.reduced, 1));
  return s;
}

// PoCL gives 1 + groups/threads groups to the first thread; an odd number balances the load.
uint64_t cpu_groups(uint64_t points, uint64_t cost, const machine& on) {
  const uint64_t most = on.compute_units > 1 ? on.compute_units * 32ull - 1 : 16;
  const uint64_t work = points > (uint64_t{1} << 40) ? points : points * cost / 4;
  const uint64_t wanted = work / elements_of_a_group;
  if (wanted <= 1) return 1;
  return std::min(most, wanted | 1);
}

void plan_cpu(const program_layout& layout, const space& s, const machine& on, launch_plan& p) {
  const uint64_t points = times(s.kept, std::max<uint64_t>(s.reduced, 1));
  const uint64_t groups = cpu_groups(points, 4 + layout.instructions, on);
  uint64_t parts = 1, segment = 1, segments = 1, units = 1, steps = 0;
  if (!layout.reduces()) {
    const uint64_t rows = s.kept / s.kept_inner;
    const uint64_t pieces =
        rows >= 4 * groups ? 1
                           : ceil_div(groups == 1 ? 1 : (rows == 1 ? groups : 4 * groups), rows);
    segment =
        std::max<uint64_t>(ceil_div(s.kept_inner, pieces), std::min<uint64_t>(s.kept_inner, 256));
    if (segment < s.kept_inner) segment = ceil_div(segment, 64) * 64;
    segments = ceil_div(s.kept_inner, segment);
    units = rows * segments;
  } else if (layout.reduce_layout == TUTTI_REDUCE_INNER) {
    segment = std::clamp<uint64_t>(s.reduced_inner, 1, reduce_segment);
    segments = s.reduced_inner == 0 ? 1 : ceil_div(s.reduced_inner, segment);
    steps = s.reduced == 0 ? 0 : s.reduced / s.reduced_inner * segments;
    if (s.kept < groups)
      parts = std::clamp<uint64_t>(groups / s.kept, 1, std::max<uint64_t>(steps, 1));
    units = s.kept * parts;
  } else {
    segment = layout.block;
    segments = ceil_div(s.kept_inner, segment);
    steps = s.reduced;
    const uint64_t blocks = s.kept / s.kept_inner * segments;
    if (blocks < groups)
      parts = std::clamp<uint64_t>(groups / blocks, 1, std::max<uint64_t>(steps / 16, 1));
    units = blocks * parts;
  }
  p.main_groups = std::clamp<uint64_t>(groups, 1, units);
  p.finish_groups = parts > 1 ? std::clamp<uint64_t>(s.kept * parts / 4096, 1, groups) : 0;
  const uint64_t words[plan_words] = {s.kept, parts, segment, segments, units, steps};
  std::ranges::copy(words, p.words);
}

// The points that a group of the finishing kernel processes at once: see gpu_finish.
uint64_t finish_slots(uint64_t kept, uint64_t parts, uint64_t group) {
  uint64_t slots = 1;
  while (slots < kept && slots < group && (slots < 32 || group / slots > parts)) slots *= 2;
  return slots;
}

void plan_gpu(const program_layout& layout, const space& s, const machine& on, launch_plan& p) {
  const uint64_t group = layout.work_group;
  const uint64_t most_groups = on.compute_units * 32ull;
  // Of reductions whose parts are added up afterwards.
  const uint64_t most_items = on.compute_units * 8ull * group;
  const uint64_t vector = layout.vector;
  const bool inner = layout.reduces() && layout.reduce_layout == TUTTI_REDUCE_INNER;
  // The innermost loop, along which work-items use vectors.
  const uint64_t length = inner ? s.reduced_inner : s.kept_inner;
  const uint64_t segments = ceil_div(length, vector);
  const uint64_t kept = inner ? s.kept : s.kept / s.kept_inner * segments;
  const uint64_t steps = !inner || s.reduced == 0 ? s.reduced : s.reduced / length * segments;
  uint64_t parts = 1, lanes = 1, units = kept;
  if (!layout.reduces()) {
    p.main_groups = std::clamp<uint64_t>(ceil_div(units, group), 1, most_groups);
  } else if (inner) {
    while (lanes < group && lanes < steps) lanes *= 2;
    const uint64_t wanted = most_items / (kept * lanes);
    const uint64_t least = lanes * std::max<uint64_t>(8 / vector, 1);
    parts = std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(steps / least, 1));
    units = kept * parts;
    p.main_groups = std::clamp<uint64_t>(ceil_div(units, group / lanes), 1, most_groups);
  } else {
    const uint64_t wanted = most_items / kept;
    parts = std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(steps / 32, 1));
    units = kept * parts;
    p.main_groups = std::clamp<uint64_t>(ceil_div(units, group), 1, most_groups);
  }
  if (parts > 1) {
    const uint64_t slots = finish_slots(s.kept, parts, group);
    p.finish_groups = std::min(ceil_div(s.kept, slots), most_groups);
  }
  const uint64_t words[plan_words] = {s.kept, parts, lanes, segments, units, steps};
  std::ranges::copy(words, p.words);
}

}  // namespace

launch_plan plan_launch(const program_layout& layout, const uint64_t* extent, const machine& on) {
  launch_plan p;
  const space s = measure(layout, extent);
  if (layout.kind == schedule::cpu) {
    plan_cpu(layout, s, on, p);
  } else {
    plan_gpu(layout, s, on, p);
  }
  if (p.finish_groups > 0) {
    const uint64_t partials = s.kept * static_cast<uint64_t>(p.words[parts_word]);
    p.partial_at_offset = ceil_div(partials * dtype_size(layout.accumulator), 64) * 64;
    p.workspace_bytes = p.partial_at_offset + (layout.finds_index() ? partials * 8 : 0);
  }
  return p;
}

void cut_tiles(const program_layout& layout, const uint64_t* extent, const tutti_operand* inputs,
               const tutti_operand* outputs, launch_plan& plan) {
  const uint32_t inner = layout.kept - 1;
  plan.across = inner - 1;
  uint64_t closest = std::numeric_limits<uint64_t>::max();
  const auto distance = [](int64_t stride) {
    return stride < 0 ? 0 - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
  };
  for (uint32_t n = 0; n < layout.inputs + layout.outputs; ++n) {
    const tutti_operand& operand = n < layout.inputs ? inputs[n] : outputs[n - layout.inputs];
    for (uint32_t d = 0; d < inner; ++d) {
      const uint64_t away = distance(operand.stride[d]);
      if (away == 0 || extent[d] == 1 || away >= distance(operand.stride[inner])) continue;
      if (away >= closest) continue;
      closest = away;
      plan.across = d;
    }
  }
  int64_t* words = plan.words;
  const auto lines = static_cast<int64_t>(extent[plan.across]);
  int64_t height = 1, segment = words[segment_word];
  if (closest != std::numeric_limits<uint64_t>::max()) {
    height = std::min(lines, tile_lines);
    segment = std::min(segment, tile_columns);
  }
  const auto width = static_cast<int64_t>(extent[inner]);
  words[parts_word] = height;
  words[segment_word] = segment;
  words[segments_word] = (width + segment - 1) / segment;
  words[units_word] =
      words[kept_word] / (lines * width) * ((lines + height - 1) / height) * words[segments_word];
  plan.main_groups = std::min(plan.main_groups, static_cast<uint64_t>(words[units_word]));
}

namespace {

template <typename Word>
class packer {
 public:
  explicit packer(void* to) : to_(static_cast<Word*>(to)) {}
  void put(int64_t number) {
    const Word word = static_cast<Word>(number);
    if (word != number) {
      throw_invalid("program: ", number,
                    " does not fit 32 bits, and the program was built without wide_index");
    }
    *to_++ = word;
  }
  // Multiplier m and shift s with n / d = (m * n / 2^W + n) / 2^s for all 0 <= n < 2^(W - 1), where
  // W is the width of a word: m = ceil(2^W (2^s - d) / d) or one more, s = ceil(log2 d). T.
  // Granlund and P. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
  void put_divisor(uint64_t d) {
    d = std::max<uint64_t>(d, 1);
    const auto shift = static_cast<Word>(d == 1 ? 0 : 64 - __builtin_clzll(d - 1));
    const uint64_t over = (shift < 64 ? uint64_t{1} << shift : 0) - d;
    constexpr int width = 8 * sizeof(Word);
    if constexpr (width == 32) {
      *to_++ = static_cast<Word>((over << 32) / d + 1);
    } else {
      __extension__ using twice = unsigned __int128;
      *to_++ = static_cast<Word>((static_cast<twice>(over) << width) / d + 1);
    }
    *to_++ = shift;
  }

 private:
  Word* to_;
};

template <typename Word>
void pack(const program_layout& l, const uint64_t* extent, const tutti_operand* inputs,
          const tutti_operand* outputs, const launch_plan& plan, void* geometry) {
  packer<Word> out(geometry);
  const auto given = [&](uint32_t d) {
    if (!l.tiled) return d;
    return d == l.kept - 2 ? plan.across : d == plan.across ? l.kept - 2 : d;
  };
  // Normalisation appends dimensions of extent 1 to the kept or the reduced ones.
  const auto put_dims = [&](auto&& value, int64_t filler) {
    for (uint32_t d = 0; d < l.kept; ++d) out.put(d < l.given_kept ? value(given(d)) : filler);
    for (uint32_t d = 0; d < l.reduced; ++d) {
      out.put(d < l.given_reduced ? value(l.given_kept + d) : filler);
    }
  };
  put_dims([&](uint32_t d) { return static_cast<int64_t>(extent[d]); }, 1);
  for (uint32_t n = 0; n < l.inputs + l.outputs; ++n) {
    const tutti_operand& operand = n < l.inputs ? inputs[n] : outputs[n - l.inputs];
    const uint64_t bytes = l.element_bytes[n];
    if (operand.offset % bytes != 0) {
      throw_invalid("program: offset ", operand.offset, " is no multiple of the element size ",
                    bytes);
    }
    out.put(static_cast<int64_t>(operand.offset / bytes));
    put_dims([&](uint32_t d) { return operand.stride[d]; }, 0);
  }
  for (int64_t word : plan.words) out.put(word);
  for (uint32_t d = 0; d < l.rank(); ++d) {
    const uint32_t of = d < l.kept ? d : l.given_kept + d - l.kept;
    const bool there = d < l.kept ? d < l.given_kept : d - l.kept < l.given_reduced;
    if (l.divides(d)) out.put_divisor(there ? extent[of] : 1);
  }
  if (l.divides_segments()) out.put_divisor(static_cast<uint64_t>(plan.words[segments_word]));
}

}  // namespace

void pack_geometry(const program_layout& layout, const uint64_t* extent,
                   const tutti_operand* inputs, const tutti_operand* outputs,
                   const launch_plan& plan, void* geometry) {
  if (layout.wide) {
    pack<int64_t>(layout, extent, inputs, outputs, plan, geometry);
  } else {
    pack<int32_t>(layout, extent, inputs, outputs, plan, geometry);
  }
}

}  // namespace tutti::sdk
