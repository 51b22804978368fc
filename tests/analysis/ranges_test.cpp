// SPDX-License-Identifier: Apache-2.0
//
// Observations and rows near the ends of the dtypes, whose squares no number of theirs holds:
// results against loops in long double, gradients by how they scale.
#include "tutti/analysis.hpp"
#include "tutti_test/arrays.hpp"

namespace ranges_test {

namespace {

using tutti::distance_metric;
using arguments = std::vector<array>;

dense times(const dense& d, int exponent) {
  dense out = d;
  for (double& v : out.values) v = std::ldexp(v, exponent);
  return out;
}

dense correlations(const dense& x) {
  const std::int64_t n = x.extents[0], count = x.extents[1];
  const auto product = [&](std::int64_t i, std::int64_t j) {
    long double mean_i = 0, mean_j = 0, sum = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      mean_i += static_cast<long double>(x.at({i, k})) / count;
      mean_j += static_cast<long double>(x.at({j, k})) / count;
    }
    for (std::int64_t k = 0; k < count; ++k)
      sum += (x.at({i, k}) - mean_i) * (x.at({j, k}) - mean_j);
    return sum;
  };
  return tabulate({n, n}, [&](const position& i) {
    return product(i[0], i[1]) / std::sqrt(product(i[0], i[0])) / std::sqrt(product(i[1], i[1]));
  });
}

dense distances(const dense& a, const dense& b, distance_metric metric) {
  return tabulate({a.extents[0], b.extents[0]}, [&](const position& i) {
    long double apart = 0, both = 0, left = 0, right = 0;
    for (std::int64_t k = 0; k < a.extents[1]; ++k) {
      const long double x = a.at({i[0], k}), y = b.at({i[1], k});
      apart += (x - y) * (x - y);
      both += x * y;
      left += x * x;
      right += y * y;
    }
    return metric == distance_metric::cosine ? 1 - both / std::sqrt(left) / std::sqrt(right)
                                             : std::sqrt(apart);
  });
}

struct range_case {
  dtype type;
  int exponent;
  double tolerance;
};
constexpr range_case cases[] = {{dtype::f32, -83, 1e-6},   {dtype::f32, -122, 1e-6},
                                {dtype::f32, 66, 1e-6},    {dtype::f32, 125, 1e-6},
                                {dtype::bf16, -100, 1e-2}, {dtype::bf16, 100, 1e-2},
                                {dtype::f16, -12, 2e-3},   {dtype::f64, -1000, 1e-14},
                                {dtype::f64, 600, 1e-14},  {dtype::f64, 1020, 1e-14}};

const dense left = random_integers({3, 7}, -7, 7, 741), right = random_integers({4, 7}, -7, 7, 742);

}  // namespace

BOOST_AUTO_TEST_CASE(correlations_of_any_size) {
  const dense expected = correlations(left);
  for (const range_case& c : cases) {
    BOOST_TEST_CONTEXT(tutti::name(c.type) << " times 2^" << c.exponent) {
      const array x = upload(times(left, c.exponent - 3), c.type);
      const tolerance near{.relative = c.tolerance, .absolute = c.tolerance};
      BOOST_TEST(matches(tutti::corrcoef(x), expected, near));
      // Each variable has a size of its own.
      if (c.type != dtype::f64 && c.type != dtype::f32) continue;
      const array mixed = tutti::concatenate({x({{0, 1}}), upload(left, c.type)({{1, 3}})});
      BOOST_TEST(matches(tutti::corrcoef(mixed), expected, near));
    }
  }
  // The least denormal number and twice that.
  const array least = array::from<float>({{0, 1e-45F, 3e-45F}, {2, 1, 0}});
  BOOST_TEST(tutti::corrcoef(least)({0, 1}).item() == -1.0, boost::test_tools::tolerance(1e-6));
  const array z = tutti::complex(upload(left, dtype::f64), upload(times(left, 1), dtype::f64));
  BOOST_TEST(matches(tutti::real(tutti::corrcoef(z * 0x1p-600)),
                     read(tutti::real(tutti::corrcoef(z))), {.relative = 1e-14}));
}

