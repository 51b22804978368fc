// SPDX-License-Identifier: Apache-2.0
//
// Compilers as the core uses them: in the background, where work goes on without them, however they
// fare; and ahead, where an evaluation has to wait, all at once.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>

#include "faulty_control.hpp"
#include "tutti_test/command.hpp"

namespace {

using tutti_test::outcome;

struct run_of_work : outcome {
  double seconds = 0;
};

run_of_work promoting(const std::string& what, int count, const std::string& variables = "") {
  const auto start = std::chrono::steady_clock::now();
  run_of_work made{tutti_test::run(variables + " " + tutti_test::beside("promoting") + " " + what +
                                   " " + std::to_string(count))};
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

int count(const std::string& whole, const std::string& part) {
  int n = 0;
  for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1))
    ++n;
  return n;
}

bool has(const outcome& end, const std::string& part) { return count(end.output, part) == 1; }

}  // namespace

BOOST_AUTO_TEST_SUITE(background)

BOOST_AUTO_TEST_CASE(a_compiler_that_refuses_is_said_once) {
  const run_of_work end = promoting("fails", 20);
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(has(end, "20 right\n"), end.output);
  BOOST_TEST(has(end, "20 begun\n"), end.output);  // and none of them twice
  BOOST_TEST(has(end, "stays on the host: "), end.output);
  BOOST_TEST(has(end, "will not compile in the background, as told"), end.output);
}

BOOST_AUTO_TEST_CASE(a_compiler_that_hangs_holds_up_nothing_but_the_end) {
  const run_of_work end = promoting("hangs", 1000, "TUTTI_TIMEOUT=0.5");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(has(end, "1000 right\n"), end.output);
  BOOST_TEST(has(end, "1 begun\n"), end.output);
  BOOST_TEST(has(end, "exit: work is still running after 0.5 s; leaving it"), end.output);
}

// All of them would take five minutes.
BOOST_AUTO_TEST_CASE(exit_drops_a_thousand_programs_in_line) {
  const run_of_work end = promoting("sleeps", 1000);
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(has(end, "1000 right\n"), end.output);
  BOOST_TEST(count(end.output, "leaving it") == 0, end.output);
  BOOST_TEST(end.seconds < 60);
}

BOOST_AUTO_TEST_CASE(what_has_cost_most_is_compiled_first) {
  const run_of_work end = promoting("in_order", 6);
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(has(end, "6 right\n"), end.output);
  BOOST_TEST(has(end, "order 1 5 4 3 2 1\n"), end.output);
  BOOST_TEST(has(end, "6 right when compiled\n"), end.output);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(no_threads)

BOOST_AUTO_TEST_CASE(work_goes_on_where_there_is_no_thread_for_a_compiler) {
  const run_of_work end = promoting("no_threads", 20);
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(has(end, "20 right\n"), end.output);
  BOOST_TEST(has(end, "no thread 20 times\n"), end.output);
  BOOST_TEST(has(end, "0 begun\n"), end.output);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ahead)

// Each of them waits until another one is under way.
BOOST_AUTO_TEST_CASE(programs_of_an_evaluation_are_compiled_at_once_on_a_gpu) {
  if (std::thread::hardware_concurrency() < 2) return;
  tutti_test::compile_together(2);
  const tutti::array x = tutti::arange(12, tutti::dtype::f32).reshape({3, 4});
  const tutti::array sums = tutti::sum(tutti::exp(x * 0.f), 0);
  const tutti::array maxima = tutti::max(tutti::sin(x * 0.f) + x, 1);
  const tutti::array whole = tutti::sum(x) * sums;
  tutti::eval({sums, maxima, whole});
  BOOST_TEST(sums.to_vector<float>()[3] == 3.f);
  BOOST_TEST(maxima.to_vector<float>()[2] == 11.f);
  BOOST_TEST(whole.to_vector<float>()[0] == 198.f);
  const int most = tutti_test::compile_together(0);
  BOOST_TEST(most >= 2);
  BOOST_TEST(most <= static_cast<int>(std::min(16u, std::thread::hardware_concurrency())));
}

BOOST_AUTO_TEST_SUITE_END()
