// SPDX-License-Identifier: Apache-2.0
//
// Compilers and their folders that fail beside work on the host (TUTTI_TIER=auto), in this process
// and in one of their own: results are right, the process goes on and ends quickly, and what could
// not be compiled is said once.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using tutti::array;
using seconds = std::chrono::duration<double>;

bool is_compiled() { return tutti::stats().background_compiles > 0; }

bool is_refused() { return tutti::stats().background_refusals > 0; }

// In whichever process.
bool is_begun() {
  std::error_code missing;
  return std::filesystem::exists(std::getenv("TUTTI_TEST_BUILDS"), missing);
}

// The same again and again, until `ends`, which is told how often and how long that was. Some
// hundred times are worth a compiler on any machine.
template <class Condition>
void exponentials_until(Condition&& ends) {
  constexpr int64_t count = 1 << 20;
  const array x = (tutti::arange(count).astype(tutti::dtype::f32) * 1e-6f).eval();
  x.wait();
  std::vector<float> first;
  seconds computed{0};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  for (int times = 0; !ends(times, computed); ++times) {
    const auto begin = std::chrono::steady_clock::now();
    BOOST_REQUIRE(begin < limit);
    const array y = tutti::exp(x) * 2.f + 1.f;
    y.eval().wait();
    computed += std::chrono::steady_clock::now() - begin;
    if (times % 64 != 0 && !is_compiled()) continue;
    const std::vector<float> now = y.to_vector<float>();
    if (first.empty()) {
      first = now;
      for (const std::size_t i : {std::size_t{0}, std::size_t{1001}, std::size_t{count - 1}})
        BOOST_TEST(std::fabs(now[i] - (2 * std::exp(static_cast<double>(i) * 1e-6) + 1)) < 2e-6);
    }
    BOOST_REQUIRE(now == first);
  }
}

constexpr int a_while = 300;

}  // namespace

