// SPDX-License-Identifier: Apache-2.0
//
// What the renderer must know of a C-like kernel language: some forty words. Texts may hold the
// placeholders named beside them.
#pragma once

#include <string_view>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

enum class schedule { cpu, gpu };

struct dialect {
  std::string_view name;
  std::string_view prologue;         // first lines of every source
  std::string_view prologue_f64;     // only where f64 occurs
  std::string_view after_functions;  // between library functions and kernels
  std::string_view kernel;           // qualifiers of a kernel; $n: work-items of a group
  std::string_view global;           // address space of array arguments
  std::string_view local;            // storage of arrays that a group shares
  std::string_view barrier;
  // Where groups are made of warps of 32 that run together: the value of $v in the work-item $d
  // further on in the warp. Empty: trees stay in local memory.
  std::string_view shuffle;
  std::string_view group_index, group_count, local_index, global_index, global_size;
  // How a kernel declares an array and a value among its parameters: $t type, $x name, $n number of
  // the parameter, from 0. And what it declares behind them for the index words above, where these
  // are no functions: "uint3 group [[threadgroup_position_in_grid]]". May be empty.
  std::string_view array_parameter = "$t $x";
  std::string_view value_parameter = "const $t $x";
  std::string_view index_parameters;
  std::string_view vector_loop;              // before an innermost loop; $w: lanes; may be empty
  std::string_view unroll;                   // before a loop; $n: times
  std::string_view load_f16, store_f16;      // $p pointer, $i index, $v value
  std::string_view load_bf16, store_bf16;    // the same
  std::string_view types[TUTTI_C128 + 1];    // as stored, by dtype; bool is one byte, complex
                                             // ones are names of math_shared.cl
  std::string_view size_type;                // 64-bit unsigned
  std::string_view sixteen_bytes = "uint4";  // a type that one access moves, aligned to its size
  // Texts of functions between "//@fn NAME [deps: A B]" and "//@end"; what is found first counts.
  std::vector<std::string_view> libraries;
  // Macros TUTTI_INTEGER(name, type, unsigned type, bits) and
  // TUTTI_FLOAT_TO_INTEGER(float name, float type, name, type, low, high) and plain functions.
  std::string_view prelude;
};

}  // namespace tutti::sdk
