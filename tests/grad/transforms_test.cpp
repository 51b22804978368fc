// SPDX-License-Identifier: Apache-2.0
//
// value_and_grad, grad and vjp as transforms: nesting, arguments, refusals, depth, memory, threads.
#include "differences.hpp"

namespace {

using arguments = std::vector<array>;

}  // namespace

BOOST_AUTO_TEST_CASE(value_and_gradients) {
  const auto f = [](const arguments& v) { return tutti::sum(v[0] * v[1] * v[1]); };
  const auto [value, gradients] =
      tutti::value_and_grad(f)({array::from<float>({1, 2}), array::from<float>({3, 4})});
  tutti::eval({value, gradients[0], gradients[1]});
  BOOST_TEST(value.item() == 41);
  BOOST_TEST(matches(gradients[0], {{2}, {9, 16}}));
  BOOST_TEST(matches(gradients[1], {{2}, {6, 16}}));
}

BOOST_AUTO_TEST_CASE(chosen_arguments) {
  const auto f = [](const arguments& v) { return tutti::sum(v[0] * v[1]); };
  const array x = array::from<float>({1, 2});
  const array labels = array::from<std::int32_t>({5, 6});
  BOOST_TEST(matches(tutti::grad(f, {0})({x, labels})[0], {{2}, {5, 6}}));
  BOOST_TEST(tutti::grad(f, {0})({x, labels}).size() == 1u);
  FAILS(dtype_error, tutti::grad(f)({x, labels}), "argument 1 must be floating, got i32");
  FAILS(index_error, tutti::grad(f, {2})({x, x}), "argument number 2 of 2");
  FAILS(value_error, tutti::grad(f)({x, array()}), "empty");
}

BOOST_AUTO_TEST_CASE(unused_and_constant_arguments) {
  const auto f = [](const arguments& v) { return tutti::sum(v[0]) + 3; };
  const array x = array::from<float>({1, 2});
  const auto g = tutti::grad(f)({x, tutti::zeros({2, 2})});
  BOOST_TEST(matches(g[1], {{2, 2}, {0, 0, 0, 0}}));
  // Constants and scalars are arguments like others; a function may ignore all of them.
  const auto square = [](const arguments& v) { return tutti::sum(v[0] * v[0]); };
  BOOST_TEST(
      matches(tutti::grad(square)({tutti::full({2}, 3, tutti::dtype::f32)})[0], {{2}, {6, 6}}));
  BOOST_TEST(matches(tutti::grad(square)({2.5})[0], {{}, {5}}));
  const auto ignore = [](const arguments&) { return array(1.0); };
  BOOST_TEST(matches(tutti::grad(ignore)({x})[0], {{2}, {0, 0}}));
  const auto identity = [](const arguments& v) { return v[0]; };
  BOOST_TEST(matches(tutti::grad(identity)({array(7.0)})[0], {{}, {1}}));
  const auto empty = [](const arguments& v) { return tutti::sum(v[0] * 2); };
  BOOST_TEST(matches(tutti::grad(empty)({tutti::zeros({0, 3})})[0], {{0, 3}, {}}));
}

BOOST_AUTO_TEST_CASE(refused_values) {
  const array x = array::from<float>({1, 2});
  BOOST_TEST(fails<tutti::shape_error>(
      [&] { tutti::grad([](const arguments& v) { return v[0] * 2; })({x}); },
      "grad: the function's value must have one element, got shape [2]"));
  BOOST_TEST(fails<tutti::dtype_error>(
      [&] { tutti::value_and_grad([](const arguments& v) { return tutti::argmax(v[0]); })({x}); },
      "value_and_grad: the function's value must be floating, got i64"));
  // An exception in the function leaves nothing behind.
  const auto broken = [](const arguments&) -> array { throw std::runtime_error("broken"); };
  BOOST_CHECK_THROW(tutti::grad(broken)({x}), std::runtime_error);
  BOOST_TEST(matches(tutti::grad([](const arguments& v) { return tutti::sum(v[0]); })({x})[0],
                     {{2}, {1, 1}}));
}

