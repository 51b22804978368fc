// SPDX-License-Identifier: Apache-2.0
//
// Arrays that outlive what they are usually used with; lifetimes_test.cpp looks at what is said.
//   lifetimes static       global, static and thread_local arrays, lazy ones, when the process ends
//   lifetimes late         computing from destructors, after exit() has begun
//   lifetimes thread       a thread that still computes when the process ends
//   lifetimes fork         forks of a process that has used a device
//   lifetimes fork-first   a fork that comes before the first use
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

bool is_fork = false;

tutti::array ramp() { return tutti::arange(1000, tutti::dtype::f32); }

// Neither a chain of nodes nor its memory may need anything that is gone when it is destroyed.
tutti::array lazy_chain() {
  tutti::array a = ramp();
  for (int i = 0; i < 500; ++i) a = tutti::sin(a) + 1.f;
  return a;
}

struct holder {
  tutti::array ready, lazy, view, constant, moved;

  void fill() {
    ready = (ramp() * 2.f).eval();
    lazy = lazy_chain();
    view = ready({{1, 999, 2}});
    constant = tutti::zeros({3, 3});
    moved = (ramp() + 3.f).to(tutti::devices().back());
    moved.eval();
  }
};

// Destroyed after all that is made below, and after what the library makes.
struct late_user {
  std::optional<tutti::array> pending, computed;

  ~late_user() {
    if (!pending || is_fork) return;
    say("eval", [&] { pending->eval(); });
    say("read", [&] { computed->to_vector<float>(); });
    say("array", [] { tutti::array::from({1.f, 2.f}); });
    say("chain", [&] { *pending = *pending + *computed; });
  }

  template <class F>
  static void say(const char* what, F&& f) {
    try {
      f();
      std::cout << what << ": done" << std::endl;
    } catch (const tutti::device_error& e) {
      std::cout << e.what() << std::endl;
    }
  }
};

late_user late;
holder global;
thread_local holder of_thread;

void hold_everywhere() {
  static holder local;
  local.fill();
  global.fill();
  of_thread.fill();
  std::thread([] { of_thread.fill(); }).join();
}

template <class F>
int in_fork(F&& f) {
  std::cout.flush();
  const pid_t child = fork();
  if (child != 0) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }
  is_fork = true;
  alarm(20);  // where it hangs
  f();
  std::cout.flush();
  std::exit(0);
}

void compute_and_say() {
  late_user::say("eval", [] { (global.lazy + 1.f).eval(); });
  late_user::say("read", [] { global.ready.to_vector<float>(); });
  late_user::say("array", [] { tutti::array::from({1.f, 2.f}); });
  late_user::say("device", [] { tutti::device("reference"); });
}

// AddressSanitizer of g++ 12 does not hold its allocator's locks over a fork: one that another
// thread has then is never freed in the child.
bool may_fork_beside_threads() { return dlsym(RTLD_DEFAULT, "__asan_init") == nullptr; }

void fork_after_use() {
  hold_everywhere();
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;  // so that locks are held when the fork happens
  for (int i = 0; i < 2 && may_fork_beside_threads(); ++i)
    busy.emplace_back([&] {
      while (!stop) {
        tutti::array a = ramp() * 2.f;
        a.wait();
      }
    });
  std::cout << "computes: " << in_fork(compute_and_say) << std::endl;
  std::cout << "of a fork: " << in_fork([] { std::cout << in_fork(compute_and_say) << std::endl; })
            << std::endl;
  int worst = 0;
  for (int i = 0; i < 20; ++i) worst = std::max(worst, in_fork([] { global = {}; }));
  std::cout << "exits: " << worst << std::endl;
  std::cout << "execs: " << in_fork([] { execl("/bin/true", "true", nullptr); }) << std::endl;
  stop = true;
  for (std::thread& t : busy) t.join();
  std::cout << "parent: " << tutti::sum(ramp()).item() << std::endl;
}

void fork_before_use() {
  const int status = in_fork([] { std::cout << tutti::sum(ramp()).item() << std::endl; });
  std::cout << "child: " << status << "\nparent: " << tutti::sum(ramp()).item() << std::endl;
}

// It learns from an exception that the process ends, and may not crash before it does.
void leave_a_thread_behind() {
  static std::atomic<int> rounds = 0;
  std::thread([] {
    try {
      for (;; ++rounds) (ramp() * 2.f).wait();
    } catch (const tutti::device_error&) {
    }
  }).detach();
  while (rounds < 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

// Asked by LeakSanitizer, where that is in use: a fork lacks the threads whose stacks hold what
// they were at.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return is_fork; }

int main(int, char** argv) {
  const std::string what = argv[1];
  if (what == "static") hold_everywhere();
  if (what == "late") {
    late.computed = (ramp() + 1.f).eval();
    late.pending = ramp() * 3.f;
  }
  if (what == "thread") leave_a_thread_behind();
  if (what == "fork") fork_after_use();
  if (what == "fork-first") fork_before_use();
  return 0;
}
