// SPDX-License-Identifier: Apache-2.0
//
// Results of NumPy and SciPy (vectors.txt, written by make_vectors.py) against the same calls, in
// f64.
#include "tutti_test/vectors.hpp"

#include "tutti/analysis.hpp"

namespace {

/// interp() of each row of values.
array by_rows(const array& x, const array& places, const array& values) {
  std::vector<array> rows;
  for (std::int64_t i = 0; i < values.shape()[0]; ++i)
    rows.push_back(tutti::interp(x, places, values[i]));
  return tutti::stack(rows);
}

// clang-format off
const vector_calls table = {
  {"cov", TUTTI_CALL(tutti::cov(v[0], static_cast<double>(n)))},
  {"corrcoef", TUTTI_CALL(tutti::corrcoef(v[0]))},
  {"cdist", TUTTI_CALL(tutti::cdist(v[0], v[1], static_cast<tutti::distance_metric>(n)))},
  {"percentile", TUTTI_CALL(tutti::percentile(v[0], std::vector<double>{0, 12.5, 50, 99, 100}, {0, 2}))},
  {"histogram_along", TUTTI_CALL(tutti::histogram_along(v[0], 7, -2, 2.5).counts)},
  {"histogram_first", TUTTI_CALL(tutti::histogram_along(v[0], 7, -2, 2.5, 0).counts)},
  {"histogram2d", TUTTI_CALL(tutti::histogram2d(v[0], v[1], {5, 3}, {-2, 2.5}, {-1, 2.5}).counts)},
  {"interp", TUTTI_CALL(tutti::interp(v[0], v[1], v[2]))},
  {"interp_rows", TUTTI_CALL(by_rows(v[0], v[1], v[2]))},
  {"interp_ends", TUTTI_CALL(tutti::interp(v[0], v[1], v[2], -7, 8))},
  {"trapezoid", TUTTI_CALL(tutti::trapezoid(v[0], 0.3, 1))},
  {"trapezoid_at", TUTTI_CALL(tutti::trapezoid(v[0], v[1], 1))},
  {"gradient", TUTTI_CALL(tutti::gradient(v[0], 0.3, 1))},
  {"gradient_second", TUTTI_CALL(tutti::gradient(v[0], 0.3, 1, 2))},
  {"gradient_complex", TUTTI_CALL(tutti::gradient(v[0]))},
  {"gradient_at", TUTTI_CALL(tutti::gradient(v[0], v[1], 1))},
  {"gradient_at_second", TUTTI_CALL(tutti::gradient(v[0], v[1], 1, 2))},
  {"sobol", TUTTI_CALL(tutti::random::sobol(64, 10, 0, {}, dtype::f64))},
  {"sobol_far", TUTTI_CALL(tutti::random::sobol(9, 10, 1000000, {}, dtype::f64))},
  {"halton", TUTTI_CALL(tutti::random::halton(40, 12, 0, dtype::f64))},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_numpy_and_scipy) {
  BOOST_TEST(check_vectors(paths::vectors, table) == 44);
}
