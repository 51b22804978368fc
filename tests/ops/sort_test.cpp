// SPDX-License-Identifier: Apache-2.0
//
// Sorts against the standard library: both orders, axes, layouts, NaN and equal elements; what is
// read off sorted rows. Every dtype, and lengths at which kernels change their way: `tutti verify`.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "tutti/sorting.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"

namespace sort_test {

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::order;
using tutti::shape;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();

bool comes_before(double a, double b, bool descending) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return descending ? b < a : a < b;
}

// Positions along the axis in stable order.
dense expected_argsort(const dense& x, int axis, bool descending) {
  dense out = x;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.extents.rank(); ++i) inner *= x.extents[i];
  const std::int64_t n = x.extents[axis];
  std::vector<std::int64_t> index(static_cast<std::size_t>(n));
  for (std::int64_t start = 0; start < x.extents.size(); ++start) {
    if (start / inner % n != 0) continue;
    const auto at = [&](std::int64_t i) -> std::size_t {
      return static_cast<std::size_t>(start + i * inner);
    };
    std::iota(index.begin(), index.end(), std::int64_t{0});
    std::stable_sort(index.begin(), index.end(), [&](std::int64_t i, std::int64_t k) {
      return comes_before(x.values[at(i)], x.values[at(k)], descending);
    });
    for (std::int64_t i = 0; i < n; ++i)
      out.values[at(i)] = static_cast<double>(index[static_cast<std::size_t>(i)]);
  }
  return out;
}

dense moved(const dense& x, const dense& index, int axis) {
  return tabulate(index.extents, [&](position i) {
    const auto place = static_cast<std::int64_t>(index.at(i));
    i[static_cast<std::size_t>(axis)] = place;
    return x.at(i);
  });
}

