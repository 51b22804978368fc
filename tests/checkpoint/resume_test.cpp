// SPDX-License-Identifier: Apache-2.0
//
// A run that is killed again and again comes to the weights of one that is not, bit for bit.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <vector>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"

namespace {

using tutti_test::outcome;

constexpr int steps = 60;

std::string command(const std::filesystem::path& folder) {
  return tutti_test::beside("checkpoint_run") + " '" + folder.string() + "' " +
         std::to_string(steps);
}

/// The step of the newest checkpoint, by the names of the files; 0 where there is none.
int newest_step(const std::filesystem::path& folder) {
  int out = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name.ends_with(".tutti")) out = std::max(out, std::stoi(name.substr(name.find('-') + 1)));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(killed_runs_end_the_same) {
  const tutti_test::temporary_folder outside;
  const outcome whole = tutti_test::run(command(outside / "whole"));
  BOOST_TEST_REQUIRE(whole.status == 0, whole.output);
  BOOST_TEST(whole.output.find("0x") != std::string::npos);
  for (const int signal : {SIGKILL, SIGTERM}) {
    const std::filesystem::path folder = outside / std::to_string(signal);
    // Microseconds after the first step of each: within the saving of later ones, mostly.
    int step = 0;
    for (const int delay : {0, 0, 700, 1900, 3300, 5900, 9700, 0}) {
      if (step == steps) break;  // on a machine that lets no thread send it
      const outcome ended = tutti_test::run(command(folder) + " " + std::to_string(signal) + " " +
                                            std::to_string(delay));
      BOOST_TEST(ended.status == 128 + signal, ended.output);
      BOOST_TEST(newest_step(folder) > step);
      step = newest_step(folder);
    }
    BOOST_TEST(step > 2);
    const outcome last = tutti_test::run(command(folder));
    BOOST_TEST(last.status == 0, last.output);
    BOOST_TEST(last.output == whole.output, signal);
  }
}
