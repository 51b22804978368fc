// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a device that computes wrongly: it is passed over or refused, the next process
// knows, and asks again where the driver is another.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using tutti_test::outcome;

std::size_t count(const outcome& end, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = end.output.find(part); at != std::string::npos;
       at = end.output.find(part, at + 1))
    ++n;
  return n;
}

/// A cache of its own for each case.
struct machine {
  tutti_test::temporary_folder folder;

  outcome run(const std::string& variables, const std::string& command) const {
    return tutti_test::run(
        "env TUTTI_DEVICE=liar TUTTI_PROOF=on TUTTI_CACHE_MB=512 TUTTI_CACHE_DIR=" +
        (folder / "cache").string() + " LIAR_SHOWS=1 " + variables + " " + command);
  }
  outcome proven(const std::string& variables, const std::string& what) const {
    return run(variables, tutti_test::beside("proven") + " " + what);
  }
};

const std::string program = "liar: program\n";
const std::string wrong = "gets arithmetic of f32 wrong: ";

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_device_that_is_right_is_asked_once, machine) {
  const outcome first = proven("", "integers"), second = proven("", "integers");
  for (const outcome& end : {first, second})
    BOOST_TEST(end.output.ends_with("right, fallbacks: none\n"), end.output);
  BOOST_TEST(count(first, program) == count(second, program) + 1, first.output);
  BOOST_TEST(count(first, "warning") == 0u, first.output);
}

BOOST_FIXTURE_TEST_CASE(another_driver_is_asked_again, machine) {
  BOOST_TEST(count(proven("LIAR=arithmetic.f32", "integers"), wrong) == 1u);
  const outcome mended = proven("LIAR_DRIVER=2", "integers");
  BOOST_TEST(mended.output.ends_with("right, fallbacks: none\n"), mended.output);
  BOOST_TEST(count(proven("", "integers"), wrong) == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_process_that_exits_waits_for_the_question, machine) {
  const std::string started = (folder / "started").string();
  const outcome end = proven("LIAR_SLEEPS=" + started, "exits " + started);
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "liar: awake\n") == 1u, end.output);
  BOOST_TEST(count(end, "error") == 0u, end.output);
}

BOOST_FIXTURE_TEST_CASE(without_the_basics_auto_passes_over_a_device, machine) {
  for (const std::string lie : {"arithmetic.f32", "transfers"}) {
    const std::string variables = "TUTTI_DEVICE= LIAR=" + lie;
    BOOST_TEST(proven(variables + " TUTTI_PROOF=off", "default").output == "default: liar:0\n");
    for (int i = 0; i < 2; ++i) {
      const outcome end = proven(variables, "default");
      BOOST_TEST(end.status == 0, end.output);
      BOOST_TEST(count(end, "default: liar:0") == 0u, end.output);
      BOOST_TEST(count(end, "auto passes over a device: liar:0 (") == 1u, end.output);
    }
  }
  BOOST_TEST(count(proven("TUTTI_DEVICE= LIAR_DRIVER=2", "default"), "default: liar:0") == 1u);
}

BOOST_FIXTURE_TEST_CASE(without_the_basics_a_named_device_says_so, machine) {
  const outcome end = proven("LIAR=arithmetic.f32", "integers");
  BOOST_TEST(end.status == 1, end.output);
  BOOST_TEST(count(end, "error: liar:0 (") == 1u, end.output);
  BOOST_TEST(count(end, "gets arithmetic of f32 wrong: ") == 1u, end.output);
  BOOST_TEST(count(end, " instead of ") == 1u, end.output);
  BOOST_TEST(count(end, "TUTTI_PROOF=off") == 1u, end.output);
}

BOOST_FIXTURE_TEST_CASE(doctor_asks_again_and_for_more, machine) {
  const std::string doctor = std::string(tutti_test::paths::tutti_program) + " doctor";
  const std::string only = "OCL_ICD_VENDORS=/nowhere";  // the other drivers' answers take long
  const outcome lie = run("LIAR=arithmetic.f32 " + only, doctor);
  BOOST_TEST(lie.status == 1, lie.output);
  BOOST_TEST(count(lie, "PROBLEM liar:0: liar:0 (") == 1u, lie.output);
  BOOST_TEST(count(proven("", "integers"), wrong) == 1u);  // it wrote down what it found
  const outcome sorts = run("LIAR=operator.5 " + only, doctor);
  BOOST_TEST(sorts.status == 1, sorts.output);
  BOOST_TEST(count(sorts, "PROBLEM liar:0: sort/f32: ") == 1u, sorts.output);
  BOOST_TEST(proven("", "integers").output.ends_with("right, fallbacks: none\n"));
  const outcome mended = run(only, doctor);
  BOOST_TEST(count(mended, "PROBLEM liar:0") == 0u, mended.output);
  BOOST_TEST(count(mended, "liar:0: 14 groups of `tutti verify` are right") == 1u, mended.output);
}
