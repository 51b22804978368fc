// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C's names of the types that elements have in memory, for the options of kernel files.
#pragma once

#include <cstdint>

#include "tutti/plugin.h"

namespace tutti::opencl {

// "uchar" to "ulong" for 1 to 8 bytes.
inline const char* unsigned_name(uint32_t bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}
inline const char* signed_name(uint32_t bytes) {
  return bytes == 1 ? "char" : bytes == 2 ? "short" : bytes == 4 ? "int" : "long";
}

// f16 and bf16 lie in memory as ushort, bool as uchar.
inline const char* stored_name(int32_t dtype) {
  static constexpr const char* names[] = {"",       "uchar",  "char",   "short", "int",
                                          "long",   "uchar",  "ushort", "uint",  "ulong",
                                          "ushort", "ushort", "float",  "double"};
  return names[dtype];
}

// How kernel files know the half formats: 1 f16, 2 bf16, 0 what needs no conversion.
inline int half_kind(int32_t dtype) { return dtype == TUTTI_F16 ? 1 : dtype == TUTTI_BF16 ? 2 : 0; }

}  // namespace tutti::opencl
