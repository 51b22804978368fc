// SPDX-License-Identifier: Apache-2.0
//
// The programs of an evaluation are compiled before the first of them is launched, several at once.
#include "faulty_control.hpp"
#include "tutti_test/arrays.hpp"

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
