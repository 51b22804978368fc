// SPDX-License-Identifier: Apache-2.0
//
// The tables of operator kernels of one instruction set. Included by files compiled for that set:
// no standard library here (see host_language.hpp).
#pragma once

namespace tutti::sdk::routines {

/// Runs groups [first, last) of a launch of `groups`. `words` are the kernel arguments: addresses,
/// 64-bit numbers, and addresses of structs that it takes by value.
using kernel_routine = void (*)(const unsigned long* words, unsigned long first, unsigned long last,
                                unsigned long groups);

struct kernel_row {
  const char* key;  // the build options of the kernel on devices, a space, its name
  kernel_routine run;
};

/// Rows sorted by key.
struct kernel_table {
  const kernel_row* rows;
  unsigned long count;
};

}  // namespace tutti::sdk::routines
