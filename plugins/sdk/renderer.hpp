// SPDX-License-Identifier: Apache-2.0
//
// Fused programs of the plugin ABI as C-like source, in one of two schedules (CPU: a work-item a
// chunk with vectorised loops; GPU: coalesced work-items and local-memory trees), and the launch
// geometry that goes with that source. The dialect says how a language spells things.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/dialect.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

// Names of the kernels in every rendered source; the second exists only with a reduction.
inline constexpr const char* main_kernel = "tutti_main";
inline constexpr const char* finish_kernel = "tutti_finish";

struct render_options {
  schedule kind = schedule::cpu;
  uint32_t vector_bytes = 16;  // of the CPU's registers
  uint32_t work_group = 128;   // GPU: work-items of a group, a power of two
};

// Words that a launch passes beside extents, offsets and strides.
//   kept      points of the kept space
//   parts     pieces that each reduction is cut into; above 1 the finishing kernel runs. In tiled
//             programs the lines of a tile
//   segment   elements of the innermost loop in one go (GPU INNER: work-items for one reduction)
//   segments  how many of them make up the innermost dimension (GPU: vectors)
//   units     pieces of work that the groups (GPU: work-items) share
//   steps     length of the reduced space, counted in elements, or where the innermost dimension is
//             reduced in segments (CPU) or vectors (GPU)
enum plan_word : uint32_t {
  kept_word,
  parts_word,
  segment_word,
  segments_word,
  units_word,
  steps_word,
  plan_words
};

// What is left of a program description once its source exists: enough to plan a launch.
// Dimensions are normalised: at least one kept one unless the reduction is INNER, and at least
// one reduced one with a reduction.
struct program_layout {
  schedule kind = schedule::cpu;
  uint32_t work_group = 1;
  uint32_t given_kept = 0, given_reduced = 0;  // ranks as described
  uint32_t kept = 0, reduced = 0;              // ranks as rendered
  uint32_t inputs = 0, outputs = 0, instructions = 0;
  uint32_t block = 0;   // CPU OUTER: columns of one unit
  uint32_t vector = 1;  // GPU: neighbours along the innermost loop that a work-item takes at once
  uint8_t reduction = TUTTI_REDUCE_NONE;
  uint8_t reduce_layout = TUTTI_REDUCE_INNER;
  uint8_t accumulator = TUTTI_INVALID;
  bool tiled = false;                  // CPU: lines are visited in tiles (cut_tiles)
  bool wide = false;                   // geometry words are 64-bit integers, else 32-bit ones
  std::vector<uint8_t> element_bytes;  // inputs, then outputs
  std::vector<uint8_t> scalar_bytes;

  uint32_t rank() const { return kept + reduced; }
  bool reduces() const { return reduction != TUTTI_REDUCE_NONE; }
  bool finds_index() const {
    return reduction == TUTTI_REDUCE_ARGMIN || reduction == TUTTI_REDUCE_ARGMAX;
  }
  // The innermost loop is over the last dimension of this many.
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
  // Words of the geometry argument: extents, then offset and strides of each operand, then plan,
  // then multiplier and shift (launch_plan.hpp) of each extent that is divided by, and of
  // `segments`.
  uint32_t plan_at() const { return rank() + (inputs + outputs) * (1 + rank()); }
  uint32_t geometry_words() const { return plan_at() + plan_words + 2 * divisors(); }
  uint32_t geometry_bytes() const { return geometry_words() * (wide ? 8 : 4); }
};

// Arguments of the main kernel: inputs, outputs, scalars, geometry; with a reduction also the
// workspace and the byte offsets (64-bit) of the partial values and of their indices in it. The
// finishing kernel takes the output, the geometry and these three.
struct rendered_program {
  std::string source;
  program_layout layout;
};

// The layout alone, for launches that need no source. `desc` has passed validate_program.
program_layout layout_of(const tutti_program_desc& desc, const render_options& options);

// `desc` has passed validate_program. Throws plugin_error, TUTTI_ERROR_UNSUPPORTED, for a dtype
// that the dialect has no type for.
rendered_program render(const tutti_program_desc& desc, const dialect& words,
                        const render_options& options);

}  // namespace tutti::sdk
