// SPDX-License-Identifier: Apache-2.0
//
// Launches of programs: division into chunks, evaluation and stores.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "sdk/host_engine/block_program.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_engine/output_memory.hpp"
#include "sdk/host_engine/reductions.hpp"
#include "sdk/op_info.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

constexpr uint32_t map_block = 512;  // registers of a few instructions fit the L1 cache
// A line of a reduction is computed at once (launch_plan.cpp: reduce_segment), and eight rows of
// columns. Long rows use many columns, because hardware prefetches along rows.
constexpr uint32_t line_block = output_memory::most;
constexpr uint64_t least_columns = 256, most_columns = 1024;
constexpr uint32_t rows_block = 8 * most_columns;
// Columns of elements that are not next to each other are copied to lines, which fit the L1 cache
// and are not a multiple of 4 KiB apart, where they would share a few of its sets.
constexpr uint64_t copied_at_once = 2048;
constexpr uint64_t reread_at_once = 65536;       // elements, which fit the L2 cache
constexpr uint64_t elements_of_a_chunk = 16384;  // minimum per additional thread
constexpr uint64_t totals_at_once = 1024;
// Loops that join totals process a line in one call, and the totals of columns fit the L1 cache.
// Where the totals do not divide a line, what is left over takes another call.
constexpr uint64_t least_joined = 128, least_joined_in_two = 512, bytes_of_totals = 16384;
constexpr uint64_t beyond_caches = uint64_t{32} << 20;  // written bytes
// Tiles of strided reads, where a line exceeds the L1 cache.
constexpr uint64_t tile_lines = 16, tile_columns = 64, worth_tiles = 1024;

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint32_t block_of(const program_layout& layout) {
  if (!layout.reduces()) return map_block;
  return layout.reduce_layout == TUTTI_REDUCE_INNER ? line_block : rows_block;
}

// Calls work(chunk) for all chunks.
template <typename F>
void share(const host_parallel_for& parallel, uint64_t chunks, const F& work) {
  if (parallel && chunks > 1) return parallel(chunks, std::cref(work));
  for (uint64_t chunk = 0; chunk < chunks; ++chunk) work(chunk);
}

// Whether an input is read across its memory lines. Elements that share a cache line with those
// just read are still cached if the next line of the space follows soon.
bool reads_across(const bound_inputs& inputs) {
  const walk_space& space = *inputs.space;
  if (space.rank < 2) return false;
  const uint32_t inner = space.rank - 1;
  if (space.extent[inner] < worth_tiles || space.extent[inner - 1] < tile_lines) return false;
  constexpr int64_t cache_line = 64;
  return std::any_of(inputs.access.begin(), inputs.access.end(), [&](const walk_access& access) {
    const auto step = [&](uint32_t d) { return std::abs(access.stride[d]) * access.element; };
    return step(inner) >= cache_line && step(inner - 1) > 0 && step(inner - 1) < cache_line;
  });
}

// Calls load(first, count, lines) for tiles of the lines of points [begin, end), and then
// compute(first, count) for each of their lines.
template <typename L, typename C>
void each_tile(const walk_space& space, uint64_t begin, uint64_t end, const L& load,
               const C& compute) {
  const uint64_t line = space.extent[space.rank - 1], side_by_side = space.extent[space.rank - 2];
  for (uint64_t band = begin, lines = 0; band < end; band += lines * line) {
    lines = std::min(
        {tile_lines, ceil_div(end - band, line), side_by_side - band / line % side_by_side});
    for (uint64_t column = 0; column < line; column += tile_columns) {
      const uint64_t count = std::min(tile_columns, line - column);
      load(band + column, count, lines);
      for (uint64_t n = 0; n < lines; ++n) compute(band + n * line + column, count);
    }
  }
}

// Whether the strides are those of an array without gaps, or of one element.
bool is_dense(const int64_t* stride, const uint64_t* extent, uint32_t rank) {
  bool dense = true;
  uint64_t expected = 1;
  for (uint32_t d = rank; d-- > 0;) {
    dense = dense && (static_cast<uint64_t>(stride[d]) == expected || extent[d] == 1);
    expected *= extent[d];
  }
  return dense;
}
bool is_one_element(const int64_t* stride, const uint64_t* extent, uint32_t rank) {
  bool one = true;
  for (uint32_t d = 0; d < rank; ++d) one = one && (stride[d] == 0 || extent[d] == 1);
  return one;
}

