// SPDX-License-Identifier: Apache-2.0
//
// Statistics against sums in double on the host, and gradients.
#include "differences.hpp"
#include "sampled_layouts.hpp"

namespace {

using arguments = std::vector<array>;

const dense matrix = random_dense({7, 13}, -2, 2, 601);

// f of each column.
template <class F>
dense of_columns(const dense& x, F&& f) {
  return tabulate({x.extents[1]}, [&](const position& i) {
    std::vector<double> column;
    for (std::int64_t r = 0; r < x.extents[0]; ++r) column.push_back(x.at({r, i[0]}));
    return f(column);
  });
}

double host_norm(const std::vector<double>& v, double p) {
  double total = 0, low = INFINITY, high = 0;
  for (double x : v) {
    total += p == 0 ? x != 0 : std::pow(std::abs(x), p);
    low = std::min(low, std::abs(x));
    high = std::max(high, std::abs(x));
  }
  return std::isinf(p) ? (p > 0 ? high : low) : p == 0 ? total : std::pow(total, 1 / p);
}

}  // namespace

BOOST_AUTO_TEST_CASE(counting) {
  BOOST_TEST((tutti::count_nonzero(tutti::ones({2})).dtype() == dtype::i64));
  BOOST_TEST(tutti::count_nonzero(array::from<float>({0, -0.0f, NAN, INFINITY})).item() == 2);
  BOOST_TEST(tutti::count_nonzero(array::from<std::uint8_t>({255, 0, 1})).item() == 2);
  BOOST_TEST(matches(tutti::count_nonzero(tutti::zeros({0, 3}), 0), {{3}, {0, 0, 0}}));
}

BOOST_AUTO_TEST_CASE(deviations) {
  // Squares add up to 38.
  BOOST_TEST(matches(tutti::stddev(array::from<float>({1, 2, 4, 9}), 0, 2.5),
                     {{}, {std::sqrt(38 / 1.5)}}, {.relative = 1e-6}));
  // Far from zero, where a difference of two sums of squares has no digits left.
  const array far = array::from<float>({16777208, 16777210, 16777214, 16777216});
  BOOST_TEST(matches(tutti::stddev(far), {{}, {std::sqrt(10.0)}}, {.relative = 1e-6}));
  BOOST_TEST(std::isnan(tutti::stddev(array::from<float>({1}), {}, 1).item()));
  BOOST_TEST(std::isnan(tutti::stddev(array::from<float>({1, NAN})).item()));
  BOOST_TEST((tutti::stddev(array::from<std::int32_t>({1, 3})).dtype() == dtype::f32));
  BOOST_TEST(tutti::stddev(array::from<std::int32_t>({1, 3})).item() == 1);
}

