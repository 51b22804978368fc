// SPDX-License-Identifier: Apache-2.0
//
// A run that is killed again and again comes to the weights of one that is not, bit for bit.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"

namespace {

using tutti_test::outcome;

// Short enough for a test, and longer than it takes a process to begin.
constexpr int steps = 120;

std::string command(const std::filesystem::path& folder) {
  return tutti_test::beside("checkpoint_run") + " '" + folder.string() + "' " +
         std::to_string(steps);
}

}  // namespace

BOOST_AUTO_TEST_CASE(killed_runs_end_the_same) {
  const tutti_test::temporary_folder outside;
  const auto begin = std::chrono::steady_clock::now();
  const outcome whole = tutti_test::run(command(outside / "whole"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  BOOST_TEST_REQUIRE(whole.status == 0, whole.output);
  BOOST_TEST(whole.output.find("0x") != std::string::npos);
  for (const char* signal : {"KILL", "TERM"}) {
    int killed = 0;
    outcome last;
    // Killed at other moments each time, as long as the run goes on being shorter than that.
    for (int i = 0; i < 40; ++i) {
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%.3f", took.count() * (0.3 + 0.06 * (i % 7)));
      const std::string shell =
          "timeout -s " + std::string(signal) + " " + seconds + " " + command(outside / signal);
      last = tutti_test::run(shell);
      if (last.status == 0) break;
      ++killed;
    }
    BOOST_TEST(killed > 0, signal);
    if (last.status != 0) last = tutti_test::run(command(outside / signal));
    BOOST_TEST(last.status == 0, last.output);
    BOOST_TEST(last.output == whole.output, signal);
  }
}
