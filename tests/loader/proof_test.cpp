// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a device that computes wrongly: it is passed over or refused, the next process
// knows, and asks again where the driver is another.
#include <boost/test/unit_test.hpp>
#include <string>

#include "broken_machine.hpp"

namespace proof_test {

using namespace loader_test;
using tutti_test::count;

namespace {

struct one_device : machine {
  outcome run(const std::string& faults, const std::string& program,
              const std::string& variables) const {
    return start(program, variables + " BROKEN='count=1 shows " + faults + "'");
  }
  outcome compute(const std::string& faults) const {
    return run(faults, std::string(paths::world_program) + " compute", "TUTTI_DEVICE=bad");
  }
  outcome choose(const std::string& faults, const std::string& variables = "") const {
    return run(faults, std::string(paths::world_program) + " default", variables);
  }
};

const std::string program = "bad: program\n";
const std::string wrong = "gets arithmetic of f32 wrong: ";
const std::string right = "sum: 3.75\nsignals: as before\nfallbacks: 0\n";

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_device_that_is_right_is_asked_once, one_device) {
  const outcome first = compute(""), second = compute("");
  for (const outcome& end : {first, second}) BOOST_TEST(end.output.ends_with(right), end.output);
  BOOST_TEST(count(first, program) == count(second, program) + 1, first.output);
  BOOST_TEST(count(first, "warning") == 0u, first.output);
}

BOOST_FIXTURE_TEST_CASE(another_driver_is_asked_again, one_device) {
  BOOST_TEST(count(compute("lie=arithmetic.f32"), wrong) == 1u);
  const outcome mended = compute("updated");
  BOOST_TEST(mended.output.ends_with(right), mended.output);
  BOOST_TEST(count(compute(""), wrong) == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_process_that_exits_waits_for_the_question, one_device) {
  const std::string started = (plugins() / "started").string();
  const outcome end =
      run("sleep=" + started, std::string(paths::world_program) + " exit " + started,
          "TUTTI_DEVICE=bad");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end, "bad: awake\n") == 1u, end.output);
  BOOST_TEST(count(end, "error") == 0u, end.output);
}

BOOST_FIXTURE_TEST_CASE(without_the_basics_auto_passes_over_a_device, one_device) {
  const std::string chosen = "devices: bad:0\n";
  for (const std::string lie : {"lie=arithmetic.f32", "lie=transfers"}) {
    BOOST_TEST(choose(lie, "TUTTI_PROOF=off").output.starts_with(chosen));
    for (int i = 0; i < 2; ++i) {
      const outcome end = choose(lie);
      BOOST_TEST(end.status == 0, end.output);
      BOOST_TEST(count(end, chosen) == 0u, end.output);
      BOOST_TEST(count(end, "auto passes over a device: bad:0 (") == 1u, end.output);
    }
  }
  BOOST_TEST(count(choose("updated"), chosen) == 1u);
}

BOOST_FIXTURE_TEST_CASE(without_the_basics_a_named_device_says_so, one_device) {
  const outcome end = compute("lie=arithmetic.f32");
  for (const std::string& part : {std::string("error: bad:0 ("), wrong, std::string(" instead of "),
                                  std::string("TUTTI_PROOF=off")})
    BOOST_TEST(count(end, part) == 1u, end.output);
  BOOST_TEST(count(end, "sum: ") == 0u, end.output);
}

BOOST_FIXTURE_TEST_CASE(doctor_asks_again_and_for_more, one_device) {
  const auto doctor = [&](const std::string& faults) {
    return run(faults, std::string(paths::tutti_program) + " doctor", "TUTTI_DEVICE=bad");
  };
  const outcome lie = doctor("lie=arithmetic.f32");
  BOOST_TEST(lie.status == 1, lie.output);
  BOOST_TEST(count(lie, "PROBLEM bad:0: bad:0 (") == 1u, lie.output);
  BOOST_TEST(count(compute(""), wrong) == 1u);  // it wrote down what it found
  const outcome sorts = doctor("lie=operator.5");
  BOOST_TEST(sorts.status == 1, sorts.output);
  BOOST_TEST(count(sorts, "PROBLEM bad:0: sort/f32: ") == 1u, sorts.output);
  BOOST_TEST(compute("").output.ends_with(right));
  const outcome mended = doctor("");
  BOOST_TEST(count(mended, "PROBLEM bad:0") == 0u, mended.output);
  BOOST_TEST(count(mended, "bad:0: 14 groups of `tutti verify` are right") == 1u, mended.output);
}

}  // namespace proof_test
