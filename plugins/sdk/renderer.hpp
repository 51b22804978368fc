// SPDX-License-Identifier: Apache-2.0
//
// Renders fused programs of the plugin ABI as C-like source in one of two schedules (CPU: one
// work-item per chunk with vectorised loops; GPU: coalesced work-items and local-memory trees),
// with the matching launch geometry. The dialect defines the syntax of the language.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/dialect.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

// The kernels in every rendered source; the second exists only with a reduction.
inline constexpr const char* main_kernel = "tutti_main";
inline constexpr const char* finish_kernel = "tutti_finish";

struct render_options {
  schedule kind = schedule::cpu;
  uint32_t vector_bytes = 16;  // of CPU registers
  uint32_t work_group = 128;   // GPU: work-items per group, a power of two
};

// Launch parameters besides extents, offsets and strides:
//   kept      points of the kept space
//   parts     parts of each reduction, above 1 the finishing kernel runs; tiled: lines of a tile
//   segment   elements of the innermost loop at once (GPU INNER: work-items per reduction)
//   segments  number of segments in the innermost dimension (GPU: vectors)
//   units     units of work shared by the groups (GPU: work-items)
//   steps     length of the reduced space in elements; in segments (CPU) or vectors (GPU) if the
//             innermost dimension is reduced
enum plan_word : uint32_t {
  kept_word,
  parts_word,
  segment_word,
  segments_word,
  units_word,
  steps_word,
  plan_words
};

// The properties of a rendered program that launches need. Dimensions are normalised: at least one
// kept one unless the reduction is INNER, and at least one reduced one with a reduction.
struct program_layout {
  schedule kind = schedule::cpu;
  uint32_t work_group = 1;
  uint32_t given_kept = 0, given_reduced = 0;  // ranks as described
  uint32_t kept = 0, reduced = 0;              // ranks as rendered
  uint32_t inputs = 0, outputs = 0, instructions = 0;
  uint32_t block = 0;   // CPU OUTER: columns of one unit
  uint32_t vector = 1;  // GPU: consecutive elements per work-item
  uint8_t reduction = TUTTI_REDUCE_NONE;
  uint8_t reduce_layout = TUTTI_REDUCE_INNER;
  uint8_t accumulator = TUTTI_INVALID;
  bool tiled = false;                  // CPU: lines are visited in tiles (cut_tiles)
  bool wide = false;                   // geometry words have 64 bits, else 32
  std::vector<uint8_t> element_bytes;  // inputs, then outputs
  std::vector<uint8_t> scalar_bytes;

  uint32_t rank() const { return kept + reduced; }
  bool reduces() const { return reduction != TUTTI_REDUCE_NONE; }
  bool finds_index() const {
    return reduction == TUTTI_REDUCE_ARGMIN || reduction == TUTTI_REDUCE_ARGMAX;
  }
  // The rank whose last dimension is the innermost loop.
  uint32_t loop_rank() const {
    return reduces() && reduce_layout == TUTTI_REDUCE_INNER ? reduced : kept;
  }
  bool divides(uint32_t dimension) const {
    return kind == schedule::gpu && dimension != 0 && dimension != kept;
  }
  bool divides_segments() const { return vector > 1 && loop_rank() > 1; }
  uint32_t divisors() const {
    uint32_t count = divides_segments() ? 1 : 0;
    for (uint32_t d = 0; d < rank(); ++d) count += divides(d) ? 1 : 0;
    return count;
  }
  // Words of the geometry argument: extents; offset and strides of each operand; the plan; then
  // multiplier and shift (launch_plan.hpp) of each extent used as a divisor, and of `segments`.
  uint32_t plan_at() const { return rank() + (inputs + outputs) * (1 + rank()); }
  uint32_t geometry_words() const { return plan_at() + plan_words + 2 * divisors(); }
  uint32_t geometry_bytes() const { return geometry_words() * (wide ? 8 : 4); }
};

// Arguments of the main kernel: inputs, outputs, scalars, geometry; with a reduction also the
// workspace and the byte offsets (64-bit) of the partial values and indices in it. The finishing
// kernel takes the output, the geometry and these three.
struct rendered_program {
  std::string source;
  program_layout layout;
};

// Only the layout, for launches without a source. `desc` must have passed validate_program.
program_layout layout_of(const tutti_program_desc& desc, const render_options& options);

// `desc` must have passed validate_program. Throws plugin_error, TUTTI_ERROR_UNSUPPORTED, for a
// dtype that the dialect does not support.
rendered_program render(const tutti_program_desc& desc, const dialect& words,
                        const render_options& options);

}  // namespace tutti::sdk
