// SPDX-License-Identifier: Apache-2.0
//
// What arrays do in static memory, in threads that outlive main, and in forks: nothing is used
// after it is gone, nothing hangs, and who computes too late or in a fork is told so.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tutti_test/command.hpp"

namespace {

tutti_test::outcome lifetimes(const std::string& what) {
  return tutti_test::run("timeout 100 " + tutti_test::beside("lifetimes") + " " + what);
}

const std::string exiting = ": the process is exiting, so nothing can be computed any more\n";

// What a fork says that computes.
std::string refusals() {
  const std::string why =
      ": this process was forked from one that had loaded Tutti's plugins; drivers do not survive "
      "fork(): compute in the parent, or start a new program (exec), or fork before the first use "
      "of a device\n";
  return "eval" + why + "read" + why + "array" + why + "device" + why;
}

}  // namespace

BOOST_AUTO_TEST_CASE(static_arrays_are_destroyed_after_all_that_is_local_to_threads) {
  for (int i = 0; i < 3; ++i) {
    const auto end = lifetimes("static");
    BOOST_TEST(end.status == 0, end.output);
    BOOST_TEST(end.output == "");
  }
}

BOOST_AUTO_TEST_CASE(computing_after_exit_has_begun_is_refused) {
  const auto end = lifetimes("late");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(end.output ==
             "eval" + exiting + "read" + exiting + "array" + exiting + "chain: done\n");
}

BOOST_AUTO_TEST_CASE(a_thread_that_computes_while_the_process_exits) {
  const auto end = lifetimes("thread");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(end.output == "");
}

BOOST_AUTO_TEST_CASE(a_fork_may_exit_and_exec_and_is_told_that_it_cannot_compute) {
  const auto end = lifetimes("fork");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(end.output == "computes: " + refusals() + "0\nof a fork: " + refusals() +
                               "0\n0\nexits: 0\nexecs: 0\nparent: 499500\n");
}

BOOST_AUTO_TEST_CASE(a_fork_before_the_first_use_computes) {
  const auto end = lifetimes("fork-first");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(end.output == "499500\nchild: 0\nparent: 499500\n");
}