BOOST_AUTO_TEST_CASE(third_derivative_by_nesting) {
  const tutti::function cube = [](const arguments& v) { return v[0] * v[0] * v[0] * v[0]; };
  const tutti::function first = [cube](const arguments& v) { return tutti::grad(cube)(v)[0]; };
  const tutti::function second = [first](const arguments& v) { return tutti::grad(first)(v)[0]; };
  BOOST_TEST(tutti::grad(second)({2.0})[0].item() == 48);
}

BOOST_AUTO_TEST_CASE(inner_gradient_with_outer_variable) {
  // d/dx of (d/dy x^2 y^3) at x = 2, y = 3: 2 x 3 y^2.
  const tutti::function outer = [](const arguments& x) {
    const tutti::function inner = [&x](const arguments& y) {
      return x[0] * x[0] * y[0] * y[0] * y[0];
    };
    return tutti::grad(inner)({3.0})[0];
  };
  BOOST_TEST(tutti::grad(outer)({2.0})[0].item() == 108);
  // The inner function may differentiate by the outer variable itself.
  const tutti::function same = [](const arguments& x) {
    const tutti::function square = [](const arguments& y) { return y[0] * y[0]; };
    return tutti::grad(square)({x[0]})[0] * x[0];
  };
  BOOST_TEST(tutti::grad(same)({5.0})[0].item() == 20);
}

BOOST_AUTO_TEST_CASE(stopped_gradients) {
  const auto f = [](const arguments& v) {
    return tutti::sum(tutti::stop_gradient(v[0] * 3) * v[0]);
  };
  BOOST_TEST(matches(tutti::grad(f)({array::from<float>({1, 2})})[0], {{2}, {3, 6}}));
}

BOOST_AUTO_TEST_CASE(products_with_the_jacobian) {
  const tutti::vector_function f = [](const arguments& v) {
    return arguments{v[0] * v[1], tutti::sum(v[0]), tutti::argmax(v[0])};
  };
  const array x = array::from<float>({1, 2}), y = array::from<float>({3, 4});
  const auto [values, gradients] =
      tutti::vjp(f, {x, y}, {array::from<float>({10, 100}), 1000, tutti::zeros({})});
  BOOST_TEST(values.size() == 3u);
  BOOST_TEST(matches(values[0], {{2}, {3, 8}}));
  BOOST_TEST(matches(gradients[0], {{2}, {1030, 1400}}));
  BOOST_TEST(matches(gradients[1], {{2}, {10, 200}}));
  FAILS(value_error, tutti::vjp(f, {x, y}, {x}), "1 cotangents for 3");
  FAILS(shape_error, tutti::vjp(f, {x, y}, {x, y, 0}), "cotangent 1 has shape [2], its value []");
}

BOOST_AUTO_TEST_CASE(evaluation_inside_the_function) {
  const auto f = [](const arguments& v) {
    array y = v[0];
    // A loop that depends on values.
    while (tutti::sum(y).item() < 100) y = y * v[0];
    return tutti::sum(y);
  };
  BOOST_TEST(matches(tutti::grad(f)({array::from<double>({2, 3})})[0], {{2}, {5 * 16, 5 * 81}}));
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_steps) {
  constexpr int steps = 100000;
  const auto f = [](const arguments& v) {
    array y = v[0];
    for (int i = 0; i < steps; ++i) y = y + v[0];
    return tutti::sum(y);
  };
  BOOST_TEST(matches(tutti::grad(f)({array::from<double>({1, 2, 3})})[0],
                     {{3}, {steps + 1, steps + 1, steps + 1}}));
}

