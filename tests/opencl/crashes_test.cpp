// SPDX-License-Identifier: Apache-2.0
//
// A compiler that crashes takes an application down twice for each way of building a program: the
// next processes build that program with safer options, then one runs it on the reference device.
#include "tutti_test/arrays.hpp"
#include "tutti_test/command.hpp"

BOOST_AUTO_TEST_SUITE(work, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(an_exponential_and_a_sum) {
  const array x = tutti::arange(12, tutti::dtype::f32).reshape({3, 4});
  BOOST_TEST(tutti::exp(x.T() * 0)[1][2].item() == 1);
  const array rows = tutti::sum(x + tutti::exp(x * 0), 1);
  BOOST_TEST(rows[2].item() == 42);
  BOOST_TEST(tutti::concatenate({tutti::exp(x * 0), x}, 1)[2][7].item() == 11);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct fixture {
  tutti_test::temporary_folder folder;

  tutti_test::outcome run(const std::string& variables) const {
    return tutti_test::run(
        "env TUTTI_CACHE_MB=512 TUTTI_CACHE_DIR='" + (folder / "cache").string() +
        "' LD_PRELOAD=" + tutti_test::paths::crashing_compiler + " " + variables + " " +
        tutti_test::beside("test_opencl_crashes") + " --catch_system_errors=no --run_test=work");
  }
  // Processes that crash, until one does the work: how many, and that one.
  std::pair<int, tutti_test::outcome> run_until_done(const std::string& variables) const {
    int crashes = 0;
    tutti_test::outcome end = run(variables);
    for (; end.status != 0 && crashes < 20; ++crashes) {
      BOOST_REQUIRE(!has(end, "error: in"));
      end = run(variables);
    }
    BOOST_TEST(end.status == 0, end.output);
    return {crashes, end};
  }
};

constexpr int programs = 3;  // at most, that call exp in the work above

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_program_that_crashed_the_compiler_is_built_with_safer_options, fixture) {
  const auto [crashes, end] = run_until_done("");
  BOOST_TEST(crashes > 1);
  BOOST_TEST(crashes <= 2 * programs);
  BOOST_TEST(has(end, "compiled with safer options"), end.output);
  BOOST_TEST(has(end, "exp"), end.output);
}

// PoCL generates machine code when a kernel is launched for the first time.
BOOST_FIXTURE_TEST_CASE(one_that_crashed_it_at_its_launch_as_well, fixture) {
  const auto [crashes, end] = run_until_done("TUTTI_TEST_CRASH=launch");
  BOOST_TEST(crashes > 0);
  BOOST_TEST(has(end, "compiled with safer options"), end.output);
}

BOOST_FIXTURE_TEST_CASE(one_that_crashes_it_again_runs_on_the_host, fixture) {
  const auto [crashes, end] = run_until_done("TUTTI_TEST_CRASH=always");
  BOOST_TEST(crashes > 3);
  BOOST_TEST(crashes % 4 == 0);
  BOOST_TEST(crashes <= 4 * programs);
  BOOST_TEST(has(end, "runs on cpu:0"), end.output);
  const auto refused = run("TUTTI_TEST_CRASH=always TUTTI_FALLBACK=error");
  BOOST_TEST(refused.status != 0);
  BOOST_TEST(has(refused, "TUTTI_FALLBACK=error forbids"), refused.output);
}
