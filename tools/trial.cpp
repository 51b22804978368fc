// SPDX-License-Identifier: Apache-2.0
//
// `tutti-trial`, which the library starts to try steps in which earlier processes ended
// (plugin/trial.hpp). It is not a child of the application: an application that waits for all of
// its children does not wait for it.
#include "plugin/trial.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("tutti-trial: Tutti starts this program by itself, to try a plugin\n", stderr);
    return 2;
  }
  const pid_t child = ::fork();
  if (child != 0) ::_exit(child < 0 ? 1 : 0);
  ::setsid();
  // Close the files that the application has open.
  constexpr unsigned first = STDERR_FILENO + 1;
  ::close_range(first, ~0U, 0);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  tutti::plugins::be_a_trial(argv[1], STDIN_FILENO);
}
