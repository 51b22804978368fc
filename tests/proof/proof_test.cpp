// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a device that computes wrongly: right results all the same, one warning, a
// verdict that the next process knows, and none where the verdict is damaged or the driver another.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "plugin/proof/asking.hpp"
#include "plugin/proof/verdicts.hpp"
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
    return tutti_test::run("env TUTTI_DEVICE=liar TUTTI_PROOF=on TUTTI_CACHE=on TUTTI_CACHE_DIR=" +
                           (folder / "cache").string() + " LIAR_SHOWS=1 " + variables + " " +
                           command);
  }
  outcome proven(const std::string& variables, const std::string& what) const {
    return run(variables, tutti_test::beside("proven") + " " + what);
  }

  /// f(path) for each file that keeps something.
  template <class F>
  std::size_t each_entry(F&& f) const {
    std::size_t n = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder / "cache")) {
      if (file.path().extension() != ".tutti") continue;
      f(file.path());
      ++n;
    }
    return n;
  }
};

const std::string said = "no products of f32 on this device: ";
const std::string product = "liar: operator 1\n";

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_device_that_is_right_is_asked_once, machine) {
  const outcome first = proven("", "products");
  BOOST_TEST(first.output.ends_with("right, fallbacks: none\n"), first.output);
  BOOST_TEST(count(first, product) == 3u, first.output);  // the question, and two products
  const outcome second = proven("", "products");
  BOOST_TEST(second.output == product + product + "right, fallbacks: none\n");
  BOOST_TEST(count(first, "warning") == 0u, first.output);
}

BOOST_FIXTURE_TEST_CASE(a_wrong_operator_runs_elsewhere_and_is_named_once, machine) {
  const outcome first = proven("LIAR=operator.1", "products");
  BOOST_TEST(first.output.ends_with("right, fallbacks: some\n"), first.output);
  BOOST_TEST(count(first, product) == 1u, first.output);
  BOOST_TEST(count(first, "warning") == 1u, first.output);
  BOOST_TEST(count(first, said) == 1u, first.output);
  BOOST_TEST(count(first, " instead of ") == 1u, first.output);
  // The next process knows, and says so.
  const outcome second = proven("LIAR=operator.1", "products");
  BOOST_TEST(second.output.ends_with("right, fallbacks: some\n"), second.output);
  BOOST_TEST(count(second, product) == 0u, second.output);
  BOOST_TEST(count(second, said) == 1u, second.output);
  // Other families are as good as before.
  const outcome other = proven("LIAR=operator.1", "sorted");
  BOOST_TEST(other.output.ends_with("right, fallbacks: none\n"), other.output);
}

BOOST_FIXTURE_TEST_CASE(without_the_proof_the_lie_is_believed, machine) {
  const outcome end = proven("LIAR=operator.1 TUTTI_PROOF=off", "products");
  BOOST_TEST(end.output == product + "wrong, fallbacks: none\n");
}

BOOST_FIXTURE_TEST_CASE(wrong_programs_run_elsewhere, machine) {
  BOOST_TEST(proven("LIAR=arithmetic.i64 TUTTI_PROOF=off", "integers").output ==
             "wrong, fallbacks: none\n");
  for (int i = 0; i < 2; ++i) {
    const outcome end = proven("LIAR=arithmetic.i64", "integers");
    BOOST_TEST(end.output.ends_with("right, fallbacks: some\n"), end.output);
    BOOST_TEST(count(end, "no arithmetic of integers on this device: ") == 1u, end.output);
    BOOST_TEST(count(end, "warning") == 1u, end.output);
  }
}

BOOST_FIXTURE_TEST_CASE(fallbacks_may_be_forbidden, machine) {
  const outcome end = proven("LIAR=operator.5 TUTTI_FALLBACK=error", "sorted");
  BOOST_TEST(end.status == 1, end.output);
  BOOST_TEST(count(end, "error: sort: liar:0 (") == 1u, end.output);
  BOOST_TEST(count(end, "TUTTI_FALLBACK=error forbids") == 1u, end.output);
  BOOST_TEST(count(end, "ascending sorts of f32: ") == 1u, end.output);
}

BOOST_FIXTURE_TEST_CASE(a_damaged_verdict_is_no_verdict, machine) {
  proven("LIAR=operator.1", "products");
  const auto damage = [](const std::filesystem::path& file) {
    const std::string whole = tutti_test::read_bytes(file);
    std::string changed = whole;
    changed[changed.size() - 2] ^= 1;
    std::ofstream(file, std::ios::binary) << changed;
  };
  BOOST_TEST(each_entry(damage) > 0u);
  const outcome end = proven("LIAR=operator.1", "products");
  BOOST_TEST(end.output.ends_with("right, fallbacks: some\n"), end.output);
  BOOST_TEST(count(end, product) == 1u, end.output);
}

