// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++'s names of the types that elements have in memory, for the options of kernel files.
#pragma once

#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::cuda {

inline const char* unsigned_name(uint32_t bytes) {
  return bytes == 1   ? "unsigned char"
         : bytes == 2 ? "unsigned short"
         : bytes == 4 ? "unsigned int"
                      : "unsigned long long";
}

// f16 and bf16 lie in memory as unsigned short, bool as unsigned char.
inline const char* stored_name(int32_t dtype) {
  switch (dtype) {
    case TUTTI_I8:
      return "signed char";
    case TUTTI_I16:
      return "short";
    case TUTTI_I32:
      return "int";
    case TUTTI_I64:
      return "long long";
    case TUTTI_F32:
      return "float";
    case TUTTI_F64:
      return "double";
    case TUTTI_BOOL:
    case TUTTI_U8:
      return unsigned_name(1);
    case TUTTI_U32:
      return unsigned_name(4);
    case TUTTI_U64:
      return unsigned_name(8);
    default:
      return unsigned_name(2);
  }
}

// How kernel files know the half formats: 1 f16, 2 bf16, 0 what needs no conversion.
inline int half_kind(int32_t dtype) { return dtype == TUTTI_F16 ? 1 : dtype == TUTTI_BF16 ? 2 : 0; }

}  // namespace tutti::cuda