BOOST_AUTO_TEST_SUITE(work, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(until_a_compiler_is_at_it) {
  exponentials_until([](int, seconds) { return is_begun(); });
  exponentials_until([](int times, seconds) { return times == 20; });
  BOOST_TEST(!is_compiled());
  if (std::getenv("TUTTI_TEST_KILLED") != nullptr) ::raise(SIGKILL);
}

BOOST_AUTO_TEST_CASE(until_it_is_compiled) {
  exponentials_until([](int, seconds) { return is_compiled(); });
}

BOOST_AUTO_TEST_CASE(until_it_is_refused) {
  exponentials_until([](int, seconds) { return is_refused(); });
  BOOST_TEST(!is_compiled());
}

// Whoever waits for all of its children waits for no compiler, and whoever reads what this process
// writes learns that it has ended, or closed it.
BOOST_AUTO_TEST_CASE(beside_a_process_that_is_nobodys_child) {
  int ends[2];
  BOOST_REQUIRE(::pipe(ends) == 0);
  exponentials_until([](int, seconds) { return is_compiled(); });
  BOOST_TEST((::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD));
  ::close(ends[1]);
  pollfd reader{ends[0], POLLIN, 0};
  char byte = 0;
  BOOST_TEST(::poll(&reader, 1, 20'000) == 1);
  BOOST_TEST(::read(ends[0], &byte, 1) == 0);
}

BOOST_AUTO_TEST_CASE(on_one_core_with_a_folder_that_disappears) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  BOOST_REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  exponentials_until([](int times, seconds) { return times == 3; });
  std::filesystem::remove_all(std::getenv("TUTTI_CACHE_DIR"));
  exponentials_until([](int, seconds) { return is_compiled(); });
}

BOOST_AUTO_TEST_CASE(for_a_while) {
  exponentials_until([](int times, seconds) { return times == a_while; });
  BOOST_TEST(!is_compiled());
}

BOOST_AUTO_TEST_CASE(with_a_file_in_place_of_the_folder) {
  exponentials_until([](int times, seconds) { return times == 3; });
  const std::filesystem::path folder = std::getenv("TUTTI_CACHE_DIR");
  std::filesystem::remove_all(folder);
  std::ofstream(folder) << "no folder";
  exponentials_until([](int times, seconds) { return times == a_while; });
  BOOST_TEST(!is_compiled());
}

// Far less than a compilation is thought to take, far more than one of what is kept; and the time
// for one.
BOOST_AUTO_TEST_CASE(for_some_milliseconds) {
  exponentials_until(
      [](int, seconds computed) { return computed > std::chrono::milliseconds(60); });
  const bool expects = std::getenv("TUTTI_TEST_KEPT") != nullptr;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(expects ? 60 : 0);
  while (!is_compiled() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  BOOST_TEST(is_compiled() == expects);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct fixture {
  const tutti_test::temporary_folder folder;
  double took = 0;
  std::string compiler_process = "off";  // TUTTI_COMPILER_PROCESS

  tutti_test::outcome run(const std::string& work, const std::string& compiler,
                          const std::string& variables = "") {
    std::filesystem::remove(folder / "builds");
    const auto start = std::chrono::steady_clock::now();
    const tutti_test::outcome end = tutti_test::run(
        "env -u POCL_CACHE_DIR TUTTI_CACHE=on TUTTI_CACHE_DIR=" + (folder / "cache").string() +
        " LD_PRELOAD=" + tutti_test::paths::crashing_compiler + " TUTTI_TEST_CRASH=" + compiler +
        " TUTTI_TEST_BUILDS=" + (folder / "builds").string() + " TUTTI_COMPILER_PROCESS=" +
        compiler_process + " " + variables + " " + tutti_test::beside("test_opencl_bad_luck") +
        " --catch_system_errors=no --run_test=work/" + work);
    took = seconds(std::chrono::steady_clock::now() - start).count();
    return end;
  }
};

int count(const tutti_test::outcome& end, const std::string& part) {
  int n = 0;
  for (std::size_t at = end.output.find(part); at != std::string::npos;
       at = end.output.find(part, at + 1))
    ++n;
  return n;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_program_that_is_refused_stays_on_the_host, fixture) {
  for (const char* how : {"fails", "slowly"}) {  // the second ends while it compiles
    const auto end = run("until_a_compiler_is_at_it", how);
    BOOST_TEST(end.status == 0, end.output);
    BOOST_TEST(count(end, "stays on the host: ") == 1, end.output);
    BOOST_TEST(count(end, "CL_BUILD_PROGRAM_FAILURE") == 1, end.output);
  }
}

BOOST_FIXTURE_TEST_CASE(a_compiler_that_hangs_is_left_behind, fixture) {
  const auto end = run("until_a_compiler_is_at_it", "hangs", "TUTTI_TIMEOUT=0.5");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "exit: work is still running after 0.5 s; leaving it") == 1, end.output);
  BOOST_TEST(took < 60);
}

// It takes the process along, after the second time without the passes that optimise.
BOOST_FIXTURE_TEST_CASE(a_compiler_that_crashes_is_asked_four_times, fixture) {
  for (int crashes = 0; crashes < 4; ++crashes) {
    const auto end = run("for_a_while", "always");
    BOOST_TEST(end.status == 128 + SIGABRT, end.output);
  }
  const auto end = run("for_a_while", "always");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host: ") == 1, end.output);
}

// What killed it may be its user.
BOOST_FIXTURE_TEST_CASE(a_process_that_is_killed_while_it_compiles_keeps_nothing_from_compiling,
                        fixture) {
  BOOST_TEST(run("until_a_compiler_is_at_it", "hangs", "TUTTI_TEST_KILLED=1").status ==
             128 + SIGKILL);
  // What compiles now also fills the cache.
  const auto end = run("until_it_is_compiled", "no", "TUTTI_LOG=info");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "safer options") == 0, end.output);
  // What has been compiled before is compiled again after a twentieth of the time.
  const auto again = run("for_some_milliseconds", "no", "TUTTI_TEST_KEPT=1");
  BOOST_TEST(again.status == 0, again.output);
}

