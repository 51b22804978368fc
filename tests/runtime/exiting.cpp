// SPDX-License-Identifier: Apache-2.0
//
// A program that ends with work in flight; exit_test.cpp looks at how.
//   exiting main      it was evaluated by the main thread
//   exiting thread    by another one
//   exiting opening   another one looks for the device, and is not waited for
//   exiting hang      it never ends (faulty:0)
//   exiting training  so too, and another thread goes on meanwhile and catches nothing
//   exiting fork      so too, and a fork exits first
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>

#include "faulty_control.hpp"

namespace {

// Made before the library, and so destroyed after what its driver has made: what still runs then
// has the time to crash.
struct slow_end {
  ~slow_end() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }
};

// Several programs, each new to the driver.
void start_work() {
  const tutti::array x = tutti::arange(1 << 16, tutti::dtype::f32);
  for (int length = 1; length <= 4; ++length) {
    tutti::array y = x;
    for (int k = 0; k < length; ++k) y = tutti::sin(y) * 2.f + tutti::exp(y - 1.f);
    y.eval();
  }
}

bool is_fork = false;

}  // namespace

// Asked by LeakSanitizer, where that is in use: a fork lacks the threads whose stacks hold what
// they were at.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return is_fork; }

int main(int, char** argv) {
  const static slow_end end;
  const std::string what = argv[1];
  if (what == "main") start_work();
  if (what == "thread") std::thread(start_work).join();
  if (what == "opening") {
    // Where it comes too late it is told so.
    std::thread([] {
      try {
        start_work();
      } catch (const tutti::error&) {
      }
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(argv[2])));
  }
  if (what == "hang" || what == "training" || what == "fork") {
    tutti_test::arm(fault_hang, 1);
    start_work();
  }
  if (what == "training")
    std::thread([] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        (tutti::arange(8, tutti::dtype::f32) * 2.f).eval();
      }
    }).detach();
  if (what == "fork") {
    const pid_t child = fork();
    is_fork = child == 0;
    if (is_fork) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    std::cout << "the fork's status is " << status << std::endl;
    tutti_test::disarm_all();
  }
  return 0;
}
