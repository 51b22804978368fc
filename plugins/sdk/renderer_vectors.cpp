// SPDX-License-Identifier: Apache-2.0
//
// Vectors of the GPU schedule: consecutive elements of the innermost loop that a work-item loads,
// computes and stores together, with one access per operand if its address is aligned. A vector is
// a union of the access type and the elements; unrolling keeps it in registers.
#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {
namespace {

constexpr uint32_t widest_access = 16;

}  // namespace

// The storage type: OpenCL C has no variables of type half.
std::string program::vector_type(uint32_t n) const {
  const uint8_t dtype = operand_desc(n).dtype;
  return type(dtype == TUTTI_F16 ? uint8_t{TUTTI_U16} : dtype);
}

std::string program::raw_pointer(uint32_t n, const std::string& pointer,
                                 const std::string& of) const {
  const bool input = n < layout_.inputs;
  return join("((", words_.global, input ? "const " : "", of, "*)", pointer, ")");
}

place program::lane(uint32_t n, const char* of) const {
  const std::string elements = operand(n) + "_vector" + of + ".element";
  if (operand_desc(n).dtype != TUTTI_F16 || type(TUTTI_F16) == type(TUTTI_U16))
    return {elements, "k"};
  return {join("((", type(TUTTI_F16), "*)", elements, ")"), "k"};
}

// The start of vector `number` in the lines over dimensions [first, last): coordinates, `line`, and
// `count`, the number of elements.
void program::vector_place(const std::string& number, uint32_t first, uint32_t last) {
  const std::string inner = join("n", last - 1), width = std::to_string(layout_.vector);
  if (last - first > 1) {
    out_.line("const ", index_, " line = ", quotient(number, "segments"), ";");
    coordinates("line", first, last - first - 1);
    out_.line("const ", index_, " start = (", number, " - line * segments) * ", width, ";");
  } else {
    out_.line("const ", index_, " line = 0;");
    out_.line("const ", index_, " start = ", number, " * ", width, ";");
  }
  out_.line("const int count = ", inner, " - start < ", width, " ? (int)(", inner,
            " - start) : ", width, ";");
}

// The type of one access.
std::string program::whole_type(uint32_t n) const {
  const uint32_t bytes = layout_.vector * dtype_size(operand_desc(n).dtype);
  if (bytes == widest_access) return as_text(words_.sixteen_bytes);
  return type(bytes == 8 ? TUTTI_U64 : bytes == 4 ? TUTTI_U32 : TUTTI_U16);
}

// Declares its start and the variable.
void program::declare_vector(uint32_t n, uint32_t rank) {
  out_.line("const ", index_, " ", operand(n), "_at = ", base(n, 0, rank, true), ";");
  out_.line(vector_union(n), " ", operand(n), "_vector;");
}

std::string program::vector_union(uint32_t n) const {
  return join("union { ", whole_type(n), " whole; ", vector_type(n), " element[", layout_.vector,
              "]; }");
}

// Whether the vector is complete and aligned for one access; without a branch.
std::string program::is_whole(uint32_t n, const char* of) const {
  return join("(count == ", layout_.vector, ") & (((", words_.size_type, ")(", operand(n), " + ",
              operand(n), "_at", of, ") & (sizeof(", whole_type(n), ") - 1)) == 0)");
}

void program::load_whole(uint32_t n, const char* of) {
  const std::string name = operand(n);
  out_.line(name, "_vector", of, ".whole = *",
            raw_pointer(n, join("(", name, " + ", name, "_at", of, ")"), whole_type(n)), ";");
}

// Pads with zeros, so that every lane computes.
void program::load_elements(uint32_t n, const char* of, const char* count) {
  const std::string name = operand(n);
  const uint8_t dtype = operand_desc(n).dtype;
  const std::string zero = is_complex(dtype) ? call("complex", part_dtype(dtype), "0, 0") : "0";
  each_lane();
  out_.line(name, "_vector", of, ".element[k] = k < ", count, " ? (",
            raw_pointer(n, name, vector_type(n)), " + ", name, "_at", of, ")[k] : ", zero, ";");
  out_.line("}");
}

void program::each_lane() {
  out_.line(replaced(as_text(words_.unroll), "$n", std::to_string(layout_.vector)));
  out_.line("for (int k = 0; k < ", layout_.vector, "; ++k) {");
}

