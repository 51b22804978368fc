// SPDX-License-Identifier: Apache-2.0
//
// The kernels of one unit for one set of instructions: compiled for each of both (CMakeLists.txt),
// with TUTTI_KERNEL_TABLE as the name of the table and TUTTI_KERNEL_FILE as what the build wrote
// (write_kernels.cpp). Of the standard library only what is a type or always inlined.
#include "sdk/host_engine/host_kernels.hpp"

#include <utility>
#if defined __x86_64__
#include <immintrin.h>
#endif

namespace {
// In this order.
// clang-format off
#include "sdk/host_engine/host_language.hpp"
#include "sdk/host_engine/host_vectors.hpp"
#include "prelude.cl"
#include "sdk/host_engine/host_kernel_language.hpp"
// The array `rows` and what it needs.
#include TUTTI_KERNEL_FILE
// clang-format on
}  // namespace

namespace tutti::sdk::routines {

extern const kernel_table TUTTI_KERNEL_TABLE;
const kernel_table TUTTI_KERNEL_TABLE = {rows, sizeof rows / sizeof *rows};

}  // namespace tutti::sdk::routines