// Kept points that are reduced together, from point `first` on: `columns` of each of `rows`
// consecutive rows of the last but one kept dimension.
struct outer_band {
  uint64_t part, first, rows, columns;
};

}  // namespace

struct host_program::state {
  state(const tutti_program_desc& desc, host_routines set, uint32_t loop_bits);

  // One launch.
  struct job {
    job(const state& s, const tutti_program_launch& launched, const host_operands& operands,
        const machine& on, const host_parallel_for& by)
        : launch(launched),
          memory(operands),
          plan(plan_launch(s.layout, launch.extent, on)),
          threads(on.compute_units),
          parallel(by),
          program(s.program_for(launch)),
          kept(launch.extent, s.layout.given_kept),
          last(static_cast<uint64_t>(plan.words[kept_word])) {
      for (uint32_t n = 0; n < s.layout.outputs; ++n)
        outputs.emplace_back(s.forms[n], kept, launch.outputs[n], memory.outputs[n]);
    }
    job(const job&) = delete;
    job& operator=(const job&) = delete;

    const tutti_program_launch& launch;
    const host_operands& memory;
    const launch_plan plan;
    const uint64_t threads;
    const host_parallel_for& parallel;
    const block_program& program;
    const walk_space kept;
    launch_list<output_memory> outputs;
    uint64_t first = 0, last;  // kept points
    bool may_stream = true;
  };
  void find_whole_loop();
  bool run_whole(const tutti_program_launch& launch, const host_operands& memory) const;
  launch_list<std::byte*> places_of(const job& j) const;
  void run_map(const job& j) const;
  void run_inner(const job& j, const reduction_shape& shape) const;
  void run_outer(const job& j, const reduction_shape& shape) const;
  void run_band(const job& j, const reduction_shape& shape, const outer_band& band,
                bound_inputs& inputs, block_registers& registers, reduction_totals* partial) const;
  void fold(const job& j, const reduction_shape& shape, reduction_totals& partial) const;
  reduction_shape shape_of(const job& j) const;
  reduction_totals totals(uint64_t count, uint64_t kept) const {
    return {*reduction, dtype_size(layout.accumulator), count, kept, layout.finds_index()};
  }
  // Stores the totals of kept points from `first` on in the output format.
  void store_totals(const job& j, reduction_totals& t, uint64_t first, uint64_t count) const {
    for (uint64_t done = 0; done < count; done += output_memory::most) {
      const auto* indices = reinterpret_cast<const std::byte*>(t.index(done));
      j.outputs[0].store(layout.finds_index() ? indices : t.value(done), first + done,
                         std::min<uint64_t>(count - done, output_memory::most));
    }
  }
  bound_inputs bind(const job& j, const walk_space& space) const;
  uint64_t least_joined_line(bool inner, uint64_t line) const;
  bool reads_across_rows(const tutti_program_launch& launch) const;
  bool rereads(const tutti_program_launch& launch) const;
  const block_program& program_for(const tutti_program_launch& launch) const;

  program_layout layout;
  block_program program;
  // Variants for whole lines, and for reductions whose loops join totals.
  std::optional<block_program> by_lines, joining;
  const routines::reduction_row* reduction = nullptr;
  std::vector<output_form> forms;
  // Of a map that is one loop, which writes the outputs as they are stored; else NULL. The outputs
  // in the order of the loop.
  const block_program* whole = nullptr;
  std::vector<uint32_t> whole_outputs;
};

host_program::state::state(const tutti_program_desc& desc, host_routines set, uint32_t loop_bits)
    : layout(layout_of(desc, {schedule::cpu})), program(desc, set, block_of(layout), loop_bits) {
  bool one = false, input = false;
  for (uint32_t n = 0; n < desc.input_count; ++n)
    one = one || desc.inputs[n].access == TUTTI_ACCESS_ZERO;
  for (uint32_t n = 0; n < desc.output_count; ++n) input = input || program.is_input(n);
  if (one && !input) by_lines.emplace(desc, set, block_of(layout), loop_bits, true);
  if (by_lines && !by_lines->has_singles()) by_lines.reset();
  const auto joined = {TUTTI_REDUCE_SUM, TUTTI_REDUCE_PROD, TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX};
  const bool joins = std::find(joined.begin(), joined.end(), desc.reduction) != joined.end();
  if (joins && !program.is_input(0) && loop_bits > 0)
    joining.emplace(desc, set, block_of(layout), loop_bits, by_lines.has_value(), true);
  if (joining && !joining->joins()) joining.reset();
  if (layout.reduces()) reduction = &find_reduction(set, layout.reduction, layout.accumulator);
  for (uint32_t n = 0; n < desc.output_count; ++n) {
    const uint8_t stored = desc.outputs[n].dtype;
    // Maps compute the stored dtype; halves are copied as bytes.
    const uint8_t wanted = layout.reduces() ? register_dtype(stored) : stored;
    const bool bytes = is_storage_only(wanted);
    output_form form;
    form.element = dtype_size(stored);
    form.copy = find_block(set, TUTTI_OP_cast, bytes ? uint8_t{TUTTI_U16} : wanted,
                           bytes ? uint8_t{TUTTI_U16} : stored);
    const uint8_t total = layout.finds_index() ? uint8_t{TUTTI_I64} : layout.accumulator;
    if (layout.reduces() && total != wanted)
      form.cast = find_block(set, TUTTI_OP_cast, total, wanted);
    // A loaded bool may be any nonzero byte and is stored as 1.
    const bool loaded = desc.outputs[n].value < desc.input_count;
    form.same = wanted == stored && !(stored == TUTTI_BOOL && loaded);
    forms.push_back(form);
  }
  if (!layout.reduces()) find_whole_loop();
}

