// SPDX-License-Identifier: Apache-2.0
//
// Vectors of the GPU schedule: neighbours along the innermost loop that a work-item loads, computes
// and stores together, by one access for each operand where the address allows it. A vector is a
// union of what one access moves and of elements, which a compiler that unrolls keeps in registers.
#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {
namespace {

constexpr uint32_t widest_access = 16;

}  // namespace

// As memory holds the elements: in OpenCL C there are no variables of type half.
std::string program::vector_type(uint32_t n) const {
  const uint8_t dtype = operand_desc(n).dtype;
  return type(dtype == TUTTI_F16 ? uint8_t{TUTTI_U16} : dtype);
}

std::string program::raw_pointer(uint32_t n, const std::string& pointer,
                                 const std::string& of) const {
  const bool input = n < layout_.inputs;
  return join("((", words_.global, input ? "const " : "", of, "*)", pointer, ")");
}

place program::lane(uint32_t n) const {
  const std::string elements = operand(n) + "_vector.element";
  if (operand_desc(n).dtype != TUTTI_F16 || type(TUTTI_F16) == type(TUTTI_U16))
    return {elements, "k"};
  return {join("((", type(TUTTI_F16), "*)", elements, ")"), "k"};
}

// Where vector `number` of the lines over dimensions [first, last) begins: coordinates, `line`, and
// `count`, how many of its elements there are.
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

// What one access moves.
std::string program::whole_type(uint32_t n) const {
  const uint32_t bytes = layout_.vector * dtype_size(operand_desc(n).dtype);
  if (bytes == widest_access) return text_of(words_.sixteen_bytes);
  return type(bytes == 8 ? TUTTI_U64 : bytes == 4 ? TUTTI_U32 : TUTTI_U16);
}

// Where it begins, and the variable.
void program::declare_vector(uint32_t n, uint32_t rank) {
  out_.line("const ", index_, " ", operand(n), "_at = ", base(n, 0, rank, true), ";");
  out_.line("union { ", whole_type(n), " whole; ", vector_type(n), " element[", layout_.vector,
            "]; } ", operand(n), "_vector;");
}

// Whether the vector is all there, at an address that one access takes.
std::string program::is_whole(uint32_t n) const {
  return join("count == ", layout_.vector, " && ((", words_.size_type, ")(", operand(n), " + ",
              operand(n), "_at) & (sizeof ", operand(n), "_vector - 1)) == 0");
}

void program::each_lane() {
  out_.line(replaced(text_of(words_.unroll), "$n", std::to_string(layout_.vector)));
  out_.line("for (int k = 0; k < ", layout_.vector, "; ++k) {");
}

// Coordinates of the vector's first element are declared. Behind the last element there are copies
// of it, so that every lane computes with something.
void program::load_vectors() {
  const uint32_t rank = layout_.reduces() ? layout_.rank() : layout_.kept;
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    if (!moves(n)) continue;
    const std::string name = operand(n);
    declare_vector(n, rank);
    out_.line("if (", is_whole(n), ") {");
    out_.line(name, "_vector.whole = *",
              raw_pointer(n, join("(", name, " + ", name, "_at)"), whole_type(n)), ";");
    out_.line("} else {");
    each_lane();
    out_.line(name, "_vector.element[k] = ", raw_pointer(n, name, vector_type(n)), "[", name,
              "_at + (k < count ? k : count - 1)];");
    out_.line("}");
    out_.line("}");
  }
  hoisted_loads([&](uint32_t n) { return place{operand(n), base(n, 0, rank, true)}; });
}

void program::store_vectors() {
  for (uint32_t n = layout_.inputs; n < layout_.inputs + layout_.outputs; ++n) {
    const std::string name = operand(n);
    out_.line("if (", is_whole(n), ") {");
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
