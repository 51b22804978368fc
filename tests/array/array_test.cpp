// SPDX-License-Identifier: Apache-2.0
//
// The array handle: values in and out, indexing, assignment operators, lifetime of lazy graphs,
// misuse.
#include "tutti_test/arrays.hpp"

namespace {}  // namespace

BOOST_AUTO_TEST_CASE(values_in_and_out) {
  const std::vector<std::int16_t> values = {1, -2, 3, 4, 5, 6};
  const array a = array::from(values, {2, 3});
  BOOST_TEST((a.dtype() == dtype::i16));
  BOOST_TEST(a.shape().str() == "[2,3]");
  BOOST_TEST(a.ndim() == 2);
  BOOST_TEST(a.size() == 6);
  BOOST_TEST(a.nbytes() == 12u);
  BOOST_TEST(a.dim(-1) == 3);
  BOOST_TEST((a.to_vector<std::int16_t>() == values));
  BOOST_TEST((a.T().to_vector<std::int16_t>() == std::vector<std::int16_t>{1, 4, -2, 5, 3, 6}));
  BOOST_TEST(a[1][2].item<std::int16_t>() == 6);
  BOOST_TEST(a[-1][0].item() == 4);
  BOOST_TEST((a.device() == tutti::default_device()));
  std::vector<std::int16_t> out(6);
  (a * 2).copy_to(out.data(), 12);
  BOOST_TEST(out[5] == 12);
}

BOOST_AUTO_TEST_CASE(scalars) {
  const array a = 2.5;
  BOOST_TEST(a.ndim() == 0);
  BOOST_TEST(a.item() == 2.5);
  BOOST_TEST(array(7).item<std::int32_t>() == 7);
  BOOST_TEST(array(true).item<bool>());
  BOOST_TEST((array(std::int64_t{1} << 40).item<std::int64_t>() == std::int64_t{1} << 40));
  BOOST_TEST(tutti::full({1, 1}, 3, dtype::f16).item() == 3);
}

BOOST_AUTO_TEST_CASE(assignment_operators) {
  array a = array::from<float>({1, 2});
  const array before = a;
  a += 1;
  a *= a;
  a -= array::from<float>({1, 1});
  a /= 2;
  BOOST_TEST(matches(a, {{2}, {1.5, 4}}));
  BOOST_TEST(matches(before, {{2}, {1, 2}}));
}

BOOST_AUTO_TEST_CASE(misuse) {
  const array none;
  BOOST_TEST(!none.valid());
  FAILS(value_error, none.shape(), "never assigned");
  FAILS(value_error, none.eval(), "never assigned");
  const array a = array::from<float>({1, 2});
  FAILS(shape_error, a.item(), "item");
  FAILS(dtype_error, a.to_vector<double>(), "to_vector: the array has dtype f32, not f64");
  FAILS(dtype_error, a[0].item<int>(), "i32");
  float out[3];
  FAILS(value_error, a.copy_to(out, sizeof out), "12 bytes");
  FAILS(shape_error, array::from(std::vector<float>{1, 2, 3}, {2, 2}),
        "3 values do not fill shape [2,2]");
  FAILS(index_error, a.dim(1), "axis 1");
  FAILS(index_error, a[0][0], "0-d");
  FAILS(shape_error, tutti::shape({1, 1, 1, 1, 1, 1, 1, 1, 1}), "9");
}

BOOST_AUTO_TEST_CASE(shared_work_is_evaluated_once) {
  const array a = array::from<float>({1, 2, 3});
  const array shared = tutti::exp(a);
  const array x = shared + 1;
  const array y = shared * 2;
  tutti::eval({x, y});
  BOOST_TEST(matches(x, read(tutti::exp(a) + 1)));
  BOOST_TEST(matches(y, read(tutti::exp(a) * 2)));
  const auto launches = tutti::stats().launches;
  tutti::eval({x, y});
  BOOST_TEST(tutti::stats().launches == launches);
}

BOOST_AUTO_TEST_CASE(deep_graphs) {
  // Neither building, nor evaluating, nor dropping an unevaluated one may recurse.
  array a = array::from<double>({1, 2});
  array dropped = a;
  for (int i = 0; i < 100000; ++i) {
    a = a + 1;
    dropped = dropped * 1.5;
  }
  dropped = array();
  BOOST_TEST(matches(a, {{2}, {100001, 100002}}));
}

BOOST_AUTO_TEST_CASE(threads_share_arrays) {
  const array common = array::from(std::vector<float>(1000, 1)) * 3;
  std::vector<std::thread> workers;
  std::vector<double> results(4);
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) results[std::size_t(t)] = tutti::sum(common * t + i).item();
    });
  }
  for (std::thread& w : workers) w.join();
  for (int t = 0; t < 4; ++t) BOOST_TEST(results[std::size_t(t)] == 1000.0 * (3 * t + 24));
}
