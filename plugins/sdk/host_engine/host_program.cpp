// SPDX-License-Identifier: Apache-2.0
//
// Launches: what is computed where, and what is stored.
#include <algorithm>

#include "sdk/host_engine/block_program.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_engine/reductions.hpp"
#include "sdk/op_info.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

constexpr uint32_t map_block = 512;  // registers of a few instructions fit the closest cache
// A line of a reduction is computed at once (launch_plan.cpp: reduce_segment), and eight rows of
// these many columns.
constexpr uint32_t reduction_block = 2048, columns_at_once = 256;
constexpr uint64_t elements_of_a_chunk = 16384;  // the least that pays for another thread
constexpr uint64_t totals_at_once = 1024;

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// From what a program computes to what an output holds.
struct output_form {
  uint32_t value_element = 0, element = 0;  // bytes, computed and stored
  routines::block_routine cast = nullptr;   // of a total to the output's register dtype
  uint32_t cast_element = 0;                // bytes after it
  routines::block_routine copy = nullptr;   // from there to the stored dtype
  bool same = false;                        // the bytes are what is stored
};

// One output of one launch.
class output_memory {
 public:
  output_memory(const output_form& form, const walk_space& kept, const tutti_operand& operand,
                std::byte* base)
      : form_(form), space_(kept), access_(kept, operand.stride, form.element), base_(base) {}

  // Where values may be written without a copy; NULL where not.
  std::byte* direct() const {
    const bool dense = access_.kind == walk_kind::dense && form_.same && form_.cast == nullptr;
    return dense ? base_ : nullptr;
  }
  uint32_t element() const { return form_.element; }

  // No more than reduction_block at once.
  void store(const std::byte* values, uint64_t first, uint64_t count) const {
    alignas(64) std::byte cast_values[reduction_block * 16], stored[reduction_block * 16];
    const auto n = static_cast<long>(count);
    if (form_.cast != nullptr) {
      const void* const from[] = {values};
      form_.cast(from, cast_values, n);
      values = cast_values;
    }
    const void* const from[] = {values};
    if (access_.kind == walk_kind::dense) {
      form_.copy(from, base_ + first * form_.element, n);
      return;
    }
    if (!form_.same) {
      form_.copy(from, stored, n);
      values = stored;
    }
    scatter(space_, access_, walk_point(space_, first), values, count, base_);
  }

 private:
  const output_form& form_;
  const walk_space& space_;
  walk_access access_;
  std::byte* base_;
};

// Calls work(chunk) for all of them.
void share(const host_parallel_for& parallel, uint64_t chunks,
           const std::function<void(uint64_t)>& work) {
  if (parallel && chunks > 1) return parallel(chunks, work);
  for (uint64_t chunk = 0; chunk < chunks; ++chunk) work(chunk);
}

// Kept points that are added up side by side, from point `first` on: `columns` of each of `rows`
// that follow each other along the last kept dimension but one.
struct outer_band {
  uint64_t part, first, rows, columns;
};

}  // namespace

struct host_program::state {
  state(const tutti_program_desc& desc, host_routines set, uint32_t loop_bits);

  // One launch.
  struct job {
    const tutti_program_launch& launch;
    const host_operands& memory;
    const launch_plan plan;
    const host_parallel_for& parallel;
    walk_space kept;
    std::vector<output_memory> outputs;
  };
  std::vector<std::byte*> places_of(const job& j) const;
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
  // The totals of kept points from `first` on, as the output wants them.
  void store_totals(const job& j, reduction_totals& t, uint64_t first, uint64_t count) const {
    const auto* indices = reinterpret_cast<const std::byte*>(t.index(0));
    j.outputs[0].store(layout.finds_index() ? indices : t.value(0), first, count);
  }
  bound_inputs bind(const job& j, const walk_space& space) const;

  program_layout layout;
  block_program program;
  const routines::reduction_row* reduction = nullptr;
  std::vector<output_form> forms;
};

host_program::state::state(const tutti_program_desc& desc, host_routines set, uint32_t loop_bits)
    : layout(layout_of(desc, {schedule::cpu})),
      program(desc, set, layout.reduces() ? reduction_block : map_block, loop_bits) {
  if (layout.reduces()) reduction = &find_reduction(set, layout.reduction, layout.accumulator);
  for (uint32_t n = 0; n < desc.output_count; ++n) {
    const uint8_t stored = desc.outputs[n].dtype, wanted = register_dtype(stored);
    output_form form;
    form.element = dtype_size(stored);
    form.copy = find_block(set, TUTTI_OP_cast, wanted, stored);
    const uint8_t total = layout.finds_index() ? uint8_t{TUTTI_I64} : layout.accumulator;
    if (layout.reduces() && total != wanted)
      form.cast = find_block(set, TUTTI_OP_cast, total, wanted);
    // A bool that is loaded and stored again may be any byte but 0, and becomes 1.
    const bool loaded = desc.outputs[n].value < desc.input_count;
    form.same = wanted == stored && !(stored == TUTTI_BOOL && loaded);
    forms.push_back(form);
  }
}