BOOST_FIXTURE_TEST_CASE(another_driver_is_asked_again, machine) {
  BOOST_TEST(count(proven("LIAR=operator.1", "products"), said) == 1u);
  const outcome mended = proven("LIAR_DRIVER=2", "products");
  BOOST_TEST(mended.output.ends_with("right, fallbacks: none\n"), mended.output);
  BOOST_TEST(count(mended, product) == 3u, mended.output);
  BOOST_TEST(count(proven("", "products"), said) == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_driver_that_crashes_in_a_question_does_so_once, machine) {
  for (const std::string how : {"LIAR_CRASH=1", "LIAR_ABORT=1"}) {
    BOOST_TEST(proven(how + " LIAR_DRIVER=" + how.substr(5, 1), "products").status != 0);
    for (int i = 0; i < 2; ++i) {
      const outcome end = proven(how + " LIAR_DRIVER=" + how.substr(5, 1), "products");
      BOOST_TEST(end.status == 0, end.output);
      BOOST_TEST(end.output.ends_with("right, fallbacks: some\n"), end.output);
      BOOST_TEST(count(end, said + "asked by a process beside this one: the process ended") == 1u,
                 end.output);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(an_end_that_was_not_the_drivers_is_held_against_nothing, machine) {
  BOOST_TEST(proven("LIAR_CRASH=1", "products").status != 0);
  const outcome end = proven("", "products");
  BOOST_TEST(end.output.ends_with("right, fallbacks: none\n"), end.output);
}

BOOST_FIXTURE_TEST_CASE(a_device_that_hangs_in_a_question_is_left_alone_with_it, machine) {
  // The second process has a child ask, and from then on nobody does.
  const std::string texts[] = {"no answer within 3 s",
                               "asked by a process beside this one: no answer within 3 s",
                               "asked by a process beside this one: no answer within 3 s"};
  for (int i = 0; i < 3; ++i) {
    const outcome end = proven("LIAR_HANG=1 TUTTI_PROOF=3", "products");
    BOOST_TEST(end.status == 0, end.output);
    BOOST_TEST(end.output.ends_with("right, fallbacks: some\n"), end.output);
    BOOST_TEST(count(end, said + texts[i]) == 1u, end.output);
    BOOST_TEST(count(end, "warning") == 1u, end.output);
    if (i == 2) BOOST_TEST(count(end, product) == 0u, end.output);
  }
  // What was answered before counts, and nothing else is asked while it hangs.
  proven("", "sorted");
  const outcome other = proven("LIAR_HANG=1 TUTTI_PROOF=3 LIAR_DRIVER=2", "both");
  BOOST_TEST(other.output.ends_with("right, fallbacks: some\n"), other.output);
  BOOST_TEST(count(other, "no ascending sorts of f32 on this device: not asked") == 1u,
             other.output);
}

BOOST_AUTO_TEST_CASE(a_question_that_takes_too_long_is_given_up_and_heard_late) {
  std::promise<void> go_on, has_come;
  const auto question = [&] { go_on.get_future().wait(); };
  const auto late = [&] { has_come.set_value(); };
  BOOST_TEST(!tutti::detail::asked_within(0.01, question, late));
  // Nobody who exits waits for it.
  BOOST_TEST(tutti::detail::wait_for_proofs(std::chrono::steady_clock::now()));
  bool has_asked = false;
  const auto never = [] { BOOST_ERROR("late"); };
  BOOST_TEST(tutti::detail::asked_within(
      1e300, [&] { has_asked = true; }, never));
  BOOST_TEST(has_asked);
  go_on.set_value();
  has_come.get_future().wait();
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

BOOST_FIXTURE_TEST_CASE(doctor_shows_the_verdicts_and_asks_again, machine) {
  const std::string doctor = std::string(tutti_test::paths::tutti_program) + " doctor";
  const std::string only = "OCL_ICD_VENDORS=/nowhere";  // the other drivers' answers take long
  const outcome wrong = run("LIAR=operator.1 " + only, doctor);
  BOOST_TEST(wrong.status == 1, wrong.output);
  BOOST_TEST(count(wrong, "PROBLEM liar:0: products of f32: ") == 1u, wrong.output);
  BOOST_TEST(count(wrong, "ok      liar:0: ascending sorts of f32: right") == 1u, wrong.output);
  BOOST_TEST(count(wrong, "ok      liar:0: denormals of f32: kept") == 1u, wrong.output);
  BOOST_TEST(count(wrong, "ok      liar:0: division of f32: correctly rounded") == 1u,
             wrong.output);
  BOOST_TEST(count(proven("", "products"), said) == 1u);  // it wrote down what it found
  const outcome mended = run(only, doctor);
  BOOST_TEST(count(mended, "PROBLEM liar:0") == 0u, mended.output);
  BOOST_TEST(proven("", "products").output.ends_with("right, fallbacks: none\n"));
}

BOOST_AUTO_TEST_CASE(verdicts_are_read_as_they_were_written_or_not_at_all) {
  tutti::detail::verdicts v;
  v.families["products of f32"] = "5 instead of 4\tat 3\nof 7";
  v.families["transfers"] = "";
  v.facts["denormals of f32"] = "kept";
  const std::string text = to_text(v);
  const auto read = tutti::detail::parse_verdicts(text);
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->families.at("products of f32") == "5 instead of 4 at 3 of 7");
  BOOST_TEST(read->families.at("transfers") == "");
  BOOST_TEST(read->facts.at("denormals of f32") == "kept");
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto part = tutti::detail::parse_verdicts(std::string_view(text).substr(0, n));
    if (part) BOOST_TEST(text[n - 1] == '\n');  // a whole number of lines
  }
  for (const char* more : {"right\tx\ty\n", "wrong\tx\t\n", "maybe\tx\t\n", "right\t\t\n", "x"})
    BOOST_TEST(!tutti::detail::parse_verdicts(text + more).has_value(), more);
}
