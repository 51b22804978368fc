// SPDX-License-Identifier: Apache-2.0
//
// Sorts along every axis, NaN and equal elements, and what is read off sorted rows. Every dtype and
// order, and lengths at which kernels change their way: `tutti verify`.
#include "tutti_test/arrays.hpp"

namespace sort_test {

namespace {

using tutti::order;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// Values and positions share no work but agree.
BOOST_AUTO_TEST_CASE(sort_along_each_axis) {
  const dense x = random_integers({4, 37, 5}, -9, 9, 311);
  for (const auto& [layout, a] : layouts(x))
    for (const int axis : {0, 1, 2})
      for (const order by : {order::ascending, order::descending}) {
        BOOST_TEST_CONTEXT(layout << " axis " << axis << ", order " << int(by)) {
          const array positions = tutti::argsort(a, axis, by), values = tutti::sort(a, axis, by);
          BOOST_TEST((positions.dtype() == dtype::i64));
          BOOST_TEST(matches(values, read(tutti::take_along_axis(a, positions, axis))));
          // Steps along the axis go up, or are 0 where positions go up.
          const array step = tutti::diff(values, 1, axis) * (by == order::descending ? -1 : 1);
          BOOST_TEST(tutti::all((step > 0) | ((step == 0) & (tutti::diff(positions, 1, axis) > 0)))
                         .item<bool>());
        }
      }
}

BOOST_AUTO_TEST_CASE(sort_extremes_of_integers) {
  using limits = std::numeric_limits<std::int64_t>;
  const std::vector<std::int64_t> x = {0, limits::max(),    -1, limits::lowest(),
                                       1, limits::max() - 1};
  std::vector<std::int64_t> expected = x;
  std::sort(expected.begin(), expected.end());
  BOOST_TEST(tutti::sort(array::from(x)).to_vector<std::int64_t>() == expected);
  std::reverse(expected.begin(), expected.end());
  BOOST_TEST(tutti::sort(array::from(x), 0, order::descending).to_vector<std::int64_t>() ==
             expected);
}

BOOST_AUTO_TEST_CASE(sort_nan_last_and_zeros_equal) {
  for (const auto& [type, tiny] :
       {std::pair{dtype::f16, 6e-8}, {dtype::f32, 1e-40}, {dtype::f64, 1e-40}}) {
    const dense given{{9}, {3, nan_value, -inf, 0, -0.0, inf, nan_value, tiny, -tiny}};
    const array x =
        type == dtype::f64 ? upload_as<double>(given) : upload_as<float>(given).astype(type);
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      BOOST_TEST(matches(tutti::argsort(x), {{9}, {2, 8, 3, 4, 7, 0, 5, 1, 6}}));
      BOOST_TEST(
          matches(tutti::argsort(x, -1, order::descending), {{9}, {5, 0, 7, 3, 4, 8, 2, 1, 6}}));
      BOOST_TEST((tutti::sort(x).dtype() == type));
      BOOST_TEST(matches(tutti::sort(x), read(tutti::take(x, tutti::argsort(x)))));
    }
  }
}

BOOST_AUTO_TEST_CASE(sort_shapes_and_errors) {
  BOOST_TEST(tutti::sort(tutti::zeros({0, 3}), 0).shape() == (shape{0, 3}));
  BOOST_TEST(tutti::argsort(tutti::zeros({3, 0})).shape() == (shape{3, 0}));
  BOOST_TEST(matches(tutti::sort(tutti::full({3}, 2, dtype::f32)), {{3}, {2, 2, 2}}));
  FAILS(index_error, tutti::sort(array(1)), "sort: axis -1");
  FAILS(index_error, tutti::argsort(tutti::zeros({2}), 1), "argsort");
}

BOOST_AUTO_TEST_CASE(largest_and_smallest) {
  const array x = upload_as<float>(random_integers({3, 50, 4}, -20, 20, 317));
  for (bool largest : {true, false}) {
    const auto first = [&](const array& of, int axis) {
      return read(axis == 1 ? of({{}, {0, 3}}) : of({{}, {}, {0, 3}}));
    };
    const order by = largest ? order::descending : order::ascending;
    for (int axis : {1, 2}) {
      const auto [values, indices] = tutti::topk(x, 3, axis, largest);
      BOOST_TEST(matches(indices, first(tutti::argsort(x, axis, by), axis)));
      BOOST_TEST(matches(values, first(tutti::sort(x, axis, by), axis)));
    }
  }
  BOOST_TEST(tutti::topk(tutti::zeros({4}), 0).values.shape() == (shape{0}));
  FAILS(value_error, tutti::topk(tutti::zeros({4}), 5), "topk: k 5");
  const array parted = tutti::partition(x, 10, 1), pivot = parted({{}, {10, 11}});
  BOOST_TEST(matches(pivot, read(tutti::sort(x, 1)({{}, {10, 11}}))));
  BOOST_TEST(tutti::all(parted({{}, {0, 10}}) <= pivot).item<bool>());
  BOOST_TEST(tutti::all(parted({{}, {10}}) >= pivot).item<bool>());
  FAILS(index_error, tutti::partition(tutti::zeros({4}), 4), "partition: kth 4");
}

BOOST_AUTO_TEST_CASE(extremes_of_integers_are_selected) {
  using limits = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> x(1500, 0);
  x[3] = limits::max(), x[4] = limits::lowest(), x[1400] = limits::max() - 1;
  const auto largest = tutti::topk(array::from(x), 4);
  BOOST_TEST(largest.values.to_vector<std::int64_t>() ==
             (std::vector<std::int64_t>{limits::max(), limits::max() - 1, 0, 0}));
  BOOST_TEST(largest.indices.to_vector<std::int64_t>() ==
             (std::vector<std::int64_t>{3, 1400, 0, 1}));
  const auto parted = tutti::partition(array::from(x), 0).to_vector<std::int64_t>();
  BOOST_TEST(parted.front() == limits::lowest());
}

BOOST_AUTO_TEST_CASE(elements_along_an_axis) {
  const array a = upload_as<float>(random_dense({3, 5, 4}, -1, 1, 318));
  FAILS(index_error, tutti::take_along_axis(a, tutti::full({3, 1, 4}, 5, dtype::i64), 1),
        "take_along_axis: index 5");
  FAILS(shape_error, tutti::take_along_axis(a, tutti::zeros({3, 1, 5}, dtype::i64), 1),
        "take_along_axis: shapes differ beside axis 1: [3,5,4] and [3,1,5]");
}

// NumPy: quantile([1, 2, 4, 8], q) for each method, from its documentation's formula.
BOOST_AUTO_TEST_CASE(quantiles) {
  using tutti::interpolation;
  const array a = array::from<float>({8, 1, 4, 2});
  const auto at = [&](double q, interpolation method) {
    return tutti::quantile(a, q, {}, false, method).item();
  };
  BOOST_TEST(at(0, interpolation::linear) == 1);
  BOOST_TEST(at(1, interpolation::linear) == 8);
  BOOST_TEST(at(0.25, interpolation::linear) == 1.75);
  BOOST_TEST(at(0.5, interpolation::linear) == 3);
  BOOST_TEST(at(0.75, interpolation::linear) == 5);
  BOOST_TEST(at(0.75, interpolation::lower) == 4);
  BOOST_TEST(at(0.75, interpolation::higher) == 8);
  BOOST_TEST(at(0.75, interpolation::midpoint) == 6);
  BOOST_TEST(at(0.75, interpolation::nearest) == 4);
  BOOST_TEST(tutti::median(a).item() == 3);
  const array x = upload_as<float>(random_dense({5, 7}, -1, 1, 320));
  BOOST_TEST(matches(tutti::median(x, 0, true), read(tutti::sort(x, 0)({{2, 3}}))));
  const array special = upload_as<float>({{4, 3},
                                          {1, nan_value, 3,  //
                                           inf, inf, inf,    //
                                           -inf, 0, inf,     //
                                           2, 2, 2}});
  BOOST_TEST(matches(tutti::median(special, 1), {{4}, {nan_value, inf, 0, 2}}));
  // Long rows are parted, not sorted.
  dense many = random_dense({4, 2000}, -1, 1, 348);
  many.values[5] = inf, many.values[2001] = nan_value, many.values[7999] = -inf;
  const array long_rows = upload_as<float>(many);
  const dense ordered = read(tutti::sort(long_rows, 1));
  const auto expect = [&](std::int64_t low, double part) {
    return tabulate({4}, [&](const position& i) {
      if (i[0] == 1) return nan_value;
      const double a_low = ordered.at({i[0], low}), a_high = ordered.at({i[0], low + 1});
      return part == 0 ? a_low : a_low + (a_high - a_low) * part;
    });
  };
  BOOST_TEST(matches(tutti::median(long_rows, 1), expect(999, 0.5), {0, 1e-6}));
  BOOST_TEST(matches(tutti::quantile(long_rows, 0.25, 1), expect(499, 0.75), {0, 1e-6}));
  BOOST_TEST(matches(tutti::quantile(long_rows, 0, 1), expect(0, 0)));
  BOOST_TEST(
      matches(tutti::quantile(long_rows, 0.25, 1, false, interpolation::lower), expect(499, 0)));
  BOOST_TEST(
      matches(tutti::quantile(long_rows, 0.25, 1, false, interpolation::nearest), expect(500, 0)));
  const array cube = upload_as<float>({{2, 3, 2}, {5, 1, 4, 2, 3, 9, 8, 0, 7, 6, 11, 10}});
  BOOST_TEST(matches(tutti::median(cube, {1, true}), {{2, 1, 2}, {4, 2, 8, 6}}));
  BOOST_TEST(matches(tutti::median(cube, {0, 2}), {{3}, {3, 5, 9.5}}));
  BOOST_TEST(matches(tutti::median(cube, {{0, 2}, true}), {{1, 3, 1}, {3, 5, 9.5}}));
  BOOST_TEST(matches(tutti::quantile(cube, 0.5, {{0, 2}, true}, interpolation::lower),
                     {{1, 3, 1}, {1, 4, 9}}));
  BOOST_TEST(matches(
      tutti::quantile(cube, std::vector<double>{0, 0.5, 1}, {{0, 2}, true}, interpolation::lower),
      {{3, 1, 3, 1}, {0, 2, 3, 1, 4, 9, 8, 7, 11}}));
  BOOST_TEST(matches(tutti::quantile(cube, {0.5, 0.75}, 2), {{2, 2, 3},
                                                             {3, 3, 6, 4, 6.5, 10.5,  //
                                                              4, 3.5, 7.5, 6, 6.75, 10.75}}));
  BOOST_TEST((tutti::quantile(tutti::zeros({2, 0}), {0.25, 1}, 1).shape() == shape{2, 2}));
  BOOST_TEST(matches(tutti::quantile(cube, 1, {-1, true}), {{2, 3, 1}, {5, 4, 9, 8, 7, 11}}));
  FAILS(index_error, tutti::median(cube, {3, true}), "3");
  BOOST_TEST(std::isnan(tutti::median(tutti::zeros({0})).item()));
  BOOST_TEST((tutti::median(array::from<std::int32_t>({1, 2})).dtype() == dtype::f32));
  FAILS(value_error, tutti::quantile(a, 1.5), "quantile: q is 1.5");
  FAILS(value_error, tutti::quantile(a, {0.5, -1}), "quantile: q is -1");
  FAILS(value_error, tutti::quantile(a, std::vector<double>{}), "quantile: no q is given");
  FAILS(index_error, tutti::quantile(cube, {0.5, 0.75}, 3), "quantile: axis 3");
}

BOOST_AUTO_TEST_CASE(complex_numbers_have_no_order) {
  const array z = array::from(std::vector<std::complex<float>>{{1, 2}, {0, 1}});
  BOOST_CHECK_THROW(tutti::sort(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::argsort(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::cummax(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::cummin(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::logcumsumexp(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::median(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::unique_values(z), tutti::dtype_error);
  BOOST_CHECK_THROW(tutti::searchsorted(z, z), tutti::dtype_error);
}

}  // namespace sort_test
