// SPDX-License-Identifier: Apache-2.0
//
// What the faulty plugin can be told to do.
#pragma once

enum fault {
  fault_out_of_memory,  // allocate fails; armed with -1: every time until disarmed
  fault_enqueue,        // launch returns an error
  fault_run,            // launch succeeds, its event fails
  fault_compile,        // create fails
  fault_no_operators,   // supports says no
  fault_kinds
};

// extern "C" void tutti_faulty_arm(int kind, int after): the fault strikes at the after-th call
// from now on (1: the next one); 0 disarms.