void check_sort(const array& a, const dense& x, int axis, bool descending) {
  const order by = descending ? order::descending : order::ascending;
  const dense index = expected_argsort(x, axis, descending);
  const array positions = tutti::argsort(a, axis, by);
  BOOST_TEST((positions.dtype() == dtype::i64));
  BOOST_TEST(matches(positions, index));
  const array values = tutti::sort(a, axis, by);
  BOOST_TEST((values.dtype() == a.dtype()));
  BOOST_TEST(matches(values, moved(x, index, axis)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(sort_along_each_axis) {
  const dense x = random_integers({4, 37, 5}, -9, 9, 311);
  for (const auto& [layout, a] : layouts(x))
    for (int axis : {0, 1, 2})
      for (bool descending : {false, true})
        BOOST_TEST_CONTEXT(layout << " axis " << axis << (descending ? " descending" : ""))
  check_sort(a, x, axis, descending);
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
  dense x{{14},
          {3, nan_value, -inf, 0, -0.0, inf, nan_value, 1e-40, -1e-40, -3, -0.0, 0, 65000, -1}};
  for (bool descending : {false, true}) {
    const array a = upload_as<float>(x);
    check_sort(a, read(a), 0, descending);
    check_sort(upload_as<double>(x), x, 0, descending);
  }
  dense halves = x;
  halves.values[7] = 6e-8, halves.values[8] = -6e-8;
  const array f16 = upload_as<float>(halves).astype(dtype::f16);
  const dense index = expected_argsort(read(f16), 0, true);
  BOOST_TEST(matches(tutti::sort(f16, 0, order::descending), moved(read(f16), index, 0)));
}

BOOST_AUTO_TEST_CASE(sort_shapes_and_errors) {
  BOOST_TEST(tutti::sort(tutti::zeros({0, 3}), 0).shape() == (shape{0, 3}));
  BOOST_TEST(tutti::argsort(tutti::zeros({3, 0})).shape() == (shape{3, 0}));
  BOOST_TEST(matches(tutti::sort(tutti::full({3}, 2, dtype::f32)), {{3}, {2, 2, 2}}));
  BOOST_TEST(fails<tutti::index_error>([] { tutti::sort(array(1)); }, "sort: axis -1"));
  BOOST_TEST(fails<tutti::index_error>([] { tutti::argsort(tutti::zeros({2}), 1); }, "argsort"));
  // Values and positions of one array share no work but agree.
  const array a = upload_as<float>(random_dense({1000}, -1, 1, 316));
  BOOST_TEST(matches(tutti::take(a, tutti::argsort(a)), read(tutti::sort(a))));
}

BOOST_AUTO_TEST_CASE(largest_and_smallest) {
  const dense x = random_integers({3, 50, 4}, -20, 20, 317);
  for (bool largest : {true, false}) {
    for (int axis : {1, 2}) {
      const auto [values, indices] = tutti::topk(upload_as<float>(x), 3, axis, largest);
      dense index = expected_argsort(x, axis, largest);
      shape to = x.extents;
      to[axis] = 3;
      index = tabulate(to, [&](const position& i) { return index.at(i); });
      BOOST_TEST(matches(indices, index));
      BOOST_TEST(matches(values, moved(x, index, axis)));
    }
  }
  BOOST_TEST(tutti::topk(tutti::zeros({4}), 0).values.shape() == (shape{0}));
  BOOST_TEST(fails<tutti::value_error>([] { tutti::topk(tutti::zeros({4}), 5); }, "topk: k 5"));
  const dense parted = read(tutti::partition(upload_as<float>(x), 10, 1));
  const dense index = expected_argsort(x, 1, false);
  for (std::int64_t o = 0; o < 3; ++o)
    for (std::int64_t i = 0; i < 4; ++i) {
      const double pivot = moved(x, index, 1).at({o, 10, i});
      BOOST_TEST(parted.at({o, 10, i}) == pivot);
      for (std::int64_t n = 0; n < 50; ++n)
        BOOST_TEST((n < 10 ? parted.at({o, n, i}) <= pivot : parted.at({o, n, i}) >= pivot));
    }
  BOOST_TEST(fails<tutti::index_error>([] { tutti::partition(tutti::zeros({4}), 4); },
                                       "partition: kth 4"));
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
  const dense x = random_dense({3, 5, 4}, -1, 1, 318);
  const dense where = random_integers({3, 2, 4}, -5, 4, 319);
  const dense expected = tabulate({3, 2, 4}, [&](position i) {
    const double place = where.at(i);
    i[1] = static_cast<std::int64_t>(place < 0 ? place + 5 : place);
    return x.at(i);
  });
  for (const auto& [layout, a] : layouts(x))
    BOOST_TEST(matches(tutti::take_along_axis(a, upload_as<std::int32_t>(where), 1), expected),
               layout);
  const array a = upload_as<float>(x);
  BOOST_TEST(fails<tutti::index_error>(
      [&] {
        tutti::take_along_axis(a, tutti::full({3, 1, 4}, 5, dtype::i64), 1);
      },
      "take_along_axis: index 5"));
  BOOST_TEST(fails<tutti::shape_error>(
      [&] {
        tutti::take_along_axis(a, tutti::zeros({3, 1, 5}, dtype::i64), 1);
      },
      "take_along_axis: shapes differ beside axis 1: [3,5,4] and [3,1,5]"));
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
  const dense x = random_dense({5, 7}, -1, 1, 320);
  const dense sorted = moved(x, expected_argsort(x, 0, false), 0);
  const dense middle = tabulate({1, 7}, [&](const position& i) { return sorted.at({2, i[1]}); });
  BOOST_TEST(matches(tutti::median(upload_as<float>(x), 0, true), middle));
  const array special = upload_as<float>({{4, 3},
                                          {1, nan_value, 3,  //
                                           inf, inf, inf,    //
                                           -inf, 0, inf,     //
                                           2, 2, 2}});
  BOOST_TEST(matches(tutti::median(special, 1), {{4}, {nan_value, inf, 0, 2}}));
  // Long rows are parted, not sorted.
  dense many = random_dense({4, 2000}, -1, 1, 348);
  for (double& v : many.values) v = static_cast<float>(v);
  many.values[5] = inf, many.values[2001] = nan_value, many.values[7999] = -inf;
  const dense ordered = moved(many, expected_argsort(many, 1, false), 1);
  const array long_rows = upload_as<float>(many);
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
  BOOST_TEST(matches(tutti::quantile(cube, 1, {-1, true}), {{2, 3, 1}, {5, 4, 9, 8, 7, 11}}));
  BOOST_TEST(fails<tutti::index_error>([&] { tutti::median(cube, {3, true}); }, "3"));
  BOOST_TEST(std::isnan(tutti::median(tutti::zeros({0})).item()));
  BOOST_TEST((tutti::median(array::from<std::int32_t>({1, 2})).dtype() == dtype::f32));
  BOOST_TEST(fails<tutti::value_error>([&] { tutti::quantile(a, 1.5); }, "quantile: q is 1.5"));
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