bound_inputs host_program::state::bind(const job& j, const walk_space& space) const {
  bound_inputs bound{&space, {}, {}};
  for (uint32_t n = 0; n < layout.inputs; ++n) {
    bound.access.emplace_back(space, j.launch.inputs[n].stride, layout.element_bytes[n]);
    bound.base.push_back(j.memory.inputs[n]);
  }
  // Outputs are stored one after the other, so an input that is one as it is may be gone by then.
  bool any_input = false;
  for (uint32_t o = 0; o < layout.outputs && layout.outputs > 1; ++o)
    any_input = any_input || program.is_input(o);
  for (uint32_t o = 0; o < layout.outputs && any_input; ++o)
    for (const std::byte* base : bound.base) bound.copied |= base == j.memory.outputs[o];
  return bound;
}

// Where the results of a map are written without a copy.
std::vector<std::byte*> host_program::state::places_of(const job& j) const {
  std::vector<std::byte*> places;
  for (uint32_t o = 0; o < layout.outputs; ++o) {
    std::vector<uint32_t> same;
    for (uint32_t n = 0; n < layout.inputs; ++n)
      if (j.memory.inputs[n] == j.memory.outputs[o]) same.push_back(n);
    places.push_back(program.writes_in_place(o, same) ? j.outputs[o].direct() : nullptr);
  }
  return places;
}

void host_program::state::run_map(const job& j) const {
  const auto points = static_cast<uint64_t>(j.plan.words[kept_word]);
  const bound_inputs inputs = bind(j, j.kept);
  const std::vector<std::byte*> places = places_of(j);
  std::vector<uint32_t> elements;
  for (const output_memory& output : j.outputs) elements.push_back(output.element());
  // Blocks end with lines that are worth it.
  const uint64_t line = inputs.line() >= map_block / 4 ? inputs.line() : 0;
  const uint64_t chunks = j.parallel ? ceil_div(points, elements_of_a_chunk) : 1;
  const uint64_t chunk_size = j.parallel ? elements_of_a_chunk : points;
  share(j.parallel, chunks, [&](uint64_t chunk) {
    const uint64_t begin = chunk * chunk_size, end = std::min(points, begin + chunk_size);
    block_registers registers(program, j.launch.scalars, end - begin);
    registers.bind(inputs);
    registers.place(places, elements);
    for (uint64_t first = begin, count = 0; first < end; first += count) {
      count = std::min<uint64_t>(map_block, end - first);
      if (line > 0) count = std::min(count, line - first % line);
      registers.evaluate(first, count);
      for (uint32_t o = 0; o < layout.outputs; ++o)
        if (places[o] == nullptr) j.outputs[o].store(registers.result(o), first, count);
    }
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
  const uint64_t units = s.kept * s.parts;
  reduction_totals partial = totals(s.parts > 1 ? units : 0, s.kept);
  share(j.parallel, j.plan.main_groups, [&](uint64_t group) {
    const uint64_t begin = units * group / j.plan.main_groups;
    const uint64_t end = units * (group + 1) / j.plan.main_groups;
    block_registers registers(program, j.launch.scalars, s.kept * s.reduced);
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
    reduce_outer(s, unit, reduction_block, registers, *partial);
    return;
  }
  reduction_totals t = totals(points, s.kept);
  reduce_outer(s, {band.part, points, 0}, reduction_block, registers, t);
  store_totals(j, t, band.first, points);
}

void host_program::state::run_outer(const job& j, const reduction_shape& s) const {
  if (s.kept == 0) return;
  const uint64_t rows = s.kept / s.kept_inner, blocks = ceil_div(s.kept_inner, columns_at_once);
  // Of short rows, such as the channels of pixels, as many go together as there is room for and
  // threads leave. Each column is added up in the same order whatever stands beside it.
  const uint64_t line = layout.given_kept > 1 ? j.launch.extent[layout.given_kept - 2] : 1;
  const uint64_t of_group = rows * s.parts / std::max<uint64_t>(j.plan.main_groups, 1);
  const uint64_t most = std::min(std::min(columns_at_once / s.kept_inner, of_group), line);
  const uint64_t rows_of_band = std::max<uint64_t>(most, 1), bands = ceil_div(line, rows_of_band);
  const auto band_of = [&](uint64_t unit) {
    const uint64_t place = unit / s.parts, start = place % blocks * columns_at_once;
    const uint64_t band = place / blocks, skipped = band % bands * rows_of_band;
    const uint64_t row = band / bands * line + skipped;
    return outer_band{unit % s.parts, row * s.kept_inner + start,
                      std::min(rows_of_band, line - skipped),
                      std::min<uint64_t>(columns_at_once, s.kept_inner - start)};
  };
  const uint64_t units = rows / line * bands * blocks * s.parts;
  const uint64_t groups = std::min(units, j.plan.main_groups);
  reduction_totals partial = totals(s.parts > 1 ? s.kept * s.parts : 0, s.kept);
  share(j.parallel, groups, [&](uint64_t group) {
    bound_inputs inputs{};
    block_registers registers(program, j.launch.scalars, s.kept * s.reduced);
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
  state::job j{launch,
               memory,
               plan_launch(l, launch.extent, on),
               parallel,
               walk_space(launch.extent, l.given_kept),
               {}};
  for (uint32_t n = 0; n < l.outputs; ++n)
    j.outputs.emplace_back(state_->forms[n], j.kept, launch.outputs[n], memory.outputs[n]);
  if (!l.reduces()) return state_->run_map(j);
  const reduction_shape shape = state_->shape_of(j);
  if (l.reduce_layout == TUTTI_REDUCE_INNER) return state_->run_inner(j, shape);
  state_->run_outer(j, shape);
}

}  // namespace tutti::sdk
