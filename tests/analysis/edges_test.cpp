// SPDX-License-Identifier: Apache-2.0
//
// Bad input: the exception, and what it says.
#include "tutti/analysis.hpp"
#include "tutti_test/arrays.hpp"

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;

}  // namespace

BOOST_AUTO_TEST_CASE(of_covariances_and_distances) {
  const array x = tutti::ones({2, 3});
  FAILS(shape_error, tutti::cov(array(1.0)), "cov: a number has no observations");
  FAILS(value_error, tutti::cov(x, not_a_number), "cov: the correction is NaN");
  FAILS(shape_error, tutti::corrcoef(array(1.0)), "corrcoef");
  FAILS(value_error, tutti::cov(array()), "cov");
  FAILS(shape_error, tutti::cdist(x, tutti::ones({2, 4})), "cdist: rows of [2,3] and of [2,4]");
  FAILS(shape_error, tutti::cdist(x, tutti::ones({3})), "cdist: rows of [2,3] and of [3]");
  FAILS(dtype_error, tutti::cdist(tutti::complex(x, x), x), "cdist");
  FAILS(value_error, tutti::cdist(x, x, static_cast<tutti::distance_metric>(9)),
        "cdist: unknown metric 9");
  const array long_rows = tutti::broadcast_to(array(1.0F), {huge / 8, 1});
  FAILS(shape_error, tutti::cdist(long_rows, long_rows), "cdist");
}

BOOST_AUTO_TEST_CASE(of_ranks_and_counts) {
  const array x = tutti::ones({2, 3});
  FAILS(value_error, tutti::rankdata(x, static_cast<tutti::rank_method>(7)),
        "rankdata: unknown method 7");
  FAILS(index_error, tutti::rankdata(x, {}, 2), "rankdata");
  FAILS(dtype_error, tutti::rankdata(tutti::complex(x, x)), "rankdata");
  FAILS(value_error, tutti::percentile(x, 101), "percentile: p is 101, must lie in [0, 100]");
  FAILS(value_error, tutti::percentile(x, not_a_number), "percentile: p is nan");
  FAILS(value_error, tutti::percentile(x, std::vector<double>{}), "percentile: no p");
  FAILS(value_error, tutti::histogram_along(x, 0, 0, 1), "histogram_along: 0 bins");
  FAILS(value_error, tutti::histogram_along(x, 2, 1, 0), "histogram_along: bounds 1 and 0");
  FAILS(index_error, tutti::histogram_along(x, 2, 0, 1, 2), "histogram_along");
  FAILS(error, tutti::histogram_along(x, huge, 0, 1), "histogram_along");
  FAILS(shape_error, tutti::histogram2d(x, tutti::ones({2}), {1, 1}, {0, 1}, {0, 1}),
        "histogram2d: points of [2,3] and [2]");
  constexpr std::int64_t many = std::int64_t{1} << 31;
  FAILS(shape_error, tutti::histogram2d(x, x, {many, many}, {0, 1}, {0, 1}), "histogram2d: ");
  FAILS(value_error, tutti::histogram2d(x, x, {1, 0}, {0, 1}, {0, 1}), "histogram2d: 0 bins");
}

BOOST_AUTO_TEST_CASE(of_numerical_analysis) {
  const array x = tutti::ones({2, 3});
  FAILS(shape_error, tutti::interp(x, x, x), "interp: points at [2,3] with values [2,3]");
  FAILS(shape_error, tutti::interp(x, tutti::ones({2}), tutti::ones({3})), "interp: points at [2]");
  FAILS(shape_error, tutti::interp(x, tutti::ones({0}), tutti::ones({0})), "interp");
  FAILS(dtype_error, tutti::interp(tutti::complex(x, x), tutti::ones({2}), tutti::ones({2})),
        "interp");
  FAILS(shape_error, tutti::trapezoid(x, tutti::ones({2})), "trapezoid: positions [2] for [2,3]");
  FAILS(shape_error, tutti::trapezoid(x, tutti::ones({4, 3})), "trapezoid");
  FAILS(index_error, tutti::trapezoid(x, 1.0, 2), "trapezoid");
  FAILS(value_error, tutti::gradient(x, 0.0), "gradient: dx must not be 0");
  FAILS(value_error, tutti::gradient(x, 1.0, 1, 3), "gradient: edge_order must be 1 or 2, not 3");
  FAILS(shape_error, tutti::gradient(x, 1.0, 0, 2), "gradient: 2 elements along axis 0 of [2,3]");
  FAILS(shape_error, tutti::gradient(x, tutti::ones({2})),
        "gradient: positions [2] for axis 1 of [2,3]");
}

BOOST_AUTO_TEST_CASE(of_sequences) {
  FAILS(value_error, tutti::random::sobol(4, 11), "sobol: 11 dimensions, must lie in [1, 10]");
  FAILS(value_error, tutti::random::sobol(-1, 1), "sobol: -1 points from number 0");
  FAILS(value_error, tutti::random::sobol(2, 1, (std::int64_t{1} << 32) - 1), "sobol: 2 points");
  FAILS(value_error, tutti::random::sobol(huge, 1, huge), "sobol");
  FAILS(dtype_error, tutti::random::sobol(2, 1, 0, {}, dtype::f16),
        "sobol: the dtype is f32 or f64");
  FAILS(value_error, tutti::random::halton(2, 101), "halton: 101 dimensions");
}
