// SPDX-License-Identifier: Apache-2.0
//
// Gradients against central differences, first and second ones.
#include "differences.hpp"
#include "tutti/analysis.hpp"

namespace {

using arguments = std::vector<array>;

void check_both(const tutti::function& f, const std::vector<dense>& at) {
  check_gradients_of_cubes(f, at, 1e-6, 5e-5);
}

dense points(const tutti::shape& extents, std::uint64_t salt) {
  return random_dense(extents, 0.4, 1.3, salt);
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_covariances_and_distances) {
  check_both([](const arguments& v) { return tutti::cov(v[0]); }, {points({3, 5}, 751)});
  check_both([](const arguments& v) { return tutti::corrcoef(v[0]); }, {points({3, 5}, 752)});
  for (int metric = 0; metric < 5; ++metric)
    check_both(
        [=](const arguments& v) {
          return tutti::cdist(v[0], v[1], static_cast<tutti::distance_metric>(metric));
        },
        {points({2, 3}, 753), points({3, 3}, 754)});
  // A root of 0 has none.
  const array x = upload_as<double>(points({2, 3}, 755));
  const array g = tutti::grad([&](const arguments& v) {
    return tutti::sum(tutti::cdist(v[0], tutti::stop_gradient(v[0])));
  })({x})[0];
  BOOST_TEST(tutti::all(tutti::isfinite(g)).item<bool>());
}

BOOST_AUTO_TEST_CASE(of_numerical_analysis) {
  const dense xp{{4}, {0.2, 0.7, 1, 1.2}};
  check_both([](const arguments& v) { return tutti::interp(v[0], v[1], v[2]); },
             {points({6}, 756), xp, points({4}, 757)});
  check_both([](const arguments& v) { return tutti::trapezoid(v[0], v[1], 0); },
             {points({4, 2}, 758), xp});
  check_both([](const arguments& v) { return tutti::gradient(v[0], v[1], 0, 2); },
             {points({4, 2}, 759), xp});
  check_both([](const arguments& v) { return tutti::gradient(v[0], 0.5, 0); },
             {points({4, 2}, 760)});
  check_both([](const arguments& v) { return tutti::percentile(v[0], 30); }, {points({5}, 761)});
}

// What lies beside infinite points has the weights of the value that it has; nothing is NaN that is
// not looked at.
BOOST_AUTO_TEST_CASE(of_interpolation_beside_infinities) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto gradients = [](const std::vector<double>& x, const std::vector<double>& xp,
                            const std::vector<double>& fp) {
    return tutti::grad([](const arguments& v) {
      const array y = tutti::interp(v[0], v[1], v[2]);
      return tutti::sum(tutti::where(tutti::isnan(y), 0, y));
    })({array::from(x), array::from(xp), array::from(fp)});
  };
  using numbers = std::vector<double>;
  const auto far =
      gradients({-2, 0.5, 3, infinity, -infinity, nan}, {-infinity, 0, 1, infinity}, {2, 3, 5, 4});
  BOOST_TEST((far[0].to_vector<double>() == numbers{0, 2, 0, 0, 0, 0}));
  BOOST_TEST((far[1].to_vector<double>() == numbers{0, -1, -1, 0}));
  BOOST_TEST((far[2].to_vector<double>() == numbers{1, 1.5, 1.5, 1}));
  const auto high = gradients({0.25, 1.5, 2.5}, {0, 1, 2, 3}, {1, infinity, infinity, 2});
  BOOST_TEST((high[2].to_vector<double>() == numbers{0.75, 1.25, 0.5, 0.5}));
  BOOST_TEST(high[0].to_vector<double>()[1] == 0);
  const auto outside = gradients({-1, 4}, {0, 1, 2}, {infinity, 1, nan});
  BOOST_TEST((outside[0].to_vector<double>() == numbers{0, 0}));
  BOOST_TEST((outside[1].to_vector<double>() == numbers{0, 0, 0}));
  // At a point, where both slopes would do, that behind it.
  BOOST_TEST((gradients({0, 1}, {0, 1, 3}, {2, 4, -2})[0].to_vector<double>() == numbers{2, -3}));
}
