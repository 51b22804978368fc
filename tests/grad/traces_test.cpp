// SPDX-License-Identifier: Apache-2.0
//
// What belongs to which gradient: gradients in threads within gradients, arrays that a function
// keeps, and what becomes of both when the gradient is there.
#include "differences.hpp"

namespace {

using arguments = std::vector<array>;

array squares(const array& x) { return tutti::sum(x * x); }

void in_thread(const std::function<void()>& job) { std::thread(job).join(); }

// exp with a rule that uses its value.
const tutti::vector_function exponential =
    tutti::custom_vjp([](const arguments& x) { return arguments{tutti::exp(x[0])}; },
                      [](const arguments&, const arguments& y, const arguments& g) {
                        return arguments{y[0] * g[0]};
                      });

std::uint64_t bytes_in_use() {
  tutti::synchronize();
  return tutti::stats().pool_bytes_in_use;
}

constexpr std::int64_t length = 10000;
constexpr std::uint64_t array_bytes = length * sizeof(float);

// Bytes that 40 calls of `step` add to what 10 calls left in use.
std::uint64_t growth(const std::function<void()>& step) {
  for (int i = 0; i < 10; ++i) step();
  const std::uint64_t early = bytes_in_use();
  for (int i = 0; i < 40; ++i) step();
  const std::uint64_t late = bytes_in_use();
  return late > early ? late - early : 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gradient_in_a_thread_within_a_gradient) {
  const array x = array::from<float>({1, 2, 3});
  const auto constant = [](const array& v) {
    const array y = v * v;
    array g;
    in_thread([&] { g = tutti::grad(squares)(y); });
    return tutti::sum(y * tutti::stop_gradient(g));  // x^2 times 2 x^2, the latter constant
  };
  BOOST_TEST(matches(tutti::grad(constant)(x), {{3}, {4, 32, 108}}));
  const auto through = [](const array& v) {
    const array y = v * v;
    array g;
    in_thread([&] { g = tutti::grad(squares)(y); });
    return tutti::sum(y * g);  // 2 x^4
  };
  BOOST_TEST(matches(tutti::grad(through)(x), {{3}, {8, 64, 216}}));
  const auto captured = [](const array& v) {
    const array y = v * v;
    array g;
    in_thread([&] {
      g = tutti::grad([&](const array& w) { return tutti::sum(w * y); })(tutti::ones({3}));
      g.eval();
    });
    return tutti::sum(y * 3);
  };
  BOOST_TEST(matches(tutti::grad(captured)(x), {{3}, {6, 12, 18}}));
  const auto product = [](const array& v) {
    array g;
    in_thread([&] {
      g = tutti::vjp([](const arguments& w) { return arguments{w[0] * w[0]}; }, {v}, {v}).second[0];
    });
    return tutti::sum(g);  // 2 x^2
  };
  BOOST_TEST(matches(tutti::grad(product)(x), {{3}, {4, 8, 12}}));
}

// The inner gradient knows that another thread differentiates it again.
BOOST_AUTO_TEST_CASE(rules_of_higher_order_in_a_thread) {
  const array x = array::from<double>({0.5, -1, 2});
  const auto second = [](const std::function<array(const array&)>& f, bool threaded) {
    return tutti::grad([f, threaded](const array& v) {
      array g;
      const auto job = [&] { g = tutti::grad(f)(v); };
      threaded ? in_thread(job) : job();
      return tutti::sum(g);
    });
  };
  const auto rule = [](const array& v) { return tutti::sum(exponential({v})[0]); };
  const dense expected{{3}, {std::exp(0.5), std::exp(-1), std::exp(2)}};
  BOOST_TEST(matches(second(rule, false)(x), expected, {.relative = 1e-12}));
  BOOST_TEST(matches(second(rule, true)(x), expected, {.relative = 1e-12}));
  // Products of zeros take more work for each order: x y z at (0, 0, 3).
  const auto all = [](const array& v) { return tutti::prod(v); };
  const array zeros = array::from<double>({0, 0, 3});
  BOOST_TEST(matches(second(all, false)(zeros), {{3}, {3, 3, 0}}));
  BOOST_TEST(matches(second(all, true)(zeros), {{3}, {3, 3, 0}}));
}

BOOST_AUTO_TEST_CASE(what_an_inner_gradient_keeps_belongs_to_the_outer_one) {
  const array x = array::from<double>({1, 2, 3});
  const dense expected{{3}, {3 + std::exp(1), 12 + std::exp(2), 27 + std::exp(3)}};
  for (const bool evaluated : {false, true}) {
    const auto f = [evaluated](const array& v) {
      array kept, by_rule;
      tutti::grad([&](const array& w) {
        kept = w * w * v;
        by_rule = exponential({w})[0];
        if (evaluated) tutti::eval(kept, by_rule);
        return tutti::sum(kept);
      })(v);
      return tutti::sum(kept + by_rule);
    };
    BOOST_TEST(matches(tutti::grad(f)(x), expected, {.relative = 1e-12}));
  }
}

BOOST_AUTO_TEST_CASE(what_a_function_keeps_is_a_constant_afterwards) {
  const array x = array::from<float>({1, 2, 3});
  array kept;
  tutti::grad([&](const array& v) {
    kept = v * 2;
    return tutti::sum(v);
  })(x);
  // A function with a rule may use what is not being differentiated.
  const auto scale = tutti::custom_vjp([&](const arguments& v) { return arguments{v[0] * kept}; },
                                       [&](const arguments&, const arguments&, const arguments& g) {
                                         return arguments{g[0] * kept};
                                       });
  const auto f = [&](const array& v) { return tutti::sum(scale({v})[0] + v * kept); };
  BOOST_TEST(matches(tutti::grad(f)(x), {{3}, {4, 8, 12}}));
}

BOOST_AUTO_TEST_CASE(running_statistics_keep_memory_bounded) {
  const array x = tutti::full({length}, 1, tutti::dtype::f32) * tutti::ones({length});
  array p = tutti::full({length}, 0.5, tutti::dtype::f32) * x;
  array running = tutti::zeros({length});
  enum class when { afterwards, inside };
  for (const when evaluated : {when::afterwards, when::inside}) {
    const auto step = [&] {
      const auto [value, gradient] = tutti::value_and_grad([&](const array& v) {
        const array h = v * x;
        running = running * 0.9f + h * 0.1f;
        if (evaluated == when::inside) running.eval();
        return squares(h);
      })(p);
      p = p - 1e-4f * gradient;
      tutti::eval(p, value, running);
    };
    BOOST_TEST(growth(step) < 4 * array_bytes);
  }
}

BOOST_AUTO_TEST_CASE(kept_results_of_rules_and_views_keep_memory_bounded) {
  const array x = tutti::random::normal({1}, {length});
  array by_rule = tutti::zeros({length}), turned = by_rule;
  const auto step = [&] {
    tutti::eval(tutti::grad([&](const array& v) {
      by_rule = exponential({tutti::sin(by_rule + v)})[0];
      turned = tutti::flip(tutti::flip(turned) * v);
      tutti::eval(by_rule, turned);
      return squares(v);
    })(x));
  };
  BOOST_TEST(growth(step) < 4 * array_bytes);
}

BOOST_AUTO_TEST_CASE(functions_that_throw_keep_nothing) {
  const array x = tutti::random::normal({1}, {length});
  array kept = tutti::zeros({length});
  const auto step = [&] {
    const auto f = [&](const array& v) -> array {
      kept = v * 2.f + kept * 0.5f;
      kept.eval();
      throw std::runtime_error("broken");
    };
    BOOST_CHECK_THROW(tutti::grad(f)(x), std::runtime_error);
    BOOST_CHECK_THROW(tutti::vjp([&](const arguments& v) { return arguments{f(v[0])}; }, {x}, {x}),
                      std::runtime_error);
  };
  BOOST_TEST(growth(step) < 4 * array_bytes);
}

// What was evaluated within the function lets go of what it was made from at the end, not later.
BOOST_AUTO_TEST_CASE(the_end_of_a_gradient_frees_what_it_kept) {
  const array x = tutti::random::normal({1}, {length});
  x.eval();
  const std::uint64_t before = bytes_in_use();
  array kept;
  {
    const array g = tutti::grad([&](const array& v) {
      kept = v;
      for (int i = 0; i < 20; ++i) {
        kept = tutti::sin(kept);
        kept.eval();
      }
      return tutti::sum(v);
    })(x);
    g.eval();
  }
  BOOST_TEST(bytes_in_use() <= before + 4 * array_bytes);
}