// Requires the coordinates of the vector's first element.
void program::load_vectors() {
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    if (!moves(n)) continue;
    declare_vector(n, layout_.kept);
    out_.line("if (", is_whole(n, ""), ") {");
    load_whole(n, "");
    out_.line("} else {");
    load_elements(n, "", "count");
    out_.line("}");
  }
  hoisted_loads([&](uint32_t n) { return place{operand(n), base(n, 0, layout_.kept, true)}; });
}

// The number of reduction steps loaded together; fewer if they would exceed the registers, or the
// unrolled loop the instruction cache.
uint32_t program::rows() const {
  constexpr uint32_t most_bytes = 96, most_instructions = 256;
  const uint32_t vector = layout_.vector;
  const bool outer = layout_.reduce_layout == TUTTI_REDUCE_OUTER;
  const uint32_t totals = outer ? 2 * vector * dtype_size(layout_.accumulator) : 32;
  uint32_t bytes = layout_.finds_index() ? dtype_size(position_dtype()) : 0, rows = 4;
  for (uint32_t n = 0; n < layout_.inputs; ++n)
    if (moves(n)) bytes += vector * dtype_size(desc_.inputs[n].dtype);
  while (rows > 1 && (totals + rows * bytes > most_bytes ||
                      rows * vector * layout_.instructions > most_instructions))
    rows /= 2;
  return rows;
}

void program::each_row() {
  out_.line(replaced(as_text(words_.unroll), "$n", std::to_string(rows())));
  out_.line("for (int r = 0; r < ", rows(), "; ++r) {");
}

// Loads the vectors of the steps n, n + `apart` .. before `end`, `along` the innermost loop or
// across it (requires `start` and `count`). The loads are adjacent, so that a work-item waits for
// all of them at once.
void program::load_rows(const char* apart, bool along) {
  const uint32_t number = rows(), inner = (along ? layout_.rank() : layout_.kept) - 1;
  out_.line("const ", index_, " left = (", index_, ")(end - n);");
  out_.line("int counts[", number, "];");
  if (layout_.finds_index()) out_.line(position_type(), " positions[", number, "];");
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    out_.line(index_, " ", operand(n), "_at[", number, "];");
    if (!moves(n)) continue;
    out_.line("bool ", operand(n), "_whole = true;");
    out_.line(vector_union(n), " ", operand(n), "_vector[", number, "];");
  }
  each_row();
  out_.line("const bool is_there = r * ", apart, " < left;");
  out_.line("const ", index_, " step = (", index_, ")n + (is_there ? r * ", apart, " : 0);");
  if (along) {
    vector_place("step", layout_.kept, layout_.rank());
  } else {
    coordinates("step", layout_.kept, layout_.reduced);
  }
  out_.line("const ", index_, " c", inner, " = start;");
  out_.line("counts[r] = is_there ? count : 0;");
  if (layout_.finds_index())
    out_.line("positions[r] = ", along ? join("line * n", inner, " + start") : "step", ";");
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    const std::string name = operand(n);
    out_.line(name, "_at[r] = ", base(n, 0, layout_.rank(), true), ";");
    if (moves(n)) out_.line(name, "_whole = ", name, "_whole & ", is_whole(n, "[r]"), ";");
  }
  out_.line("}");
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    if (!moves(n)) continue;
    out_.line("if (", operand(n), "_whole) {");
    each_row();
    out_.line("if (counts[r] > 0) {");
    load_whole(n, "[r]");
    out_.line("}");
    out_.line("}");
    out_.line("} else {");
    each_row();
    load_elements(n, "[r]", "counts[r]");
    out_.line("}");
    out_.line("}");
  }
}

// Loads for row r the inputs that are constant along the innermost loop.
void program::hoist_row() {
  hoisted_loads([&](uint32_t n) { return place{operand(n), operand(n) + "_at[r]"}; });
}

void program::store_vectors() {
  for (uint32_t n = layout_.inputs; n < layout_.inputs + layout_.outputs; ++n) {
    const std::string name = operand(n);
    out_.line("if (", is_whole(n, ""), ") {");
    out_.line("*", raw_pointer(n, join("(", name, " + ", name, "_at)"), whole_type(n)), " = ", name,
              "_vector.whole;");
    out_.line("} else {");
    each_lane();
    out_.line("if (k < count) ", raw_pointer(n, name, vector_type(n)), "[", name,
              "_at + k] = ", name, "_vector.element[k];");
    out_.line("}");
    out_.line("}");
  }
}

}  // namespace tutti::sdk::detail
