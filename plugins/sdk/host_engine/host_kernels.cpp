// SPDX-License-Identifier: Apache-2.0
//
// The kernels of one unit, compiled once per unit and instruction set (CMakeLists.txt).
// TUTTI_KERNEL_TABLE is the name of the table and TUTTI_KERNEL_FILE the generated file
// (write_kernels.cpp). From the standard library it uses only types and functions that are always
// inlined.
#include "sdk/host_engine/host_kernels.hpp"

#include <utility>
#if defined __x86_64__
#include <immintrin.h>
#endif

namespace {
// The order matters.
// clang-format off
#include "sdk/host_engine/host_language.hpp"
#include "sdk/host_engine/host_vectors.hpp"
#include "prelude.cl"
#include "sdk/host_engine/host_kernel_language.hpp"
// The array `rows` and its kernels.
#include TUTTI_KERNEL_FILE
// clang-format on
}  // namespace

namespace tutti::sdk::routines {

extern const kernel_table TUTTI_KERNEL_TABLE;
const kernel_table TUTTI_KERNEL_TABLE = {rows, sizeof rows / sizeof *rows};

}  // namespace tutti::sdk::routines
