// SPDX-License-Identifier: Apache-2.0
//
// custom_vjp: its own rule in place of the derived one, several values, higher derivatives, and
// rules that do not fit.
#include "differences.hpp"

namespace {

using arguments = std::vector<array>;

// (x + y, x y), with gradients of ten times that, so that it is told from the derived one.
tutti::vector_function ten_times() {
  return tutti::custom_vjp(
      [](const arguments& v) {
        return arguments{v[0] + v[1], v[0] * v[1]};
      },
      [](const arguments& v, const arguments&, const arguments& g) {
        return arguments{10 * (g[0] + g[1] * v[1]), 10 * (g[0] + g[1] * v[0])};
      });
}

const arguments& points() {
  static const auto* const both =
      new arguments{array::from<double>({1, 2, 3}), array::from<double>({5, -7, 11})};
  return *both;
}

}  // namespace

BOOST_AUTO_TEST_CASE(its_rule_takes_the_place_of_the_derived_one) {
  const auto f = [](const arguments& v) {
    const arguments both = ten_times()(v);
    return tutti::sum(both[0] * 2 + both[1]);
  };
  const auto [value, gradients] = tutti::value_and_grad(f)(points());
  BOOST_TEST(value.item() == 2 * (6 - 5 + 14) + 5 - 14 + 33);
  BOOST_TEST(matches(gradients[0], {{3}, {70, -50, 130}}));
  BOOST_TEST(matches(gradients[1], {{3}, {30, 40, 50}}));
  // Outside of a gradient it is the function.
  BOOST_TEST(matches(ten_times()(points())[1], {{3}, {5, -14, 33}}));
}

BOOST_AUTO_TEST_CASE(values_that_nothing_depends_on) {
  const auto second = [](const arguments& v) { return tutti::sum(ten_times()(v)[1]); };
  BOOST_TEST(matches(tutti::grad(second)(points())[0], {{3}, {50, -70, 110}}));
  bool called = false;
  const auto unused =
      tutti::custom_vjp([](const arguments& v) { return arguments{v[0]}; },
                        [&](const arguments&, const arguments&, const arguments& g) {
                          called = true;
                          return arguments{g[0]};
                        });
  const auto f = [&](const arguments& v) {
    unused(v);
    return tutti::sum(v[0]);
  };
  BOOST_TEST(matches(tutti::grad(f)({points()[0]})[0], {{3}, {1, 1, 1}}));
  BOOST_TEST(!called);
}

// exp, whose rule uses its value: derivatives of any order go through it.
BOOST_AUTO_TEST_CASE(derivatives_of_higher_order) {
  const auto exponential =
      tutti::custom_vjp([](const arguments& v) { return arguments{tutti::exp(v[0])}; },
                        [](const arguments&, const arguments& y, const arguments& g) {
                          return arguments{g[0] * y[0]};
                        });
  const auto f = [&](const arguments& v) {
    return weighted_sum(exponential({v[0] * v[1]})[0] * v[0]);
  };
  const dense x = random_dense({4}, 0.2, 1, 1), y = random_dense({4}, -1, 1, 2);
  check_gradient(f, {x, y});
  const auto first = [&](const arguments& v) {
    const arguments g = tutti::grad(f)(v);
    return tutti::sum(g[0] * g[1]);
  };
  check_gradient(first, {x, y}, 2e-6);
  const auto second = [&](const arguments& v) { return tutti::sum(tutti::grad(first)(v)[0]); };
  check_gradient(second, {x, y}, 2e-5);
}