BOOST_AUTO_TEST_CASE(norms) {
  dense x = matrix;
  x.values[5] = 0;
  for (double p : {0.0, 1.0, 2.0, 3.0, 0.5, -1.5, HUGE_VAL, -HUGE_VAL}) {
    const dense expected =
        of_columns(x, [&](const std::vector<double>& v) { return host_norm(v, p); });
    for (const auto& [layout, a] : sampled_layouts<double>(x)) {
      BOOST_TEST_CONTEXT(layout << " p " << p) {
        BOOST_TEST(matches(tutti::norm(a, p, 0), expected, {.relative = 1e-13}));
        const array kept = tutti::norm(a, p, {0, tutti::keep_dims::yes});
        BOOST_TEST(kept.shape() == (shape{1, 13}));
        BOOST_TEST(tutti::norm(a, p).item() == host_norm(x.values, p),
                   boost::test_tools::tolerance(1e-12));
      }
    }
  }
  // 3, 4 is the known one; halves are squared in f32.
  BOOST_TEST(tutti::norm(array::from<std::int32_t>({3, -4})).item() == 5);
  const array half = tutti::norm(array::from<float>({300, 400}).astype(dtype::f16));
  BOOST_TEST((half.dtype() == dtype::f16));
  BOOST_TEST(half.item() == 500);
  const array complex = array::from<std::complex<float>>({{3, 4}, {0, 12}});
  BOOST_TEST((tutti::norm(complex).dtype() == dtype::f32));
  BOOST_TEST(tutti::norm(complex).item() == 13);
  BOOST_TEST(std::isnan(tutti::norm(array::from<float>({1, NAN}), HUGE_VAL).item()));
  BOOST_TEST(std::isnan(tutti::norm(array::from<float>({1, NAN}), 3).item()));
  BOOST_TEST(tutti::norm(array::from<float>({1, -INFINITY})).item() == HUGE_VAL);
  // Their squares are not f32.
  BOOST_TEST(tutti::norm(array::from<float>({3e30F, -4e30F})).item() == 5e30,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(tutti::norm(array::from<float>({3e-30F, 4e-30F}), 2, 0).item() == 5e-30,
             boost::test_tools::tolerance(1e-6));
  // For a p below 0 the smallest decides, and the powers of the others vanish.
  const auto by = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(tutti::norm(array::from<float>({1e-3F, 1e3F}), -7).item() == 1e-3, by);
  BOOST_TEST(tutti::norm(array::from<float>({1e-5F, 1e15F}), -2).item() == 1e-5, by);
  BOOST_TEST(tutti::norm(array::from<double>({1e-300, 1e10}), -1).item() == 1e-300, by);
  BOOST_TEST(tutti::norm(array::from<float>({0, 2}), -1).item() == 0);
  BOOST_TEST(tutti::norm(array::from<float>({2, INFINITY}), -1).item() == 2);
  BOOST_TEST(tutti::norm(tutti::zeros({0}), -1).item() == HUGE_VAL);
  BOOST_TEST(tutti::norm(tutti::zeros({0, 2}), 0.5, 0).to_vector<float>()[1] == 0);
  BOOST_TEST(tutti::norm(tutti::zeros({0})).item() == 0);
  BOOST_TEST(tutti::norm(array(-2.0)).item() == 2);
  FAILS(value_error, tutti::norm(tutti::zeros({0}), HUGE_VAL), "norm");
  FAILS(value_error, tutti::norm(tutti::ones({2}), NAN), "norm");
}

BOOST_AUTO_TEST_CASE(weighted_means) {
  const array x = upload_as<double>(matrix),
              weights = upload_as<double>(random_dense({7}, 0.1, 2, 603));
  const array each = tutti::broadcast_to(tutti::expand_dims(weights, 1), {7, 13});
  const dense expected = read(tutti::sum(x * each, 0) / tutti::sum(weights));
  for (const array& w : {weights, each})
    BOOST_TEST(matches(tutti::average(x, w, -2), expected, {.relative = 1e-12, .absolute = 1e-14}));
  BOOST_TEST(
      tutti::average(array::from<std::int32_t>({1, 4}), array::from<std::int32_t>({2, 1})).item() ==
      2);
  FAILS(shape_error, tutti::average(tutti::zeros({2, 3}), tutti::ones({2}), 1),
        "average: weights of shape [2] fit neither the array [2,3]");
}

BOOST_AUTO_TEST_CASE(gradients_of_statistics) {
  const dense x = random_dense({3, 4}, 0.5, 2, 604), w = random_dense({3, 4}, 0.5, 2, 605);
  for (double p : {1.0, 2.0, 3.0, 0.5, -1.0, -2.5, HUGE_VAL})
    check_gradient([&](const arguments& v) { return weighted_sum(tutti::norm(v[0], p, 1)); }, {x});
  check_gradient([&](const arguments& v) { return weighted_sum(tutti::stddev(v[0], 0, 1)); }, {x});
  check_gradient([&](const arguments& v) { return weighted_sum(tutti::average(v[0], v[1], 1)); },
                 {x, w});
  const auto at_zero = tutti::grad([](const arguments& v) { return tutti::norm(v[0]); });
  BOOST_TEST(matches(at_zero({tutti::zeros({3})})[0], {{3}, {0, 0, 0}}));
  for (double p : {0.5, 1.0, 1.5, -1.0, -2.0}) {
    const auto slope = tutti::grad([&](const array& v) { return tutti::norm(v, p); });
    BOOST_TEST(matches(slope(tutti::zeros({2})), {{2}, {0, 0}}), p);
    if (p < 0) BOOST_TEST(matches(slope(array::from<float>({0, 2})), {{2}, {0, 0}}), p);
  }
  const auto wide = tutti::grad([](const array& v) { return tutti::norm(v, -1); });
  BOOST_TEST(
      matches(wide(array::from<double>({1e-300, 1e10})), {{2}, {1, 0}}, {.relative = 1e-12}));
}
