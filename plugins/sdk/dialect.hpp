// SPDX-License-Identifier: Apache-2.0
//
// The properties of a C-like kernel language that the renderer needs: about forty texts, which may
// contain the listed placeholders.
#pragma once

#include <string_view>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

enum class schedule { cpu, gpu };

struct dialect {
  std::string_view name;
  std::string_view prologue;         // first lines of every source
  std::string_view prologue_f64;     // only if f64 is used
  std::string_view after_functions;  // between library functions and kernels
  std::string_view kernel;           // qualifiers of a kernel; $n: work-items per group
  std::string_view global;           // address space of array arguments
  std::string_view local;            // storage of arrays shared by a group
  std::string_view barrier;
  // If groups consist of warps of 32: the value of $v in the work-item $d further on in the warp.
  // Empty: reduction trees stay in local memory.
  std::string_view shuffle;
  std::string_view group_index, group_count, local_index, global_index, global_size;
  std::string_view vector_loop;  // before an innermost loop; $w: lanes; may be empty
  std::string_view unroll;       // before a loop; $n: iterations
  // $p pointer, $i index, $v value.
  std::string_view load_f16 = "tutti_load_f16($p[$i])", store_f16 = "$p[$i] = tutti_to_f16($v)";
  std::string_view load_bf16 = "tutti_load_bf16($p[$i])", store_bf16 = "$p[$i] = tutti_to_bf16($v)";
  // As stored, by dtype: by default the names of OpenCL C, without its half. Bool is one byte;
  // complex ones are names of math_shared.cl.
  std::string_view types[TUTTI_C128 + 1] = {
      "",     "uchar", "char",   "short",  "int",   "long",   "uchar",     "ushort",
      "uint", "ulong", "ushort", "ushort", "float", "double", "tutti_c64", "tutti_c128"};
  std::string_view size_type = "ulong";      // 64-bit unsigned
  std::string_view sixteen_bytes = "uint4";  // a type of one access, aligned to its size
  // Texts of functions between "//@fn NAME" and "//@end"; the first definition counts. Between
  // "//@fn tutti_$_f32 for A B" and "//@end" stands the text of several, with $ for A and B.
  std::vector<std::string_view> libraries;
  // Macros TUTTI_INTEGER(name, type, unsigned type, bits) and
  // TUTTI_FLOAT_TO_INTEGER(float name, float type, name, type, low, high) and plain functions.
  std::string_view prelude;
};

}  // namespace tutti::sdk