BOOST_AUTO_TEST_CASE(graphs_that_branch_and_join) {
  // Each level uses the one below twice: 2^40 paths, each node visited once.
  const auto f = [](const arguments& v) {
    array y = v[0];
    for (int i = 0; i < 40; ++i) y = y + y;
    return tutti::sum(y);
  };
  BOOST_TEST(matches(tutti::grad(f)({array::from<double>({1})})[0], {{1}, {std::ldexp(1.0, 40)}}));
}

BOOST_AUTO_TEST_CASE(functions_of_one_array) {
  const auto f = [](const array& x) { return tutti::sum(x * x * x); };
  const array x = array::from<double>({1, -2, 3});
  BOOST_TEST(matches(tutti::grad(f)(x), {{3}, {3, 12, 27}}));
  const auto [value, gradient] = tutti::value_and_grad(f)(x);
  BOOST_TEST(value.item() == 20);
  BOOST_TEST(matches(gradient, {{3}, {3, 12, 27}}));
  // Of itself, with an argument by value, and of what keeps state.
  const auto second = tutti::grad([&](array y) { return tutti::sum(tutti::grad(f)(y)); });
  BOOST_TEST(matches(second(x), {{3}, {6, -12, 18}}));
  int calls = 0;
  const auto counted = tutti::grad([calls = &calls, n = 0](const array& y) mutable {
    *calls = ++n;
    return tutti::sum(y);
  });
  counted(x);
  counted(x);
  BOOST_TEST(calls == 2);
  BOOST_TEST(fails<tutti::shape_error>(
      [&] { tutti::grad([](const array& y) { return y * 2; })(x); }, "one element, got shape [3]"));
  FAILS(dtype_error, tutti::grad(f)(array::from({1, 2})), "i32");
}

BOOST_AUTO_TEST_CASE(threads) {
  std::vector<std::thread> workers;
  std::vector<double> results(4);
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([t, &results] {
      const auto f = [t](const arguments& v) { return tutti::sum(v[0] * v[0] * (t + 1)); };
      for (int i = 0; i < 20; ++i)
        results[std::size_t(t)] =
            tutti::sum(tutti::grad(f)({array::from<float>({1, 2})})[0]).item();
    });
  }
  for (std::thread& w : workers) w.join();
  for (int t = 0; t < 4; ++t) BOOST_TEST(results[std::size_t(t)] == 6 * (t + 1));
}

BOOST_AUTO_TEST_CASE(training_keeps_memory_bounded) {
  array w = tutti::random::normal({1}, {64, 64});
  const array x = tutti::random::normal({2}, {128, 64});
  const auto loss = [&](const arguments& v) {
    return tutti::mean(tutti::square(tutti::tanh(tutti::matmul(x, v[0])) - 0.5));
  };
  const auto transform = tutti::value_and_grad(loss);
  double first = 0, last = 0;
  std::uint64_t early = 0;
  for (int i = 0; i < 60; ++i) {
    const auto [value, gradients] = transform({w});
    w = w - 10 * gradients[0];
    tutti::eval({value, w});
    last = value.item();
    if (i == 0) first = last;
    if (i == 10) early = tutti::stats().pool_bytes_peak;
  }
  BOOST_TEST(last < 0.9 * first);
  BOOST_TEST(tutti::stats().pool_bytes_peak <= early);
}

BOOST_AUTO_TEST_CASE(a_function_that_is_empty_is_refused) {
  using of_one = std::function<array(const array&)>;
  FAILS(value_error, tutti::grad(tutti::function()), "grad: the function is empty");
  FAILS(value_error, tutti::grad(of_one()), "grad: the function is empty");
  FAILS(value_error, tutti::value_and_grad(tutti::function()),
        "value_and_grad: the function is empty");
  FAILS(value_error, tutti::value_and_grad(of_one()), "value_and_grad: the function is empty");
  FAILS(value_error, tutti::vjp(tutti::vector_function(), {}, {}), "vjp: the function is empty");
}