// The mean of such is not always one of them, so that rounding errors would correlate.
BOOST_AUTO_TEST_CASE(constants_have_no_correlation) {
  const array x = array::from<float>({{0.1F, 0.1F, 0.1F}, {1, 2, 4}});
  const dense r = read(tutti::corrcoef(x));
  BOOST_TEST(std::isnan(r.at({0, 0})));
  BOOST_TEST(std::isnan(r.at({0, 1})));
  BOOST_TEST(r.at({1, 1}) == 1.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(std::isnan(tutti::corrcoef(tutti::full({5}, 0.1, dtype::f64)).item()));
  BOOST_TEST(std::isnan(tutti::real(tutti::corrcoef(tutti::complex(x, x)))({0, 1}).item()));
  const array with_infinity = array::from<float>({{1, HUGE_VALF, 2}, {1, 2, 4}});
  BOOST_TEST(std::isnan(tutti::corrcoef(with_infinity)({0, 1}).item()));
}

BOOST_AUTO_TEST_CASE(distances_of_any_size) {
  for (const range_case& c : cases)
    for (const auto metric : {distance_metric::euclidean, distance_metric::cosine}) {
      BOOST_TEST_CONTEXT(tutti::name(c.type)
                         << " times 2^" << c.exponent << ", metric " << static_cast<int>(metric)) {
        const dense a = times(left, c.exponent - 4), b = times(right, c.exponent - 4);
        const dense d = distances(left, right, metric);
        const bool is_cosine = metric == distance_metric::cosine;
        BOOST_TEST(matches(tutti::cdist(upload(a, c.type), upload(b, c.type), metric),
                           is_cosine ? d : times(d, c.exponent - 4),
                           {.relative = c.tolerance, .absolute = is_cosine ? c.tolerance : 0}));
      }
    }
  // Rows of each size beside each other, and what is small beside elements that rows share.
  const dense rows{{5, 2}, {1e30, -2e30, 3e-30, 4e-30, 1, 2, 1e10, 1e-12, 1e10, 3e-12}};
  BOOST_TEST(matches(tutti::cdist(upload_as<float>(rows), upload_as<float>(rows)),
                     distances(rows, rows, distance_metric::euclidean), {.relative = 1e-6}));
  const array ends = array::from<float>({{HUGE_VALF, 1}, {0, 1}});
  const dense far = read(tutti::cdist(ends, ends));
  BOOST_TEST(std::isnan(far.at({0, 0})));
  BOOST_TEST(std::isinf(far.at({0, 1})));
  BOOST_TEST(far.at({1, 1}) == 0);
}

// Of functions of degree d their gradients are of degree d - 1.
BOOST_AUTO_TEST_CASE(gradients_of_any_size) {
  struct homogeneous {
    const char* name;
    int degree;
    tutti::function f;
  };
  const array weights = upload_as<float>(random_dense({3, 3}, 0.5, 1.5, 743));
  const auto weighed = [&](const array& y) { return tutti::sum(y * weights); };
  const homogeneous all[] = {
      {"corrcoef", 0, [&](const arguments& v) { return weighed(tutti::corrcoef(v[0])); }},
      {"euclidean", 1,
       [&](const arguments& v) { return weighed(tutti::cdist(v[0], tutti::flip(v[0], 1))); }},
      {"cosine", 0, [&](const arguments& v) {
         return weighed(tutti::cdist(v[0], tutti::flip(v[0], 1), distance_metric::cosine));
       }}};
  const array direction = upload_as<float>(random_dense({3, 7}, -1, 1, 744));
  for (const homogeneous& h : all) {
    const tutti::function slope = [&](const arguments& v) {
      return tutti::sum(tutti::grad(h.f)(v)[0] * direction);
    };
    const dense first = read(tutti::grad(h.f)({upload_as<float>(left)})[0]);
    const dense second = read(tutti::grad(slope)({upload_as<float>(left)})[0]);
    for (const int exponent : {-83, -40, 40, 66}) {
      BOOST_TEST_CONTEXT(h.name << " times 2^" << exponent) {
        const array x = upload_as<float>(times(left, exponent));
        const auto near = [](const dense& d) {
          double most = 0;
          for (const double v : d.values) most = std::max(most, std::abs(v));
          return tolerance{.relative = 1e-5, .absolute = 1e-5 * most};
        };
        const dense once = times(first, (h.degree - 1) * exponent);
        BOOST_TEST(matches(tutti::grad(h.f)({x})[0], once, near(once)));
        if (std::abs((h.degree - 2) * exponent) > 120) continue;  // beyond f32 itself
        const dense twice = times(second, (h.degree - 2) * exponent);
        BOOST_TEST(matches(tutti::grad(slope)({x})[0], twice, near(twice)));
      }
    }
  }
}

}  // namespace ranges_test
