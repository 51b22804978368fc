// SPDX-License-Identifier: Apache-2.0
//
// How many kernels and how much memory expressions take, counted by tutti::stats(): fusion, common
// subexpressions, constants, reuse in place, bounded graphs.
#include "tutti_test/arrays.hpp"
#include "tutti_test/launches.hpp"

namespace {

array ramp(std::int64_t n) {
  return array::from([&] {
    std::vector<float> v(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.001f * static_cast<float>(i % 1000);
    return v;
  }());
}

std::uint64_t programs_made() {
  const auto s = tutti::stats();
  return s.compiles + s.disk_cache_hits;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_elementwise_chain_is_one_kernel) {
  const array a = ramp(1003), b = ramp(1003);
  array c = a * b + tutti::tanh(a) - tutti::exp(-b * b);
  BOOST_TEST(launches([&] { c.eval(); }) == 1u);
  const auto x = a.to_vector<float>(), y = c.to_vector<float>();
  const double v = x[777];
  BOOST_TEST(std::abs(y[777] - (v * v + std::tanh(v) - std::exp(-v * v))) < 1e-6);
}

BOOST_AUTO_TEST_CASE(a_chain_with_a_reduction_is_one_kernel) {
  const array a = ramp(24 * 35).reshape({24, 35});
  array total = tutti::sum(tutti::square(a - 0.25f) * 2.f);
  BOOST_TEST(launches([&] { total.eval(); }) == 1u);
  array columns = tutti::max(tutti::abs(a - 0.5f), 0);
  BOOST_TEST(launches([&] { columns.eval(); }) == 1u);
}

BOOST_AUTO_TEST_CASE(a_long_chain_takes_few_kernels) {
  array x = ramp(100);
  for (int i = 0; i < 1000; ++i) x = x * 1.0001f + 0.001f;
  BOOST_TEST(launches([&] { x.eval(); }) <= 10u);
}

BOOST_AUTO_TEST_CASE(named_intermediates_cost_no_memory) {
  const array a = ramp(1 << 16);
  a.wait();
  tutti::reset_stats();
  const auto before = tutti::stats().pool_bytes_in_use;
  const array t = tutti::tanh(a);
  const array u = t * t;
  const array v = u + a;
  v.wait();
  BOOST_TEST(tutti::stats().pool_bytes_peak - before <= v.nbytes() + 4096);
}

BOOST_AUTO_TEST_CASE(common_subexpressions_are_computed_once) {
  const array a = ramp(64).reshape({8, 8});
  const array x = tutti::matmul(a, a), y = tutti::matmul(a, a);
  array z = x + y;
  BOOST_TEST(launches([&] { z.eval(); }) == 2u);  // one product, one sum
  BOOST_TEST(launches([&] { x.eval(); }) == 0u);
  BOOST_TEST(launches([&] { y.eval(); }) == 0u);  // shares its storage
  BOOST_TEST(y.to_vector<float>() == x.to_vector<float>(), same);
}

BOOST_AUTO_TEST_CASE(constants_fold_and_take_no_kernel) {
  BOOST_TEST(launches([&] {
               const array c = tutti::exp(tutti::full({3, 4}, 2.0, dtype::f32)) * 3.f + 1.f;
               BOOST_TEST(std::abs(c.to_vector<float>()[5] - (std::exp(2.f) * 3.f + 1.f)) < 1e-5f);
             }) == 0u);
}

BOOST_AUTO_TEST_CASE(a_loop_compiles_once_whatever_its_shapes_and_scalars) {
  const auto step = [](std::int64_t n, float s) {
    const array a = ramp(n);
    (tutti::sin(a) * s + s).wait();
  };
  step(100, 1.f);
  const auto before = programs_made();
  for (std::int64_t n : {1, 2, 17, 1000, 4097, 100003}) step(n, 0.1f * static_cast<float>(n));
  BOOST_TEST(programs_made() == before);
}

BOOST_AUTO_TEST_CASE(shared_values_are_further_outputs_not_recomputed) {
  // As in an optimiser: m and v are results and inputs of the update.
  const array p = ramp(500), g = ramp(500), m = ramp(500), v = ramp(500);
  const array m1 = m * 0.9f + g * 0.1f;
  const array v1 = v * 0.99f + tutti::square(g) * 0.01f;
  const array p1 = p - m1 / (tutti::sqrt(v1) + 1e-8f);
  BOOST_TEST(launches([&] { tutti::eval({p1, m1, v1}); }) == 1u);
  const auto x = g.to_vector<float>(), got = p1.to_vector<float>();
  const double e = x[100];
  BOOST_TEST(std::abs(got[100] - (e - e / (std::sqrt(0.99 * e + 0.01 * e * e) + 1e-8))) < 1e-4);
}

BOOST_AUTO_TEST_CASE(a_value_needed_before_and_after_a_reduction_makes_no_cycle) {
  const array a = ramp(90).reshape({9, 10});
  const array e = tutti::exp(a);
  const array share = e / tutti::sum(e, {1, tutti::keep_dims::yes});
  const auto rows = tutti::sum(share, 1).to_vector<float>();
  for (float r : rows) BOOST_TEST(std::abs(r - 1.f) < 1e-5f);
}

BOOST_AUTO_TEST_CASE(a_buffer_whose_last_reader_runs_is_reused_in_place) {
  array x = ramp(1 << 18);
  x.wait();
  tutti::reset_stats();
  const auto before = tutti::stats().pool_bytes_in_use;
  for (int i = 0; i < 5; ++i) {
    x = x * 0.5f + 1.f;
    x.eval();
  }
  BOOST_TEST(tutti::stats().pool_bytes_peak <= before + 4096);
  const array kept = x;
  x = x + 1.f;
  x.eval();
  BOOST_TEST(x.to_vector<float>()[5] == kept.to_vector<float>()[5] + 1.f);
}

BOOST_AUTO_TEST_CASE(a_buffer_read_at_two_positions_is_not_reused) {
  std::vector<float> values(64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  array x = array::from(values, {64, 64});
  x = x + x.T();
  const auto got = x.to_vector<float>();
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 64; ++j)
      BOOST_REQUIRE(got[i * 64 + j] == values[i * 64 + j] + values[j * 64 + i]);
}

BOOST_AUTO_TEST_CASE(evaluated_nodes_let_go_of_their_inputs) {
  const auto before = tutti::stats().pool_bytes_in_use;
  array y;
  {
    const array big = ramp(1 << 18);
    y = tutti::sum(big * 2.f);
    y.wait();
  }
  BOOST_TEST(tutti::stats().pool_bytes_in_use <= before + 4096);
}

BOOST_AUTO_TEST_CASE(deep_graphs_are_bounded) {
  array x = ramp(10);
  for (int i = 0; i < 100000; ++i) x = x + 1.f;
  BOOST_TEST(x.to_vector<float>()[0] == 100000.f);
  array dropped = ramp(10);
  for (int i = 0; i < 100000; ++i) dropped = dropped * 1.f;
  dropped = array();  // never evaluated at the end
}

BOOST_AUTO_TEST_CASE(a_value_used_again_and_again_is_stored_at_the_second_use) {
  array x = ramp(100);
  array y;
  for (int i = 0; i < 200; ++i) {
    x = x + 1.f;
    y = x * 2.f;
    y.eval();
  }
  BOOST_TEST(launches([&] {
               x = x + 1.f;
               (x * 2.f).eval();
             }) <= 2u);
  BOOST_TEST(y.to_vector<float>()[0] == 400.f);
}

BOOST_AUTO_TEST_CASE(half_precision_rounds_where_a_cast_says_so) {
  const array x = array::from({1.0001f, 3.14159f});
  const auto rounded = x.astype(dtype::f16).astype(dtype::f32).to_vector<float>();
  BOOST_TEST(rounded[0] == 1.0f);
  BOOST_TEST(rounded[1] == 3.140625f);
}

// A group that reads what an earlier one computed for two equal nodes reads it once: the gradient
// of a gradient has many such, and took one input more than the device has.
BOOST_AUTO_TEST_CASE(equal_nodes_are_one_input_after_they_ran) {
  const auto first =
      tutti::grad([](const std::vector<array>& a) { return tutti::sum(tutti::cumprod(a[0])); });
  const auto second =
      tutti::grad([&](const std::vector<array>& a) { return tutti::sum(first(a)[0]); });
  const array x = array::from<double>({2, 1.5, 3, .5});
  const auto got = second({x})[0].to_vector<double>();
  // sum of prefix products: each derivative of the gradient's sum, by hand
  const std::vector<double> v = {2, 1.5, 3, .5};
  for (std::size_t j = 0; j < v.size(); ++j) {
    double expected = 0;
    for (std::size_t n = 0; n < v.size(); ++n)
      for (std::size_t i = 0; i <= n; ++i) {
        if (i == j || j > n) continue;
        double product = 1;
        for (std::size_t k = 0; k <= n; ++k)
          if (k != i && k != j) product *= v[k];
        expected += product;
      }
    BOOST_TEST(std::abs(got[j] - expected) < 1e-12);
  }
}
