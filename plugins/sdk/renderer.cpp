// SPDX-License-Identifier: Apache-2.0
//
// Renders a program: checks the description, computes the layout of the launch arguments, and
// assembles the source from prelude, library functions and kernels.
#include "sdk/renderer.hpp"

#include <algorithm>

#include "sdk/renderer_internal.hpp"

namespace tutti::sdk {

rendered_program render(const tutti_program_desc& desc, const dialect& words,
                        const render_options& options) {
  return detail::program(desc, words, options).render();
}

namespace {

// The number of elements in 16 bytes of the widest operand that moves along the innermost loop, if
// all of these have unit stride. Smaller if the values of a work-item exceed the registers, or the
// unrolled loop exceeds the instruction cache.
uint32_t gpu_vector(const tutti_program_desc& desc, const program_layout& l) {
  constexpr uint32_t widest_access = 16, most_bytes = 256, most_instructions = 256;
  const bool inner = l.reduces() && l.reduce_layout == TUTTI_REDUCE_INNER;
  if ((inner ? l.given_reduced : l.given_kept) == 0) return 1;
  uint32_t widest = 0, held = 0;
  for (uint32_t n = 0; n < l.inputs + (l.reduces() ? 0 : l.outputs); ++n) {
    const tutti_program_operand& operand = detail::operand_of(desc, n);
    if (operand.access == TUTTI_ACCESS_STRIDED) return 1;
    if (n >= l.inputs && operand.access != TUTTI_ACCESS_UNIT) return 1;
    if (operand.access != TUTTI_ACCESS_UNIT) continue;
    widest = std::max(widest, dtype_size(operand.dtype));
    held += dtype_size(operand.dtype);
  }
  if (widest == 0) return 1;
  // Totals, their rounding errors and positions.
  if (l.reduces() && !inner) held += 2 * dtype_size(l.accumulator) + (l.finds_index() ? 8 : 0);
  uint32_t vector = widest_access / widest;
  while (vector > 1 && (vector * held > most_bytes || vector * l.instructions > most_instructions))
    vector /= 2;
  return vector;
}

}  // namespace

program_layout layout_of(const tutti_program_desc& desc, const render_options& options) {
  program_layout l;
  l.kind = options.kind;
  l.reduction = desc.reduction;
  l.reduce_layout = desc.reduce_layout;
  l.accumulator = desc.accumulator;
  l.wide = desc.wide_index != 0;
  l.given_kept = l.kept = desc.kept_rank;
  l.given_reduced = l.reduced = desc.reduced_rank;
  const bool outer = l.reduces() && l.reduce_layout == TUTTI_REDUCE_OUTER;
  if (l.kept == 0 && (!l.reduces() || outer)) l.kept = 1;
  if (l.reduces() && l.reduced == 0) l.reduced = 1;
  l.inputs = desc.input_count;
  l.outputs = desc.output_count;
  l.instructions = desc.instruction_count;
  l.work_group = l.kind == schedule::gpu ? options.work_group : 1;
  bool strided = false;
  for (uint32_t n = 0; n < l.inputs + l.outputs; ++n) {
    const tutti_program_operand& operand = detail::operand_of(desc, n);
    l.element_bytes.push_back(static_cast<uint8_t>(dtype_size(operand.dtype)));
    strided = strided || operand.access == TUTTI_ACCESS_STRIDED;
  }
  // Lines may be reordered unless their elements are numbered.
  l.tiled = l.kind == schedule::cpu && !l.reduces() && l.given_kept >= 2 && strided &&
            (l.given_kept == 2 || !detail::uses_iota(desc));
  for (uint32_t n = 0; n < desc.scalar_count; ++n) {
    l.scalar_bytes.push_back(static_cast<uint8_t>(dtype_size(desc.scalar_dtypes[n])));
  }
  if (l.reduces()) {
    l.block = 4096 / dtype_size(l.accumulator);
  }
  if (l.kind == schedule::gpu) l.vector = gpu_vector(desc, l);
  return l;
}

namespace detail {

program::program(const tutti_program_desc& desc, const dialect& words,
                 const render_options& options)
    : desc_(desc), words_(words), options_(options), layout_(layout_of(desc, options)) {
  check_types();
  for (uint32_t n = 0; n < desc.input_count; ++n)
    dtypes_.push_back(register_dtype(desc.inputs[n].dtype));
  for (uint32_t n = 0; n < desc.scalar_count; ++n) dtypes_.push_back(desc.scalar_dtypes[n]);
  for (uint32_t n = 0; n < desc.instruction_count; ++n)
    dtypes_.push_back(desc.instructions[n].dtype);
  index_ = layout_.kind == schedule::gpu && !layout_.wide ? type(TUTTI_I32) : type(TUTTI_I64);
}

void program::check_types() const {
  const auto need = [&](uint8_t dtype) {
    if (words_.types[dtype].empty()) {
      throw_unsupported(join("program: this device does not support ", dtype_name(dtype)));
    }
  };
  for (uint32_t n = 0; n < desc_.input_count; ++n) need(desc_.inputs[n].dtype);
  for (uint32_t n = 0; n < desc_.output_count; ++n) need(desc_.outputs[n].dtype);
  for (uint32_t n = 0; n < desc_.scalar_count; ++n) need(desc_.scalar_dtypes[n]);
  for (uint32_t n = 0; n < desc_.instruction_count; ++n) need(desc_.instructions[n].dtype);
  if (desc_.reduction != TUTTI_REDUCE_NONE) need(desc_.accumulator);
}

void program::see_complex_types() {
  const auto see = [&](uint8_t dtype) {
    if (is_complex(dtype))
      helpers_.functions.insert(join("tutti_complex_", dtype_name(part_dtype(dtype))));
  };
  see(layout_.accumulator);
  for (uint8_t dtype : dtypes_) see(dtype);
  for (uint32_t n = 0; n < layout_.outputs; ++n) see(desc_.outputs[n].dtype);
}

rendered_program program::render() {
  const bool cpu = layout_.kind == schedule::cpu;
  open_kernel(main_kernel, true);
  if (!layout_.reduces()) {
    cpu ? cpu_map() : gpu_map();
  } else if (layout_.reduce_layout == TUTTI_REDUCE_INNER) {
    cpu ? cpu_inner() : gpu_inner();
  } else {
    cpu ? cpu_outer() : gpu_outer();
  }
  out_.line("}");
  if (layout_.reduces()) finish_kernel_text();

  bool f64 = false;
  const auto see = [&](uint8_t dtype) { f64 = f64 || part_dtype(dtype) == TUTTI_F64; };
  see(layout_.accumulator);
  for (uint8_t dtype : dtypes_) see(dtype);
  for (uint32_t n = 0; n < layout_.outputs; ++n) see(desc_.outputs[n].dtype);
  see_complex_types();
  writer head;
  head.text += words_.prologue;
  if (f64) head.text += words_.prologue_f64;
  head.text += words_.prelude;
  head.text += helper_text(words_, helpers_);
  head.text += words_.after_functions;
  head.line("typedef struct {");
  head.line(layout_.wide ? type(TUTTI_I64) : type(TUTTI_I32), " word[", layout_.geometry_words(),
            "];");
  head.line("} tutti_geometry;");
  head.line();
  return {head.text + out_.text, layout_};
}

void program::open_kernel(const char* name, bool main) {
  const std::string qualifiers =
      replaced(as_text(words_.kernel), "$n", std::to_string(layout_.work_group));
  out_.line(qualifiers, " void ", name, "(");
  const uint32_t first = main ? 0 : layout_.inputs;
  for (uint32_t n = first; n < layout_.inputs + layout_.outputs; ++n) {
    out_.line("    ", pointer_type(n), " ", operand(n), ",");
  }
  if (main) {
    for (uint32_t n = 0; n < desc_.scalar_count; ++n) {
      const uint32_t at = layout_.inputs + n;
      const char* kind = dtypes_[at] == TUTTI_BOOL ? "s" : "v";
      out_.line("    const ", type(dtypes_[at]), " ", kind, at, ",");
    }
  }
  out_.line("    const tutti_geometry g", layout_.reduces() ? "," : ") {");
  if (layout_.reduces()) {
    const std::string offset = join("const ", words_.size_type, " partial_");
    out_.line("    ", words_.global, type(TUTTI_U8), "* workspace, ", offset, "offset, ", offset,
              "at_offset) {");
  }
  declare_geometry(main);
  if (main) declare_scalars();
  if (layout_.reduces()) {
    const std::string acc = join(words_.global, accumulator_type(), "*");
    out_.line(acc, " partial = (", acc, ")(workspace + partial_offset);");
    if (layout_.finds_index()) {
      const std::string at = join(words_.global, type(TUTTI_I64), "*");
      out_.line(at, " partial_at = (", at, ")(workspace + partial_at_offset);");
    }
  }
}

void program::declare_geometry(bool main) {
  const uint32_t rank = layout_.rank();
  const auto constant = [&](const std::string& name, uint32_t word) {
    out_.line("const ", index_, " ", name, " = g.word[", word, "];");
  };
  for (uint32_t d = 0; d < rank; ++d) constant(join("n", d), d);
  for (uint32_t n = main ? 0 : layout_.inputs; n < layout_.inputs + layout_.outputs; ++n) {
    const uint32_t first = rank + n * (1 + rank);
    constant(operand(n) + "_offset", first);
    const uint32_t dims = n >= layout_.inputs ? layout_.kept : rank;
    for (uint32_t d = 0; d < dims; ++d) constant(join(operand(n), "_stride", d), first + 1 + d);
  }
  const char* names[plan_words] = {"kept", "parts", "segment", "segments", "units", "steps"};
  for (uint32_t n = 0; n < plan_words; ++n) constant(names[n], layout_.plan_at() + n);
  uint32_t at = layout_.plan_at() + plan_words;
  const auto divisor = [&](const std::string& name) {
    constant(name + "_multiplier", at++);
    constant(name + "_shift", at++);
  };
  for (uint32_t d = 0; d < rank; ++d)
    if (layout_.divides(d)) divisor(join("n", d));
  if (layout_.divides_segments()) divisor("segments");
}

void program::declare_scalars() {
  for (uint32_t n = 0; n < desc_.scalar_count; ++n) {
    const uint32_t value = layout_.inputs + n;
    if (dtypes_[value] == TUTTI_BOOL) out_.line("const bool v", value, " = s", value, " != 0;");
  }
}

}  // namespace detail
}  // namespace tutti::sdk
