// SPDX-License-Identifier: Apache-2.0
//
// Shared by the renderer's sources: a text writer that indents by braces, and `program`, which
// renders the code common to both schedules.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "sdk/op_info.hpp"
#include "sdk/renderer.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk::detail {

using sdk::join;

class writer {
 public:
  template <typename... Pieces>
  void line(const Pieces&... pieces) {
    put(join(pieces...));
  }
  std::string text;

 private:
  void put(const std::string& content);
  int depth_ = 0;
};

std::string replaced(std::string text, std::string_view what, std::string_view with);

uint8_t unsigned_dtype(uint8_t dtype);  // of the same width; u8 for bool

// The device texts of an opcode's row; NULL if undefined.
struct op_texts {
  const char* float_text = nullptr;
  const char* int_text = nullptr;
};
op_texts texts_of(uint16_t opcode);

// Inputs, then outputs.
const tutti_program_operand& operand_of(const tutti_program_desc& desc, uint32_t n);
bool uses_iota(const tutti_program_desc& desc);

// Appends the library functions in `used` and their dependencies, once each.
std::string library_functions(const dialect& words, const std::set<std::string>& used);
// Adds every tutti_* identifier of `text` to `names`.
void collect_functions(std::string_view text, std::set<std::string>& names);

// The definitions that generated code requires: library functions, dtypes with integer helpers, and
// casts from a float to an integer dtype.
struct helpers {
  std::set<std::string> functions;
  std::set<uint8_t> integers;
  std::set<std::pair<uint8_t, uint8_t>> saturating;
};
// The text of `needed` and its dependencies.
std::string helper_text(const dialect& words, const helpers& needed);

// The pointer and index expressions of an operand in the innermost loop.
struct place {
  std::string pointer, index;
};

class program {
 public:
  program(const tutti_program_desc& desc, const dialect& words, const render_options& options);
  rendered_program render();
  // C++ functions of the host engine (renderer_host.cpp) named `name`, for descriptions whose
  // operands all have unit access. Adds their dependencies to `needed`.
  std::string block_function(const std::string& name, helpers& needed);
  std::string reduction_functions(const std::string& name, helpers& needed);

 private:
  // Shared by both schedules (renderer.cpp, renderer_body.cpp).
  void check_types() const;
  void open_kernel(const char* name, bool main);
  void declare_geometry(bool main);
  void declare_scalars();
  std::string type(uint8_t dtype) const;           // as stored
  std::string register_type(uint8_t dtype) const;  // bool is bool
  std::string accumulator_type() const;
  std::string operand(uint32_t n) const;  // "in0" .. then "out0" ..
  const tutti_program_operand& operand_desc(uint32_t n) const;
  std::string pointer_type(uint32_t n) const;
  std::string load(uint32_t input, const place& at) const;
  std::string store(uint32_t output, const place& at, const std::string& value) const;
  std::string cast(const std::string& value, uint8_t from, uint8_t to);
  std::string expression(uint32_t number);
  std::string cast_register(const std::string& value, uint8_t from, uint8_t to);
  // A call of the library function tutti_<name>_<dtype>.
  std::string call(const char* name, uint8_t dtype, const std::string& arguments);
  // Loads (except hoisted inputs) and instructions; `at` returns the place of an input.
  void body(const std::function<place(uint32_t)>& at, bool hoisted, const std::string& linear);
  void hoisted_loads(const std::function<place(uint32_t)>& at);
  // Stores the values of the outputs; `at` returns the place of an operand.
  void store_outputs(const std::function<place(uint32_t)>& at);
  std::string reduced_value();  // the value in the accumulator's dtype
  bool uses_iota() const;
  uint8_t widest_bytes() const;
  void vector_pragma();

  // Coordinates c<first> .. of the linear index `linear` in dimensions [first, first + count).
  void coordinates(const std::string& linear, uint32_t first, uint32_t count);
  // Divides a nonnegative value, using the multiplier and shift of `divisor`.
  std::string quotient(const std::string& value, const std::string& divisor);
  // "in0_offset + c0 * in0_stride0 + ..." over dimensions [first, last).
  std::string base(uint32_t n, uint32_t first, uint32_t last, bool with_offset) const;

  // Reductions (renderer_reduce.cpp).
  std::string identity() const;
  std::string combined(const std::string& a, const std::string& b);
  void combine(const std::string& into, const std::string& value, const std::string& into_at,
               const std::string& value_at);
  void declare_total(const std::string& name);
  // Positions of argmin and argmax during the search; no_position() is greater than all of them.
  uint8_t position_dtype() const;
  std::string position_type() const;
  std::string no_position() const;
  void add_to_total(const std::string& value, const std::string& at);
  void add_last_lane();
  bool compensates() const;
  // The real variables of a total: itself, or "name.re" and "name.im".
  std::vector<std::string> parts_of(const std::string& name) const;
  void store_result(const std::string& kept_index);
  void finish_kernel_text();
  void add_parts(const char* first, const char* next);
  void gpu_finish();
  void store_finished();
  // Host engine.
  void reduction_of_a_line(const std::string& name);
  void reduction_of_rows(const std::string& name, bool numbered);
  void sums_of_rows(const std::string& name);
  void see_complex_types();

  // CPU schedule (renderer_cpu.cpp).
  void cpu_map();
  void cpu_tiles();
  void cpu_line_pointers(uint32_t inner, uint32_t operands);
  void cpu_line(uint32_t inner);
  void cpu_inner();
  void cpu_inner_row(const std::string& visited);
  void fold_lanes(uint32_t lanes);
  void cpu_outer();
  bool loads_apart() const;
  void cpu_outer_rows(uint32_t rows);
  void cpu_share(const char* count);
  // GPU schedule (renderer_gpu.cpp).
  void gpu_map();
  void gpu_map_vectors();
  void gpu_inner();
  void declare_tree();
  void enter_tree();
  void gpu_tree(const char* least);
  void gpu_shuffles();
  void gpu_outer();
  void gpu_outer_vectors();
  void gpu_part(const char* first, const std::string& next);
  void gpu_element();
  void gpu_elements();
  // Vectors of the GPU schedule (renderer_vectors.cpp).
  void vector_place(const std::string& number, uint32_t first, uint32_t last);
  void load_vectors();
  void load_whole(uint32_t n, const char* of);
  void load_elements(uint32_t n, const char* of, const char* count);
  void store_vectors();
  uint32_t rows() const;  // vectors that a reduction loads together
  void each_row();
  void load_rows(const char* apart, bool along);
  void hoist_row();
  void each_lane();
  std::string vector_type(uint32_t n) const;
  std::string raw_pointer(uint32_t n, const std::string& pointer, const std::string& of) const;
  std::string whole_type(uint32_t n) const;
  void declare_vector(uint32_t n, uint32_t rank);
  std::string vector_union(uint32_t n) const;
  // `of` selects from an array of vectors.
  std::string is_whole(uint32_t n, const char* of) const;
  place lane(uint32_t n, const char* of) const;
  bool moves(uint32_t n) const { return operand_desc(n).access == TUTTI_ACCESS_UNIT; }

  const tutti_program_desc& desc_;
  const dialect& words_;
  render_options options_;
  program_layout layout_;
  writer out_;
  std::string index_;            // type of index arithmetic
  std::vector<uint8_t> dtypes_;  // of each value
  helpers helpers_;
};

}  // namespace tutti::sdk::detail