BOOST_FIXTURE_TEST_CASE(what_was_never_compiled_has_to_cost_more_first, fixture) {
  const auto end = run("for_some_milliseconds", "fails");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host") == 0, end.output);
}

BOOST_FIXTURE_TEST_CASE(a_folder_that_disappears_is_made_again, fixture) {
  const auto end = run("on_one_core_with_a_folder_that_disappears", "no");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host") == 0, end.output);
}

BOOST_FIXTURE_TEST_CASE(without_a_folder_work_stays_on_the_host, fixture) {
  const auto end = run("with_a_file_in_place_of_the_folder", "no");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host: ") == 1, end.output);
}

BOOST_FIXTURE_TEST_CASE(nor_is_anything_compiled_onto_a_full_disk, fixture) {
  const auto end = run("for_a_while", "full");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host: ") == 1, end.output);
  BOOST_TEST(count(end, "the disk is full") == 1, end.output);
}

namespace {

// What the compilers do in a process of their own.
struct beside : fixture {
  beside() { compiler_process = "on"; }

  // Those that this fixture's runs have started.
  int compilers() const {
    int n = 0;
    const std::string mine = "TUTTI_CACHE_DIR=" + (folder / "cache").string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string words = tutti_test::read_bytes(entry.path() / "cmdline");
      if (words.find("tutti-compiler") == std::string::npos) continue;
      if (tutti_test::read_bytes(entry.path() / "environ").find(mine) != std::string::npos) ++n;
    }
    return n;
  }
  bool are_compilers_gone() const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (compilers() > 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return compilers() == 0;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(in_a_process_of_its_own)

BOOST_FIXTURE_TEST_CASE(a_compiler_is_nobodys_child_and_holds_nothing_open, beside) {
  const auto end = run("beside_a_process_that_is_nobodys_child", "no", "TUTTI_LOG=info");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "another process compiled ") >= 1, end.output);
  BOOST_TEST(are_compilers_gone());
  // What it compiled is known to be kept.
  const auto again = run("for_some_milliseconds", "no", "TUTTI_TEST_KEPT=1");
  BOOST_TEST(again.status == 0, again.output);
}

BOOST_FIXTURE_TEST_CASE(a_program_that_is_refused_stays_on_the_host, beside) {
  const auto end = run("until_it_is_refused", "fails");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host: ") == 1, end.output);
  BOOST_TEST(count(end, "CL_BUILD_PROGRAM_FAILURE") == 1, end.output);
}

BOOST_FIXTURE_TEST_CASE(a_compiler_that_hangs_does_not_hold_up_the_end, beside) {
  const auto end = run("until_a_compiler_is_at_it", "hangs");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "leaving it") == 0, end.output);
  BOOST_TEST(took < 60);  // after which exit() leaves what it waits for
  BOOST_TEST(are_compilers_gone());
}

BOOST_FIXTURE_TEST_CASE(a_compiler_that_crashes_takes_nothing_along, beside) {
  const auto end = run("until_it_is_refused", "always");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "stays on the host: ") == 1, end.output);
  const auto next = run("until_it_is_refused", "always");
  BOOST_TEST(next.status == 0, next.output);
  BOOST_TEST(count(next, "stays on the host: ") == 1, next.output);
}

BOOST_FIXTURE_TEST_CASE(or_compiles_with_safer_options_the_third_time, beside) {
  const auto end = run("until_it_is_compiled", "");
  BOOST_TEST(end.status == 0, end.output);
}

BOOST_FIXTURE_TEST_CASE(it_ends_with_a_process_that_is_killed, beside) {
  BOOST_TEST(run("until_a_compiler_is_at_it", "hangs", "TUTTI_TEST_KILLED=1").status ==
             128 + SIGKILL);
  BOOST_TEST(are_compilers_gone());
  const auto end = run("until_it_is_compiled", "no", "TUTTI_LOG=info");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "safer options") == 0, end.output);
}

BOOST_AUTO_TEST_SUITE_END()
