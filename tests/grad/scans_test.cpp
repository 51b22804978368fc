// SPDX-License-Identifier: Apache-2.0
//
// Gradients of cumulative operations and of sorting against central differences, in f64.
#include "differences.hpp"
#include "tutti_test/host_device.hpp"

namespace {

using tutti::scan_options;

const dense matrix = random_dense({4, 6}, 0.5, 1.5, 341);

// Distinct elements further apart than the step of the differences.
dense distinct(const tutti::shape& extents) {
  dense d = random_dense(extents, -1, 1, 342);
  for (std::size_t i = 0; i < d.values.size(); ++i)
    d.values[i] = static_cast<double>(i * 7 % d.values.size()) * 0.1 - 1;
  return d;
}

template <class Scan>
void check_scan(Scan scan, const dense& x) {
  for (int axis : {0, 1})
    for (int flags = 0; flags < 4; ++flags)
      BOOST_TEST_CONTEXT("axis " << axis << " flags " << flags)
  check_gradient(
      [&](const std::vector<array>& v) {
        // The neutral elements of exclusive scans may be infinite.
        const array y = scan(v[0], scan_options(axis, (flags & 1) != 0, (flags & 2) != 0));
        return weighted_sum(tutti::where(tutti::isfinite(y), y, 0));
      },
      {x});
}

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_of_scans) {
  check_scan(tutti::cumsum, matrix);
  check_scan(tutti::cumprod, matrix);
  check_scan(tutti::logcumsumexp, matrix);
  check_scan(tutti::cummax, distinct({3, 5}));
  check_scan(tutti::cummin, distinct({3, 5}));
}

BOOST_AUTO_TEST_CASE(gradients_of_products_with_zeros) {
  dense x = matrix;
  x.values[2] = 0;                  // one zero in a row
  x.values[7] = x.values[10] = 0;   // two
  x.values[18] = x.values[23] = 0;  // the first and the last
  check_scan(tutti::cumprod, x);
}

BOOST_AUTO_TEST_CASE(second_derivatives_of_running_products) {
  const dense x = {{3, 4}, {2, 0, 1.5, 3, 0, 0.5, 0, 2, 0, 0, 0, 1.5}};
  for (int flags = 0; flags < 4; ++flags) {
    const tutti::function once = [flags](const std::vector<array>& v) {
      const scan_options how(1, (flags & 1) != 0, (flags & 2) != 0);
      return weighted_sum(tutti::cumprod(v[0], how));
    };
    const tutti::function twice = [once](const std::vector<array>& v) {
      const array g = tutti::grad(once)(v)[0];
      return weighted_sum(tutti::square(g) + g);
    };
    BOOST_TEST_CONTEXT("flags " << flags)
    check_gradient(twice, {x}, 2e-6);
    if (!tutti_test::on_host()) break;  // much to compile
  }
}

BOOST_AUTO_TEST_CASE(gradient_of_logcumsumexp_without_overflow) {
  const auto loss = [](const std::vector<array>& v) {
    return tutti::sum(tutti::logcumsumexp(v[0], 0) * array::from<double>({1, -1, 1}));
  };
  const array g = tutti::grad(loss)({array::from<double>({-1000, 0, 1000})})[0];
  BOOST_TEST(matches(g, {{3}, {1, -1, 1}}, {.relative = 1e-12, .absolute = 1e-300}));
}

// Where residuals vanish, the cotangent is 0 and its derivative is not.
BOOST_AUTO_TEST_CASE(second_derivative_of_logcumsumexp_at_a_minimum) {
  const dense x = {{5}, {1, -2, 0.5, 3, -1}};
  const array least = tutti::logcumsumexp(upload_as<double>(x), 0);
  const tutti::function squares = [&](const std::vector<array>& v) {
    return weighted_sum(tutti::square(tutti::logcumsumexp(v[0], 0) - least));
  };
  check_gradient(
      [&](const std::vector<array>& v) { return weighted_sum(tutti::grad(squares)(v)[0]); }, {x},
      2e-6);
}

BOOST_AUTO_TEST_CASE(gradients_of_differences_and_sorts) {
  const dense x = distinct({5, 4});
  const auto check = [&](auto f) {
    check_gradient([&](const std::vector<array>& v) { return weighted_sum(f(v[0])); }, {x});
  };
  check([](const array& a) { return tutti::diff(a, 2, 0); });
  check([](const array& a) { return tutti::sort(a, 0); });
  check([](const array& a) { return tutti::sort(a, 1, tutti::order::descending); });
  check([](const array& a) { return tutti::topk(a, 2, 0).values; });
  check([](const array& a) { return tutti::partition(a, 2, 1); });
  check([](const array& a) { return tutti::median(a, 1); });
  check([](const array& a) { return tutti::quantile(a, 0.3, 0); });
  check([](const array& a) {
    return tutti::take_along_axis(a, array::from<std::int64_t>({1, 0, 0, 3}).reshape({1, 4}), 0);
  });
}
