// SPDX-License-Identifier: Apache-2.0
//
// Operators with several results, on a device that can be told to fail: one launch gives memory to
// all results that are alive, whoever is asked for first, and a failure reaches all of them.
#include "faulty_control.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace linalg = tutti::linalg;

array matrix() { return array::from<double>({4, 1, 2, 3}).reshape({2, 2}); }

std::uint64_t launches_of(const std::function<void()>& f) {
  const std::uint64_t before = tutti::stats().launches;
  f();
  return tutti::stats().launches - before;
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_result_brings_the_others) {
  const array a = matrix();
  const auto [u, s, vh] = linalg::svd(a);
  BOOST_TEST(launches_of([&] { s.eval(); }) == 1u);
  BOOST_TEST(launches_of([&] { tutti::eval({u, vh}); }) == 0u);
  BOOST_TEST(std::abs(s.to_vector<double>()[0] * s.to_vector<double>()[1] - 10) < 1e-13);
  BOOST_TEST(std::abs(std::abs(linalg::det(vh).item()) - 1) < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_single_result_is_enough) {
  array s;
  {
    const auto all = linalg::svd(matrix());
    s = all.s;
  }
  const std::uint64_t held = tutti::stats().pool_bytes_in_use;
  BOOST_TEST(launches_of([&] { s.eval(); }) == 1u);
  s.wait();
  // Nothing is kept of what nobody wants.
  BOOST_TEST(tutti::stats().pool_bytes_in_use <= held + 256);
  array q;
  q = linalg::qr(matrix()).q;
  BOOST_TEST(std::abs(std::abs(linalg::det(q).item()) - 1) < 1e-13);
}

BOOST_AUTO_TEST_CASE(results_on_both_sides_of_an_evaluation) {
  const auto [w, v] = linalg::eigh(matrix() + tutti::matrix_transpose(matrix()));
  const array sum = tutti::sum(w);
  BOOST_TEST(std::abs(sum.item() - 14) < 1e-13);
  const array later = tutti::matmul(v * tutti::expand_dims(w, -2), tutti::matrix_transpose(v));
  BOOST_TEST(launches_of([&] { later.eval(); }) >= 1u);
  BOOST_TEST(std::abs(later.to_vector<double>()[1] - 3) < 1e-13);
}

BOOST_AUTO_TEST_CASE(equal_calls_are_one_where_that_gives_all_results) {
  const array a = matrix();
  a.wait();
  const auto first = linalg::qr(a), second = linalg::qr(a);
  BOOST_TEST(launches_of([&] { tutti::eval({first.q, first.r, second.q, second.r}); }) == 1u);
  BOOST_TEST(first.q.to_vector<double>() == second.q.to_vector<double>());
  array q = linalg::qr(a).q, r = linalg::qr(a).r;
  tutti::eval({q, r});
  BOOST_TEST(q.to_vector<double>() == first.q.to_vector<double>());
  BOOST_TEST(r.to_vector<double>() == first.r.to_vector<double>());
}

BOOST_AUTO_TEST_CASE(a_result_read_in_another_order_of_positions) {
  const auto [q, r] = linalg::qr(matrix());
  const array sum = tutti::matrix_transpose(q) + q + tutti::flip(r);
  BOOST_TEST(sum.to_vector<double>().size() == 4u);
  const auto found = tutti::matmul(q, r).to_vector<double>();
  BOOST_TEST(std::abs(found[2] - 2) < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_launch_that_fails_can_be_repeated) {
  const array a = matrix();
  a.wait();
  const auto [q, r] = linalg::qr(a);
  // The pool may have blocks of that size; a large matrix needs new ones.
  const array big = tutti::sin(tutti::arange(90000, tutti::dtype::f32)).reshape({300, 300});
  big.wait();
  const auto large = linalg::qr(big);
  arm(fault_out_of_memory, -1);
  BOOST_CHECK_THROW(large.q.eval(), tutti::device_error);
  arm(fault_out_of_memory, 0);
  BOOST_TEST(std::abs(tutti::matmul(q, r).to_vector<double>()[0] - 4) < 1e-13);
  BOOST_TEST(large.r.to_vector<float>().size() == 90000u);
}

BOOST_AUTO_TEST_CASE(a_failure_reaches_all_results_and_none_need_be_used) {
  const array bad = tutti::full({2, 2}, 1.0, tutti::dtype::f64);
  {
    const auto unused = linalg::lu(bad);
    BOOST_CHECK_THROW(linalg::inv(bad).to_vector<double>(), tutti::device_error);
  }
  const array solved = linalg::solve(bad, matrix());
  const array both = solved + 1, other = solved * 2;
  BOOST_CHECK_THROW(solved.to_vector<double>(), tutti::device_error);
  BOOST_CHECK_THROW(both.to_vector<double>(), tutti::device_error);
  BOOST_CHECK_THROW(other.to_vector<double>(), tutti::device_error);
  BOOST_TEST(std::abs(linalg::det(matrix()).item() - 10) < 1e-13);
}

BOOST_AUTO_TEST_CASE(where_the_device_has_none_all_results_come_from_the_reference) {
  const array a = matrix();
  const auto [q, r] = linalg::qr(a);
  arm(fault_no_operators, -1);
  const std::uint64_t before = tutti::stats().fallbacks;
  tutti::eval({q, r});
  arm(fault_no_operators, 0);
  BOOST_TEST(tutti::stats().fallbacks == before + 1);
  BOOST_TEST(std::abs(tutti::matmul(q, r).to_vector<double>()[3] - 3) < 1e-13);
}

BOOST_AUTO_TEST_CASE(long_chains_are_released_without_recursion) {
  array q = matrix();
  for (int i = 0; i < 1500; ++i) q = linalg::qr(q).q;
  q = array();
  array kept = matrix();
  for (int i = 0; i < 2500; ++i) kept = linalg::qr(kept).q;  // deeper than a graph may get
  BOOST_TEST(kept.to_vector<double>().size() == 4u);
}

BOOST_AUTO_TEST_CASE(results_go_while_another_thread_evaluates) {
  for (int i = 0; i < 200; ++i) {
    auto parts = std::make_unique<linalg::svd_result>(linalg::svd(matrix()));
    const array s = parts->s;
    std::thread other([&] { parts.reset(); });
    s.eval();
    other.join();
    BOOST_TEST(s.to_vector<double>().size() == 2u);
  }
}

BOOST_AUTO_TEST_CASE(gradients_keep_results_that_nobody_holds) {
  const auto f = [](const array& a) { return tutti::sum(linalg::svd(a).s); };
  const array g = tutti::grad(f)(matrix());
  const auto [u, s, vh] = linalg::svd(matrix());
  const array expected = tutti::matmul(u, vh);
  BOOST_TEST(tutti::max(tutti::abs(g - expected)).item() < 1e-13);
}