void host_program::state::find_whole_loop() {
  const block_program& one = by_lines ? *by_lines : program;
  if (!one.is_one_loop() || one.loop_results().size() != forms.size()) return;
  for (const uint32_t value : one.loop_results()) {
    uint32_t n = 0;
    while (n < forms.size() && one.result(n) != value) ++n;
    if (n == forms.size() || !forms[n].same) return;
    whole_outputs.push_back(n);
  }
  whole = &one;
}

// Runs a small launch as one call of the loop, if each operand is an array without gaps or an
// element that the loop reads as one.
bool host_program::state::run_whole(const tutti_program_launch& launch,
                                    const host_operands& memory) const {
  if (whole == nullptr) return false;
  const uint32_t rank = layout.given_kept;
  const std::vector<uint32_t>& inputs = whole->loop_inputs();
  const std::byte* in[fused_loop::most_arrays];
  std::byte* out[fused_loop::most_arrays];
  for (size_t k = 0; k < whole_outputs.size(); ++k) {
    const uint32_t n = whole_outputs[k];
    if (!is_dense(launch.outputs[n].stride, launch.extent, rank)) return false;
    out[k] = memory.outputs[n];
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const auto fits = whole->is_single(inputs[k]) ? is_one_element : is_dense;
    if (!fits(launch.inputs[inputs[k]].stride, launch.extent, rank)) return false;
    in[k] = memory.inputs[inputs[k]];
  }
  uint64_t points = 1;
  for (uint32_t d = 0; d < rank; ++d) points *= launch.extent[d];
  if (points > elements_of_a_chunk) return false;
  whole->loop().run(in, out, launch.scalars, points);
  return true;
}

// Short lines are processed several at once, unless the program is one loop; a single column is not
// a line.
const block_program& host_program::state::program_for(const tutti_program_launch& launch) const {
  const bool inner = layout.reduces() && layout.reduce_layout == TUTTI_REDUCE_INNER;
  const uint32_t rank = layout.given_kept + (inner ? layout.given_reduced : 0);
  const uint64_t line = rank > 0 ? launch.extent[rank - 1] : 1;
  const bool single = layout.reduces() && !inner && line % least_columns == 1;
  if (single || reads_across_rows(launch)) return program;
  if (joining && line >= least_joined_line(inner, line)) return *joining;
  if (!by_lines) return program;
  return line >= block_program::least_line ? *by_lines : program;
}

uint64_t host_program::state::least_joined_line(bool inner, uint64_t line) const {
  const uint64_t totals = fused_loop::row_totals(layout.accumulator);
  if (inner && line % totals != 0) return least_joined_in_two;
  if (inner && !is_floating(layout.accumulator)) return 2 * totals;
  return joining->is_one_loop() ? least_joined / 2 : least_joined;
}

// Whether a reduction of columns reads an array across its rows, which are copied to lines.
bool host_program::state::reads_across_rows(const tutti_program_launch& launch) const {
  if (!layout.reduces() || layout.reduce_layout == TUTTI_REDUCE_INNER || layout.given_kept == 0)
    return false;
  const uint32_t along = layout.given_kept - 1, across = along + layout.given_reduced;
  for (uint32_t n = 0; n < layout.inputs; ++n) {
    const int64_t* stride = launch.inputs[n].stride;
    if (stride[along] > 1 && stride[across] == 1 &&
        transposes(layout.element_bytes[n], launch.extent[across]))
      return true;
  }
  return false;
}

