// SPDX-License-Identifier: Apache-2.0
//
// Markers of compilations: what a process leaves that ends within one, and what none leaves that
// ends well, exits by itself or still compiles.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/compile_markers.hpp"
#include "base/process.hpp"
#include "support.hpp"

namespace markers_test {

using namespace loader_test;
using tutti::detail::compile_markers;
namespace fs = std::filesystem;

namespace {

// Without what the test's own process has for faults, which is inherited.
void be_an_ordinary_process() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(signal, SIG_DFL);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void fault() {
  void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}

int overflow(int depth) {
  volatile char some[1024] = {};
  some[depth % 1024] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + some[depth % 512];
}

std::vector<std::function<void()>> visible_crashes() {
  return {[] { std::abort(); }, [] { fault(); }, [] { ::raise(SIGFPE); }, [] { overflow(0); }};
}

sigjmp_buf before_fault;
struct sigaction found {};  // by a handler, when it was put in place

struct fixture {
  temporary_folder outside;
  fs::path folder = outside.path() / "cache";
  compile_markers markers{folder};

  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  /// How a process of its own ended that ran `body` on the same folder.
  int status_of(const std::function<void(compile_markers&)>& body) const {
    const pid_t child = ::fork();
    if (child == 0) {
      be_an_ordinary_process();
      compile_markers own(folder);
      body(own);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  /// As by a compiler that goes down in threads of its own: one end alone does not count.
  void crash_compiling(const char* key) const {
    crash_elsewhere(key);
    crash_elsewhere(key);
  }

  void crash_elsewhere(const char* key) const {
    const int status = status_of([&](compile_markers& own) {
      own.begin(key, "opencl: exp+sum on a device");
      std::thread([] { std::abort(); }).join();
    });
    BOOST_TEST(WIFSIGNALED(status));
  }

  /// `crash` goes wrong in the thread that compiles.
  void crash_visibly(const char* key, const std::function<void()>& crash) const {
    const int status = status_of([&](compile_markers& own) {
      own.begin(key, "what");
      crash();
    });
    BOOST_TEST(status != 0);
  }

  /// As by a user's interrupt, or a lack of memory elsewhere.
  void die_compiling(const char* key, int signal = SIGKILL) const {
    const int status = status_of([&](compile_markers& own) {
      own.begin(key, "opencl: exp+sum on a device");
      ::raise(signal);
    });
    BOOST_TEST(WIFSIGNALED(status));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(compilations, fixture)

BOOST_AUTO_TEST_CASE(one_that_ends_well_leaves_nothing) {
  BOOST_TEST(markers.begin("key", "what") == 0u);
  BOOST_TEST(files() == 1u);
  markers.end("key");
  BOOST_TEST(files() == 0u);
  BOOST_TEST(markers.begin("key", "what") == 0u);
  markers.end("another");
  BOOST_TEST(files() == 1u);
  markers.end_all();
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(two_ends_after_each_other_count) {
  crash_compiling("key");
  BOOST_TEST(markers.begin("other", "what") == 0u);
  markers.end("other");
  for (int run = 0; run < 2; ++run) {
    BOOST_TEST(markers.begin("key", "opencl: exp+sum on a device") == 1u);
    markers.end("key");
  }
  crash_compiling("key");
  BOOST_TEST(markers.begin("key", "what") == 2u);
}

BOOST_AUTO_TEST_CASE(interrupts_have_no_consequences) {
  for (const int signal : {SIGKILL, SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    die_compiling("key", signal);
    BOOST_TEST(markers.records().empty());
  }
  BOOST_TEST(markers.begin("key", "what") == 0u);
  markers.end("key");
  BOOST_TEST(files() == 0u);
  // With safer options neither, nor after an end that does not count yet.
  crash_compiling("key");
  for (int run = 0; run < 3; ++run) die_compiling("key");
  BOOST_TEST(markers.begin("key", "what") == 1u);
  markers.end("key");
  crash_elsewhere("other");
  for (int run = 0; run < 3; ++run) die_compiling("other");
  BOOST_TEST(markers.begin("other", "what") == 0u);
  markers.end("other");
  crash_elsewhere("other");
  BOOST_TEST(markers.begin("other", "what") == 0u);
}

BOOST_AUTO_TEST_CASE(an_end_that_does_not_count_yet_is_forgotten_after_a_day) {
  const auto age = [&] {
    for (const auto& file : fs::directory_iterator(folder))
      fs::last_write_time(file.path(), fs::file_time_type::clock::now() - std::chrono::hours(25));
  };
  crash_elsewhere("key");
  age();
  BOOST_TEST(markers.records().empty());
  crash_elsewhere("key");
  BOOST_TEST(markers.begin("key", "what") == 0u);
  markers.end("key");
  crash_compiling("key");
  age();
  BOOST_TEST(markers.begin("key", "what") == 1u);
  markers.end("key");
}

BOOST_AUTO_TEST_CASE(what_is_left_because_it_hangs_counts_the_second_time) {
  for (int run = 0; run < 2; ++run) {
    BOOST_TEST(markers.begin("key", "what") == 0u);
    markers.leave("key");
  }
  BOOST_TEST(markers.begin("key", "what") == 1u);
}

// What exit() does after the application's handler has seen the fault. It is left before: a handler
// may not take memory.
BOOST_AUTO_TEST_CASE(an_exit_after_a_crash_does_not_take_it_back) {
  const int status = status_of([](compile_markers& own) {
    ::signal(SIGSEGV, [](int) { ::siglongjmp(before_fault, 1); });
    own.begin("key", "what");
    if (sigsetjmp(before_fault, 1) == 0) fault();
    own.end_all();
    ::_exit(3);
  });
  BOOST_TEST(WEXITSTATUS(status) == 3);
  BOOST_TEST(markers.begin("key", "what") == 1u);
}

BOOST_AUTO_TEST_CASE(they_are_listed_until_removed) {
  BOOST_TEST(markers.records().empty());
  crash_compiling("key");
  for (int look = 0; look < 2; ++look) {
    const auto found = markers.records();
    BOOST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found[0].ends == 2u);
    BOOST_TEST(found[0].counted == 1u);
    BOOST_TEST(found[0].what == "opencl: exp+sum on a device");
    if (look == 1) fs::remove(found[0].file);
  }
  BOOST_TEST(markers.records().empty());
  BOOST_TEST(markers.begin("key", "what") == 0u);
}

// A fork of a process that has loaded plugins inherits the list, and perhaps a mutex that a thread
// of its parent held.
BOOST_AUTO_TEST_CASE(a_fork_leaves_those_of_its_parent_and_does_not_hang) {
  const int status = status_of([this](compile_markers& own) {
    tutti::detail::note_plugin_loaded();
    own.begin("key", "what");
    std::atomic<bool> stop = false;
    std::thread busy([&] {
      while (!stop) own.records();  // holds the mutex most of the time
    });
    int worst = 0;
    for (int run = 0; run < 20 && worst == 0; ++run) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(5);
        own.end_all();
        ::_exit(0);
      }
      int ended = -1;
      ::waitpid(child, &ended, 0);
      worst = std::max(worst, ended);
    }
    stop = true;
    busy.join();
    if (worst != 0 || files() != 1) ::_exit(1);
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(one_under_way_is_no_end) {
  BOOST_TEST(markers.begin("key", "what") == 0u);
  BOOST_TEST(markers.begin("key", "what") == 0u);  // another thread
  const int status = status_of([](compile_markers& other) {
    if (other.begin("key", "what") != 0 || !other.records().empty()) ::_exit(1);
    other.end("key");
  });
  BOOST_TEST(status == 0);
  markers.end("key");
  BOOST_TEST(files() == 1u);
  markers.end("key");
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(threads_and_processes_beside_one_after_an_end_know_of_it) {
  crash_compiling("key");
  BOOST_TEST(markers.begin("key", "what") == 1u);
  BOOST_TEST(markers.begin("key", "what") == 1u);
  const int status = status_of([](compile_markers& other) {
    if (other.begin("key", "what") != 1) ::_exit(1);
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(files_that_are_no_markers_count_as_none) {
  crash_compiling("key");
  const fs::path file = markers.records().at(0).file;
  for (const char* text : {"", "running", "running x\n", "settled 99999999999\n", "\xff\n\n"}) {
    write_file(file, text);
    BOOST_TEST(markers.begin("key", "what") == 0u, text);
    markers.end("key");
  }
}

BOOST_AUTO_TEST_CASE(a_crash_in_the_thread_that_compiles_counts_at_once) {
  uint32_t counted = 0;
  for (const auto& crash : visible_crashes()) {
    crash_visibly("key", crash);
    BOOST_TEST(markers.begin("key", "what") == ++counted);
    markers.end("key");
    BOOST_TEST(markers.records().at(0).counted == counted);
  }
  // After an end that did not count: that one may have been the same.
  crash_elsewhere("other");
  crash_visibly("other", [] { std::abort(); });
  BOOST_TEST(markers.begin("other", "what") == 1u);
}

BOOST_AUTO_TEST_CASE(a_crash_counts_for_what_is_compiled_within_a_question_only) {
  const int status = status_of([&](compile_markers& own) {
    own.begin("question", "what");
    own.begin("program", "what");
    std::abort();
  });
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(markers.begin("program", "what") == 1u);
  BOOST_TEST(markers.begin("question", "what") == 0u);
}

BOOST_AUTO_TEST_CASE(what_may_not_be_the_compilers_counts_in_pairs_at_most) {
  // Another thread's fault, a signal from outside, and a crash after the compilation.
  crash_visibly("thread", [] { std::thread([] { std::abort(); }).join(); });
  const pid_t parent = ::getpid();
  crash_visibly("sent", [parent] {
    const pid_t victim = ::getpid();
    if (::fork() == 0) {
      ::close_range(3, ~0U, 0);  // or it would hold the marker for a moment longer
      ::kill(victim, SIGABRT);
      ::_exit(0);
    }
    while (::getppid() == parent) ::pause();
  });
  for (const char* key : {"thread", "sent"}) {
    BOOST_TEST(markers.begin(key, "what") == 0u, key);
    markers.end(key);
  }
  // And one of a thread whose compilation the driver's own threads go on with.
  for (const uint32_t counted : {0u, 1u}) {
    const int end = status_of([](compile_markers& own) {
      own.begin("elsewhere", "what");
      own.continue_elsewhere("elsewhere");
      std::abort();
    });
    BOOST_TEST(WIFSIGNALED(end));
    BOOST_TEST(markers.records().back().counted == counted);
  }
  markers.begin("elsewhere", "what");
  markers.continue_elsewhere("elsewhere");
  std::thread([&] { markers.end("elsewhere"); }).join();
  BOOST_TEST(markers.records().size() == 1u);
  fs::remove(markers.records().at(0).file);
  const int status = status_of([](compile_markers& own) {
    own.begin("key", "what");
    own.end("key");
    std::abort();
  });
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGABRT);
  BOOST_TEST(markers.records().size() == 0u);
}

// What the application has for a fault is called all the same, is there after a compilation, and
// stays where it was put there during one.
BOOST_AUTO_TEST_CASE(the_applications_handlers_stay_its_own) {
  const auto installed = [](int signal) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    return now.sa_handler;
  };
  const auto handler = [](int) { ::_exit(7); };
  int status = status_of([&](compile_markers& own) {
    ::signal(SIGSEGV, handler);
    own.begin("key", "what");
    ::signal(SIGBUS, handler);
    own.begin("other", "what");
    own.end("other");
    own.end("key");
    if (installed(SIGSEGV) != handler || installed(SIGBUS) != handler) ::_exit(1);
    if (installed(SIGILL) != SIG_DFL) ::_exit(2);
    own.begin("key", "what");
    fault();
  });
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 7);
  BOOST_TEST(markers.begin("key", "what") == 1u);
  markers.end("key");
  // One that calls what it found there does not go round in circles.
  status = status_of([](compile_markers& own) {
    own.begin("circle", "what");
    struct sigaction ours {};
    ours.sa_sigaction = [](int s, siginfo_t* i, void* c) { found.sa_sigaction(s, i, c); };
    ours.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &ours, &found);
    own.end("circle");
    own.begin("circle", "what");
    ::alarm(20);
    fault();
  });
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGSEGV);
  BOOST_TEST(markers.begin("circle", "what") == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_folder_nothing_is_kept) {
  write_file(outside.path() / "file", "no folder");
  for (const fs::path& place : {fs::path(), outside.path() / "file"}) {
    compile_markers none(place);
    BOOST_TEST(none.begin("key", "what") == 0u);
    none.end("key");
    BOOST_TEST(none.records().empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace markers_test
