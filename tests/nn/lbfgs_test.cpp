// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS on functions whose minimum is known, and its line search on lines.
#include "networks.hpp"
#include "nn/line_search.hpp"

using nn::detail::line_point;

namespace {

/// H. Rosenbrock, 1960: a curved valley whose least value is 0 at (1, 1).
array rosenbrock(const list& p) {
  const array x = p[0], y = p[1];
  return tutti::sum(tutti::square(1 - x) + 100 * tutti::square(y - tutti::square(x)));
}

list rosenbrock_start() {
  return {tutti::full({1}, -1.2, dtype::f64), tutti::full({1}, 1, dtype::f64)};
}

/// Least at 1, 2, ..., 7, eigenvalues from 1 to 10^4.
array bowl(const list& p) {
  const array places = tutti::arange(7).astype(dtype::f64) + 1.0;
  const array e = p[0] - places;
  return tutti::sum(tutti::power(10.0, (places - 1.0) * (4.0 / 6)) * e * e) + 3;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lbfgs_finds_the_minimum) {
  nn::lbfgs optimizer({.iterations = 100, .tolerance_change = 1e-16});
  BOOST_TEST(std::isnan(optimizer.loss()));
  const list at = optimizer.step(rosenbrock, rosenbrock_start());
  BOOST_TEST(std::abs(at[0].item() - 1) < 1e-6);
  BOOST_TEST(std::abs(at[1].item() - 1) < 1e-6);
  BOOST_TEST(optimizer.loss() < 1e-14);
  BOOST_TEST(optimizer.evaluations() < 70);

  nn::lbfgs other({.iterations = 100, .tolerance_gradient = 1e-6, .tolerance_change = 0});
  const list p = other.step(bowl, {tutti::zeros({7}, dtype::f64)});
  for (int i = 0; i < 7; ++i) BOOST_TEST(std::abs(p[0][i].item() - (i + 1)) < 1e-6);
  BOOST_TEST(std::abs(other.loss() - 3) < 1e-12);
  // At the minimum nothing moves.
  BOOST_TEST(tutti::all(other.step(bowl, p)[0] == p[0]).item<bool>());
  BOOST_TEST(other.evaluations() == 1);
}

BOOST_AUTO_TEST_CASE(lbfgs_goes_on_from_its_state) {
  nn::lbfgs whole({.iterations = 8}), first({.iterations = 4}), second({.iterations = 4});
  const list expected = whole.step(rosenbrock, rosenbrock_start());
  const list half = first.step(rosenbrock, rosenbrock_start());
  second.load_state(first.state());
  const list got = second.step(rosenbrock, half);
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(got[i].item() == expected[i].item());
  FAILS(value_error, second.load_state(list(1, tutti::ones({2}))), "1 arrays for a history of 10");
  FAILS(shape_error, second.load_state(list{tutti::ones({2}), tutti::ones({3})}), "[3] beside [2]");
  FAILS(shape_error, second.step(bowl, {tutti::zeros({7}, dtype::f64)}),
        "7 elements, but state of 2");
}

BOOST_AUTO_TEST_CASE(lbfgs_keeps_shapes_and_dtypes) {
  const auto loss = [](const list& p) {
    return tutti::mean(tutti::square(p[0] - 3)) + tutti::sum(tutti::square(p[1] + 1));
  };
  for (const dtype type : {dtype::f16, dtype::f32, dtype::f64}) {
    nn::lbfgs optimizer;
    const list p = optimizer.step(loss, {tutti::zeros({2, 3}, type), tutti::zeros({}, type)});
    BOOST_TEST((p[0].shape() == shape{2, 3}));
    BOOST_TEST((p[1].shape() == shape{}));
    BOOST_TEST((p[0].dtype() == type));
    BOOST_TEST(std::abs(p[0](1, 2).item() - 3) < 2e-2);
    BOOST_TEST(std::abs(p[1].item() + 1) < 2e-2);
  }
}

BOOST_AUTO_TEST_CASE(lbfgs_refuses_what_cannot_be) {
  nn::lbfgs optimizer;
  const auto nan = [](const list& p) { return tutti::sum(p[0] * NAN); };
  FAILS(value_error, optimizer.step(nan, {tutti::ones({2})}), "the loss is nan at the parameters");
  FAILS(value_error, optimizer.step(bowl, {}), "no parameters");
  FAILS(dtype_error, optimizer.step(bowl, {tutti::arange(3)}), "i32");
  FAILS(value_error, nn::lbfgs({.history = 0}), "history = 0");
  // Where the logarithm ends the search comes back: x - log x, least at 1.
  const auto walled = [](const list& p) { return tutti::sum(p[0] - tutti::log(p[0])); };
  nn::lbfgs careful({.learning_rate = 100});
  BOOST_TEST(std::abs(careful.step(walled, {tutti::full({1}, 5, dtype::f64)})[0].item() - 1) <
             1e-4);
}

BOOST_AUTO_TEST_CASE(line_search_ends_in_both_conditions) {
  const auto check = [](auto loss, auto slope, double first) {
    const auto evaluate = [&](double at) { return line_point{at, loss(at), slope(at)}; };
    const line_point start = evaluate(0),
                     found = nn::detail::strong_wolfe(evaluate, start, first, 40);
    BOOST_TEST(found.length > 0);
    BOOST_TEST(found.loss <= start.loss + 1e-4 * found.length * start.slope);
    BOOST_TEST(std::abs(found.slope) <= -0.9 * start.slope);
  };
  for (const double first : {1e-3, 0.1, 1.0, 10.0, 1000.0}) {
    BOOST_TEST_CONTEXT("from " << first) {
      check([](double t) { return (t - 2) * (t - 2); }, [](double t) { return 2 * (t - 2); },
            first);
      check([](double t) { return std::pow(t, 4) - 3 * t; },
            [](double t) { return 4 * std::pow(t, 3) - 3; }, first);
      // A narrow dip behind a wide slope.
      check([](double t) { return -t / (t * t + 2); },
            [](double t) { return (t * t - 2) / std::pow(t * t + 2, 2); }, first);
    }
  }
  int evaluations = 0;
  const auto rising = [&](double at) {
    ++evaluations;
    return line_point{at, 1 + at, -1};  // a slope that lies
  };
  BOOST_TEST(nn::detail::strong_wolfe(rising, {0, 1, -1}, 1, 7).length == 0);
  BOOST_TEST(evaluations == 7);
}

// A valley whose depth is less than the rounding of its losses.
BOOST_AUTO_TEST_CASE(line_search_within_noise) {
  for (const double first : {0.01, 1.0, 1.9, 5.0, 300.0}) {
    std::uint64_t wobble = 1;
    const auto evaluate = [&](double t) {
      wobble = wobble * 6364136223846793005u + 1442695040888963407u;
      const double noise = (static_cast<double>(wobble >> 40) / (1 << 24) - 0.5) * 1e-6;
      return line_point{t, 3 + 1e-9 * (t - 1) * (t - 1) + noise, 2e-9 * (t - 1)};
    };
    const line_point start{0, 3 - 6e-7, -2e-9},  // none is seen to be lower
        found = nn::detail::strong_wolfe(evaluate, start, first, 40, 1e-6);
    BOOST_TEST_CONTEXT("from " << first) {
      BOOST_TEST(found.length > 0);
      BOOST_TEST(std::abs(found.slope) <= -0.9 * start.slope);
    }
  }
  // Where losses tell more than their noise they decide.
  const auto rising = [](double t) { return line_point{t, 1 + t, -1}; };
  BOOST_TEST(nn::detail::strong_wolfe(rising, {0, 1, -1}, 1, 7, 1e-6).length == 0);
}