// Whether each row of kept points reads the same elements of an array, as distances do.
bool host_program::state::rereads(const tutti_program_launch& launch) const {
  if (layout.given_kept < 2 || layout.given_reduced == 0) return false;
  const uint32_t rows = layout.given_kept - 2;
  for (uint32_t n = 0; n < layout.inputs; ++n) {
    const int64_t* stride = launch.inputs[n].stride;
    if (stride[rows] == 0 && stride[rows + 1] != 0 && stride[rows + 2] != 0) return true;
  }
  return false;
}

bound_inputs host_program::state::bind(const job& j, const walk_space& space) const {
  bound_inputs bound{&space, {}, {}};
  for (uint32_t n = 0; n < layout.inputs; ++n) {
    bound.access.emplace_back(space, j.launch.inputs[n].stride, layout.element_bytes[n]);
    bound.base.push_back(j.memory.inputs[n]);
  }
  // Outputs are stored in sequence, so an input that is also an output may be overwritten.
  bool any_input = false;
  for (uint32_t o = 0; o < layout.outputs && layout.outputs > 1; ++o)
    any_input = any_input || j.program.is_input(o);
  for (uint32_t o = 0; o < layout.outputs && any_input; ++o)
    for (const std::byte* base : bound.base) bound.copied |= base == j.memory.outputs[o];
  return bound;
}

// The addresses where results of a map are written directly.
launch_list<std::byte*> host_program::state::places_of(const job& j) const {
  launch_list<std::byte*> places;
  for (uint32_t o = 0; o < layout.outputs; ++o) {
    launch_list<uint32_t> same;
    for (uint32_t n = 0; n < layout.inputs; ++n)
      if (j.memory.inputs[n] == j.memory.outputs[o]) same.push_back(n);
    places.push_back(j.program.writes_in_place(o, same) ? j.outputs[o].direct() : nullptr);
  }
  return places;
}

void host_program::state::run_map(const job& j) const {
  const auto points = static_cast<uint64_t>(j.plan.words[kept_word]);
  const bound_inputs inputs = bind(j, j.kept);
  const launch_list<std::byte*> places = places_of(j);
  launch_list<uint32_t> elements;
  uint64_t bytes = 0;
  for (const output_memory& output : j.outputs) {
    elements.push_back(output.element());
    bytes += points * output.element();
  }
  bool streams = j.may_stream && bytes >= beyond_caches;
  for (uint32_t o = 0; o < layout.outputs && streams; ++o)
    for (const std::byte* base : inputs.base) streams = streams && base != j.memory.outputs[o];
  const bool by_tiles = reads_across(inputs);
  const uint64_t line = j.kept.extent[j.kept.rank - 1], band = line * tile_lines;
  // Parts begin with a line where an input repeats one, so that blocks share its copies.
  const uint64_t repeated = inputs.repeated_line();
  const auto in_lines = [&](uint64_t count) {
    return repeated <= count ? count / repeated * repeated : count;
  };
  const uint64_t least = by_tiles ? band : in_lines(elements_of_a_chunk);
  const uint64_t chunk_size = j.parallel ? least : j.last - j.first;
  const uint64_t chunks = ceil_div(j.last - j.first, chunk_size);
  share(j.parallel, chunks, [&](uint64_t chunk) {
    const uint64_t begin = j.first + chunk * chunk_size, end = std::min(j.last, begin + chunk_size);
    block_registers registers(j.program, j.launch.scalars, end - begin);
    registers.bind(inputs);
    registers.place(places, elements, streams);
    const auto compute = [&](uint64_t first, uint64_t count) {
      registers.evaluate(first, count);
      for (uint32_t o = 0; o < layout.outputs; ++o)
        if (places[o] == nullptr) j.outputs[o].store(registers.result(o), first, count, streams);
    };
    const auto load = [&](uint64_t first, uint64_t count, uint64_t lines) {
      registers.load_tile(first, count, lines);
    };
    const uint64_t block = registers.writes_rows() ? end - begin : in_lines(registers.block());
    if (by_tiles) {
      each_tile(j.kept, begin, end, load, compute);
    } else {
      for (uint64_t first = begin; first < end; first += block)
        compute(first, std::min(block, end - first));
    }
    if (streams) fused_loop::end_streams();
  });
}