BOOST_AUTO_TEST_CASE(several_uses_add_up) {
  const auto f = [](const arguments& v) {
    const arguments once = ten_times()(v), twice = ten_times()({once[0], v[1]});
    return tutti::sum(twice[1] + once[0] + once[0] * once[1]);
  };
  // s = x + y, p = x y; of s y + s + s p: ds = 10 y + 1 + p (10 for the outer rule), dp = s.
  const auto g = tutti::grad(f)(points());
  dense dx{{3}, {}}, dy{{3}, {}};
  const double xs[] = {1, 2, 3}, ys[] = {5, -7, 11};
  for (int i = 0; i < 3; ++i) {
    const double x = xs[i], y = ys[i], s = x + y, p = x * y;
    const double ds = 10 * y + 1 + p, dp = s;
    dx.values.push_back(10 * (ds + dp * y));
    dy.values.push_back(10 * (ds + dp * x) + 10 * s);
  }
  BOOST_TEST(matches(g[0], dx));
  BOOST_TEST(matches(g[1], dy));
}

BOOST_AUTO_TEST_CASE(arguments_that_have_no_derivative) {
  const auto pick = tutti::custom_vjp(
      [](const arguments& v) { return arguments{tutti::take(v[0], v[1], 0)}; },
      [](const arguments& v, const arguments&, const arguments& g) {
        const array rows = tutti::astype(v[1], tutti::dtype::i64);
        return arguments{tutti::scatter_add(tutti::zeros_like(v[0]), rows, g[0], 0), array()};
      });
  const array places = array::from<std::int32_t>({2, 0, 2});
  const auto f = [&](const arguments& v) { return tutti::sum(pick({v[0], places})[0]); };
  BOOST_TEST(matches(tutti::grad(f)({points()[0]})[0], {{3}, {1, 0, 2}}));
}

BOOST_AUTO_TEST_CASE(constants_and_empty_arrays) {
  const auto constant = tutti::custom_vjp(
      [](const arguments& v) {
        return arguments{tutti::ones({2}), tutti::zeros({0, 3}), v[0] * 2};
      },
      [](const arguments&, const arguments& y, const arguments& g) {
        BOOST_TEST((g[0].shape() == y[0].shape()));
        BOOST_TEST((g[1].shape() == tutti::shape{0, 3}));
        return arguments{tutti::sum(g[0]) + tutti::sum(g[1]) + 2 * g[2]};
      });
  const auto f = [&](const arguments& v) {
    const arguments all = constant(v);
    return tutti::sum(all[0] * 5) + tutti::sum(all[1]) + tutti::sum(all[2]);
  };
  BOOST_TEST(matches(tutti::grad(f)({array(1.5)})[0], {{}, {12}}));
}

BOOST_AUTO_TEST_CASE(rules_that_do_not_fit) {
  const auto forward = [](const arguments& v) { return arguments{v[0] * v[1]}; };
  const auto gradient_by = [&](const tutti::backward_function& backward) {
    return [=] {
      tutti::grad([&](const arguments& v) {
        return tutti::sum(tutti::custom_vjp(forward, backward)(v)[0]);
      })(points());
    };
  };
  BOOST_TEST(fails<tutti::value_error>(
      gradient_by(
          [](const arguments&, const arguments&, const arguments& g) { return arguments{g[0]}; }),
      "custom_vjp: the backward function returned 1 cotangents for 2 arguments"));
  BOOST_TEST(fails<tutti::shape_error>(
      gradient_by([](const arguments&, const arguments&, const arguments& g) {
        return arguments{g[0], tutti::sum(g[0])};
      }),
      "custom_vjp: cotangent 1 has shape [], its argument [3]"));
  FAILS(value_error, tutti::custom_vjp(forward, {}), "custom_vjp: the backward function is empty");
  BOOST_TEST(fails<tutti::value_error>(
      [&] {
        tutti::grad([&](const arguments& v) {
          const auto captures = tutti::custom_vjp(
              [&](const arguments& w) { return arguments{w[0] * v[1]}; },
              [&](const arguments&, const arguments&, const arguments& g) { return g; });
          return tutti::sum(captures({v[0]})[0]);
        })(points());
      },
      "custom_vjp: value 0 depends on an array that is being differentiated"));
  FAILS(value_error, ten_times()({array(), points()[0]}), "empty");
}
