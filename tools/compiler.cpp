// SPDX-License-Identifier: Apache-2.0
//
// `tutti-compiler`, which the library starts to compile in the background (compile_process.hpp), or
// to try what an earlier process ended within (trial.hpp).
// It is a child of nobody's: an application that waits for all of its children does not wait for
// it, nor does what stops the application's group of processes stop a compiler half way.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "plugin/trial.hpp"
#include "runtime/promote/compile_service.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool serves = words == std::vector<std::string>{tutti::runtime::serve_word};
  if (!serves && (words.size() < 2 || words.front() != tutti::detail::trial_word)) {
    std::fputs(
        "tutti-compiler: Tutti starts this program by itself, to compile kernels beside an "
        "application or to try a plugin; it is of no use otherwise\n",
        stderr);
    return 2;
  }
  const pid_t child = ::fork();
  if (child != 0) ::_exit(child < 0 ? 1 : 0);
  ::setsid();
  // What the application has open is not for us to hold open.
  constexpr unsigned first = STDERR_FILENO + 1;
  ::close_range(first, ~0U, 0);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (!serves) tutti::detail::be_a_trial(words, STDIN_FILENO);  // the application waits
  constexpr int low = 10;
  ::setpriority(PRIO_PROCESS, 0, low);
  tutti::runtime::serve_compilations(STDIN_FILENO);
}