reduction_shape host_program::state::shape_of(const job& j) const {
  reduction_shape s;
  const auto word = [&](plan_word n) { return static_cast<uint64_t>(j.plan.words[n]); };
  for (uint32_t d = 0; d < layout.given_kept; ++d) s.kept_inner = j.launch.extent[d];
  for (uint32_t d = 0; d < layout.given_reduced; ++d) {
    s.reduced_inner = j.launch.extent[layout.given_kept + d];
    s.reduced *= s.reduced_inner;
  }
  s.kept = word(kept_word);
  s.parts = word(parts_word);
  s.segment = word(segment_word);
  s.segments = word(segments_word);
  s.steps = word(steps_word);
  return s;
}

void host_program::state::fold(const job& j, const reduction_shape& s,
                               reduction_totals& partial) const {
  for (uint64_t first = 0; first < s.kept; first += totals_at_once) {
    const uint64_t last = std::min(s.kept, first + totals_at_once);
    reduction_totals t = totals(last - first, s.kept);
    fold_parts(s, first, last, partial, t);
    store_totals(j, t, first, last - first);
  }
}

void host_program::state::run_inner(const job& j, const reduction_shape& s) const {
  const walk_space space(j.launch.extent, layout.given_kept + layout.given_reduced);
  const bound_inputs inputs = bind(j, space);
  const uint64_t units = (j.last - j.first) * s.parts;
  const uint64_t groups = j.parallel ? j.plan.main_groups : 1;
  reduction_totals partial = totals(s.parts > 1 ? units : 0, s.kept);
  share(j.parallel, groups, [&](uint64_t group) {
    const uint64_t begin = j.first + units * group / groups;
    const uint64_t end = j.first + units * (group + 1) / groups;
    block_registers registers(j.program, j.launch.scalars, s.kept * s.reduced);
    if (s.steps > 0) registers.bind(inputs);
    if (s.parts > 1) return reduce_inner(s, begin, end, begin, registers, partial);
    for (uint64_t first = begin; first < end; first += totals_at_once) {
      const uint64_t last = std::min(end, first + totals_at_once);
      reduction_totals t = totals(last - first, s.kept);
      reduce_inner(s, first, last, first, registers, t);
      store_totals(j, t, first, last - first);
    }
  });
  if (s.parts > 1) fold(j, s, partial);
}

void host_program::state::run_band(const job& j, const reduction_shape& s, const outer_band& band,
                                   bound_inputs& inputs, block_registers& registers,
                                   reduction_totals* partial) const {
  // Reduced dimensions, then rows and columns.
  uint64_t extent[TUTTI_MAX_RANK + 1] = {};
  std::copy_n(j.launch.extent + layout.given_kept, layout.given_reduced, extent);
  uint32_t rank = layout.given_reduced;
  if (band.rows > 1) extent[rank++] = band.rows;
  extent[rank++] = band.columns;
  const walk_space space(extent, rank);
  const walk_point at(j.kept, band.first);
  inputs = {&space, {}, {}};
  for (uint32_t n = 0; n < layout.inputs; ++n) {
    const int64_t* given = j.launch.inputs[n].stride;
    int64_t stride[TUTTI_MAX_RANK + 1] = {}, offset = 0;
    std::copy_n(given + layout.given_kept, layout.given_reduced, stride);
    if (band.rows > 1) stride[rank - 2] = given[layout.given_kept - 2];
    if (layout.given_kept > 0) stride[rank - 1] = given[layout.given_kept - 1];
    for (uint32_t d = 0; d < j.kept.rank; ++d) {
      if (j.kept.given[d] < TUTTI_MAX_RANK)
        offset += static_cast<int64_t>(at.at[d]) * given[j.kept.given[d]];
    }
    inputs.access.emplace_back(space, stride, layout.element_bytes[n]);
    inputs.base.push_back(j.memory.inputs[n] + offset * layout.element_bytes[n]);
  }
  if (s.steps > 0) registers.bind(inputs);
  const uint64_t points = band.rows * band.columns;
  if (partial != nullptr) {
    const outer_unit unit{band.part, points, band.part * s.kept + band.first};
    reduce_outer(s, unit, registers, *partial);
    return;
  }
  reduction_totals t = totals(points, s.kept);
  reduce_outer(s, {band.part, points, 0}, registers, t);
  store_totals(j, t, band.first, points);
}

