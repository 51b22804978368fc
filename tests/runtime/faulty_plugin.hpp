// SPDX-License-Identifier: Apache-2.0
//
// What the faulty plugin can be told to do, and how. It shows as many devices as the environment
// variable TUTTI_FAULTY_DEVICES says (1 to 8, default 1), each of them the reference device. With
// TUTTI_FAULTY_NATIVE_OFF set it does not let on that its memory is the host's. With
// TUTTI_FAULTY_GPU set it says that it is a GPU.
#pragma once

enum fault {
  fault_out_of_memory,  // allocate fails; armed with -1: every time until disarmed
  fault_enqueue,        // launch of a program returns an error
  fault_run,            // launch of a program succeeds, its event fails
  fault_compile,        // create fails
  fault_no_operators,   // supports says no
  fault_slow,           // each launch takes `after` ms longer, until disarmed
  fault_hang,           // a launch and what follows it on the stream end when disarmed, not before
  fault_hang_compile,   // create does not return until disarmed
  fault_disappear,      // from a launch on every call says that the device is lost, until disarmed
  fault_read,           // a transfer to the host returns an error
  fault_no_plans,       // create of an operator says that it is unsupported, until disarmed
  fault_kinds
};

constexpr int faulty_devices_at_most = 8;

// extern "C" void tutti_faulty_arm_device(int kind, int after, int device): the fault strikes at
// the after-th call from now on (1: the next one); 0 disarms.
// extern "C" faulty_plans tutti_faulty_plans(): of operators, on all devices.

struct faulty_plans {
  int made, alive, refused;
};

// extern "C" int tutti_faulty_compile_together(int count): from now on compilations wait until
// `count` of them are under way, for 5 s at most. Answers with the most that were so far.
