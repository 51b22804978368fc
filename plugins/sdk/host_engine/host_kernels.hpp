// SPDX-License-Identifier: Apache-2.0
//
// The kernels of operators for one set of instructions as tables. Included where those are
// compiled: nothing of the standard library here (host_language.hpp tells why).
#pragma once

namespace tutti::sdk::routines {

/// Groups [first, last) of a launch of `groups`. `words` are the kernel's arguments: addresses,
/// numbers of 64 bits, and addresses of structs that it takes by value.
using kernel_routine = void (*)(const unsigned long* words, unsigned long first, unsigned long last,
                                unsigned long groups);

struct kernel_row {
  const char* key;  // the options that devices build the kernel with, a blank, its name
  kernel_routine run;
};

/// Rows in the order of their keys.
struct kernel_table {
  const kernel_row* rows;
  unsigned long count;
};

}  // namespace tutti::sdk::routines
