// SPDX-License-Identifier: Apache-2.0
//
// Signals belong to the application: a signal that it masks in all of its threads, to wait for it
// in one, must not be delivered to a thread of the library. Plugins include this file as well; it
// needs no library.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace tutti::base {

/// During its lifetime, threads that this thread starts inherit a mask that leaves signals to other
/// threads. Signals that a thread causes itself (a fault, abort) and the ticks of profilers are not
/// masked.
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
  blocked_signals(blocked_signals&&) = delete;

 private:
  sigset_t before_;
  bool is_set_ = false;
};

/// During its lifetime, writes of this thread beyond a limit on the size of files (`ulimit -f`)
/// fail as on a full disk, and do not end the process. Does not change errno.
class limits_are_errors {
 public:
  limits_are_errors() noexcept {
    sigset_t waiting;
    sigemptyset(&mask_);
    sigaddset(&mask_, SIGXFSZ);
    is_set_ = sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 0 &&
              pthread_sigmask(SIG_BLOCK, &mask_, &before_) == 0;
  }
  ~limits_are_errors() {
    if (!is_set_) return;
    const int number = errno;
    const timespec at_once{};
    while (sigtimedwait(&mask_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = number;
  }
  limits_are_errors(limits_are_errors&&) = delete;

 private:
  sigset_t mask_, before_;
  bool is_set_ = false;
};

/// A thread of the library. Throws std::system_error if the system cannot create one.
template <class F>
std::thread start_thread(F&& work) {
  const blocked_signals none;
  return std::thread(std::forward<F>(work));
}

}  // namespace tutti::base