void host_program::state::run_outer(const job& j, const reduction_shape& s) const {
  if (s.kept == 0) return;
  const uint64_t rows = s.kept / s.kept_inner;
  // Memory is read fastest row by row: bands of joining loops are only divided for threads.
  const bool joins = j.program.joins();
  const uint64_t enough = !joins ? j.plan.main_groups : j.threads > 1 ? 2 * j.threads : 1;
  uint64_t columns = joins ? bytes_of_totals / dtype_size(layout.accumulator) : most_columns;
  if (reads_across_rows(j.launch))
    columns = std::clamp<uint64_t>(copied_at_once / std::max<uint64_t>(s.reduced, 1) / 16 * 16, 64,
                                   most_columns - 16);
  // What is read for each row stays in a cache from one row to the next.
  const bool stays = rows > 1 && rereads(j.launch);
  if (stays)
    columns = std::min(columns,
                       std::max(reread_at_once / std::max<uint64_t>(s.reduced, 1), least_columns));
  while (columns > least_columns && rows * ceil_div(s.kept_inner, columns) * s.parts < enough)
    columns /= 2;
  const uint64_t blocks = ceil_div(s.kept_inner, columns);
  // Short rows, such as the channels of pixels, are processed together as far as memory and the
  // number of threads allow. This does not change the order of addition within a column.
  const uint64_t line = layout.given_kept > 1 ? j.launch.extent[layout.given_kept - 2] : 1;
  const uint64_t of_group = rows * s.parts / std::max<uint64_t>(j.plan.main_groups, 1);
  const uint64_t most = std::min(std::min(columns / s.kept_inner, of_group), line);
  const uint64_t rows_of_band = std::max<uint64_t>(most, 1), bands = ceil_div(line, rows_of_band);
  const uint64_t all_bands = rows / line * bands;
  const auto band_of = [&](uint64_t unit) {
    const uint64_t place = unit / s.parts;
    const uint64_t start = (stays ? place / all_bands : place % blocks) * columns;
    const uint64_t band = stays ? place % all_bands : place / blocks;
    const uint64_t skipped = band % bands * rows_of_band;
    const uint64_t row = band / bands * line + skipped;
    return outer_band{unit % s.parts, row * s.kept_inner + start,
                      std::min(rows_of_band, line - skipped),
                      std::min(columns, s.kept_inner - start)};
  };
  const uint64_t units = all_bands * blocks * s.parts;
  const uint64_t groups = std::min(units, j.plan.main_groups);
  reduction_totals partial = totals(s.parts > 1 ? s.kept * s.parts : 0, s.kept);
  share(j.parallel, groups, [&](uint64_t group) {
    bound_inputs inputs{};
    block_registers registers(j.program, j.launch.scalars, s.kept * s.reduced);
    for (uint64_t unit = units * group / groups; unit < units * (group + 1) / groups; ++unit)
      run_band(j, s, band_of(unit), inputs, registers, s.parts > 1 ? &partial : nullptr);
  });
  if (s.parts > 1) fold(j, s, partial);
}

uint32_t most_loop_bits() { return fused_loop::most_bits(); }

host_program::host_program(const tutti_program_desc& desc, host_routines routines,
                           uint32_t loop_bits)
    : state_(std::make_unique<const state>(desc, routines, loop_bits)) {}
host_program::~host_program() = default;
host_program::host_program(host_program&&) noexcept = default;
host_program& host_program::operator=(host_program&&) noexcept = default;

void host_program::run(const tutti_program_launch& launch, const host_operands& memory,
                       const machine& on, const host_parallel_for& parallel) const {
  const program_layout& l = state_->layout;
  if (state_->run_whole(launch, memory)) return;
  const state::job j(*state_, launch, memory, on, parallel);
  if (!l.reduces()) return state_->run_map(j);
  const reduction_shape shape = state_->shape_of(j);
  if (l.reduce_layout == TUTTI_REDUCE_INNER) return state_->run_inner(j, shape);
  state_->run_outer(j, shape);
}

bool host_program::takes_points(const tutti_program_launch& launch, const machine& on) const {
  const program_layout& l = state_->layout;
  if (!l.reduces()) return true;
  return l.reduce_layout == TUTTI_REDUCE_INNER &&
         plan_launch(l, launch.extent, on).words[parts_word] == 1;
}

void host_program::run_points(const tutti_program_launch& launch, const host_operands& memory,
                              const machine& on, uint64_t first, uint64_t last,
                              bool streams) const {
  const host_parallel_for alone;
  state::job j(*state_, launch, memory, on, alone);
  j.first = first;
  j.last = last;
  j.may_stream = streams;
  if (!state_->layout.reduces()) return state_->run_map(j);
  state_->run_inner(j, state_->shape_of(j));
}

}  // namespace tutti::sdk
