// SPDX-License-Identifier: Apache-2.0
//
// Signals are the application's: one that it masks in all of its threads, to wait for it in one,
// must not find a thread of the library that would take it. Plugins include this file as well; it
// needs nothing to be linked.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace tutti::detail {

/// While it lives, threads that this thread starts inherit a mask that leaves signals to others.
/// What a thread does to itself (a fault, abort) and the ticks of profilers still reach it.
class blocked_signals {
 public:
  blocked_signals() noexcept {
    sigset_t mask;
    sigfillset(&mask);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
      sigdelset(&mask, own);
    is_set_ = pthread_sigmask(SIG_BLOCK, &mask, &before_) == 0;
  }
  ~blocked_signals() {
    if (is_set_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
  bool is_set_ = false;
};

/// A thread of the library. Throws std::system_error where the system has none to give.
template <class F>
std::thread start_thread(F&& work) {
  const blocked_signals none;
  return std::thread(std::forward<F>(work));
}

}  // namespace tutti::detail
