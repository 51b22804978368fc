// SPDX-License-Identifier: Apache-2.0
//
// SGD and Adam against the published update rules written out in double, and their cost: steps
// after the second compile nothing.
#include "networks.hpp"
#include "tutti/counters.hpp"

namespace {

constexpr std::size_t size = 37;
constexpr int steps = 6;

std::vector<double> gradient_at(int step) { return random_vector<double>(size, -1, 1, 100 + step); }

/// Runs `optimizer` on one parameter and gives its final value.
template <class Optimizer>
std::vector<double> trained(Optimizer optimizer) {
  list p{array::from(random_vector<double>(size, -1, 1))};
  for (int step = 0; step < steps; ++step) {
    p = optimizer.step(p, {array::from(gradient_at(step))});
  }
  return p[0].to_vector<double>();
}

std::vector<double> expected_sgd(const nn::sgd_options& o) {
  auto p = random_vector<double>(size, -1, 1);
  std::vector<double> v(size);
  for (int step = 0; step < steps; ++step) {
    const auto gradient = gradient_at(step);
    for (std::size_t i = 0; i < size; ++i) {
      const double g = gradient[i] + o.weight_decay * p[i];
      v[i] = o.momentum * v[i] + g;
      p[i] -= o.learning_rate * (o.nesterov ? g + o.momentum * v[i] : v[i]);
    }
  }
  return p;
}

std::vector<double> expected_adam(const nn::adam_options& o) {
  auto p = random_vector<double>(size, -1, 1);
  std::vector<double> m(size), v(size);
  for (int step = 0; step < steps; ++step) {
    const auto g = gradient_at(step);
    for (std::size_t i = 0; i < size; ++i) {
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * g[i];
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * g[i] * g[i];
      const double m_hat = m[i] / (1 - std::pow(o.beta1, step + 1));
      const double v_hat = v[i] / (1 - std::pow(o.beta2, step + 1));
      const double decay = o.learning_rate * o.weight_decay * p[i];
      p[i] -= o.learning_rate * m_hat / (std::sqrt(v_hat) + o.epsilon) + decay;
    }
  }
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizers)

BOOST_AUTO_TEST_CASE(sgd_follows_its_rule) {
  for (const nn::sgd_options& o :
       {nn::sgd_options{.learning_rate = 0.1}, nn::sgd_options{.momentum = 0.9},
        nn::sgd_options{.momentum = 0.8, .nesterov = true}, nn::sgd_options{.weight_decay = 0.3},
        nn::sgd_options{.momentum = 0.5, .nesterov = true, .weight_decay = 0.1}}) {
    BOOST_TEST(
        all_close(trained(nn::sgd(o)), expected_sgd(o), {.relative = 1e-12, .absolute = 1e-14}));
  }
}

BOOST_AUTO_TEST_CASE(adam_follows_its_rule) {
  for (const nn::adam_options& o :
       {nn::adam_options{}, nn::adam_options{.learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.9},
        nn::adam_options{.epsilon = 0.1},
        nn::adam_options{.learning_rate = 0.1, .weight_decay = 0.5},
        nn::adam_options{.beta1 = 0, .beta2 = 0}}) {
    BOOST_TEST(
        all_close(trained(nn::adam(o)), expected_adam(o), {.relative = 1e-11, .absolute = 1e-13}));
  }
}

BOOST_AUTO_TEST_CASE(parameters_keep_shape_and_dtype) {
  for (const dtype type : {dtype::f16, dtype::f32, dtype::f64}) {
    nn::adam optimizer({.weight_decay = 0.1});
    list p{tutti::ones({2, 3}, type), tutti::ones({}, type)};
    p = optimizer.step(p, p);
    const dtype wide = type == dtype::f16 ? dtype::f32 : type;
    for (const array& a : optimizer.state()) BOOST_TEST((a.dtype() == wide));
    BOOST_TEST((p[0].dtype() == type));
    BOOST_TEST((p[0].shape() == tutti::shape{2, 3}));
    BOOST_TEST((p[1].shape() == tutti::shape{}));
  }
}

// An f16 has no 1e-8, and the square of 1e-4 is 0 there: neither 0 / 0 nor a division by 0.
BOOST_AUTO_TEST_CASE(adam_of_halves_computes_in_f32) {
  for (const dtype type : {dtype::f16, dtype::bf16}) {
    nn::adam optimizer({.learning_rate = 0.125});
    const list p = {array::from<float>({1, 1, 1}).astype(type)};
    const array g = array::from<float>({0, 1e-4f, -1e-4f}).astype(type);
    const auto got = optimizer.step(p, {g})[0];
    BOOST_TEST((got.dtype() == type));
    BOOST_TEST(all_close(got.astype(dtype::f32).to_vector<float>(), {1, 0.875f, 1.125f},
                         {.relative = 2e-3, .absolute = 0}));
  }
}

// A schedule of learning rates, and the bias correction, are arguments of the same program.
BOOST_AUTO_TEST_CASE(steps_compile_once) {
  nn::adam adam({.weight_decay = 0.01});
  nn::sgd sgd({.momentum = 0.9, .nesterov = true});
  list p{tutti::ones({31, 17}), tutti::ones({23})}, q = p;
  std::uint64_t compiles = 0, hits = 0;
  for (int step = 0; step < 12; ++step) {
    adam.options.learning_rate = sgd.options.learning_rate = 0.1 / (step + 1);
    const list g{array::from(random_vector<float>(31 * 17, -1, 1), {31, 17}),
                 array::from(random_vector<float>(23, -1, 1))};
    p = adam.step(p, g);
    q = sgd.step(q, g);
    list all = p;
    for (const list* more : {&std::as_const(q), &adam.state(), &sgd.state()}) {
      all.insert(all.end(), more->begin(), more->end());
    }
    tutti::eval(all);
    if (step == 1) {
      compiles = tutti::stats().compiles;
      hits = tutti::stats().disk_cache_hits;
    }
  }
  for (const array& a : p) a.wait();
  BOOST_TEST(tutti::stats().compiles == compiles);
  BOOST_TEST(tutti::stats().disk_cache_hits == hits);
}

// Moments, parameter and nothing else: one launch for each parameter.
BOOST_AUTO_TEST_CASE(one_launch_updates_one_parameter) {
  nn::adam adam;
  list p{tutti::ones({1000})};
  const list g{array::from(random_vector<float>(1000, -1, 1))};
  std::uint64_t before = 0;
  for (int step = 0; step < 3; ++step) {
    before = tutti::stats().launches;
    p = adam.step(p, g);
    list all = p;
    all.insert(all.end(), adam.state().begin(), adam.state().end());
    tutti::eval(all);
  }
  BOOST_TEST(tutti::stats().launches - before == 1u);
}

BOOST_AUTO_TEST_CASE(optimisers_refuse_wrong_use) {
  FAILS(value_error, nn::sgd({.learning_rate = -1}), "learning_rate = -1");
  FAILS(value_error, nn::sgd({.momentum = 1}), "momentum = 1");
  FAILS(value_error, nn::sgd({.nesterov = true}), "needs momentum");
  FAILS(value_error, nn::adam({.beta1 = 1}), "beta1 = 1");
  FAILS(value_error, nn::adam({.beta2 = -0.5}), "beta2 = -0.5");
  FAILS(value_error, nn::adam({.epsilon = NAN}), "epsilon = nan");
  nn::adam adam;
  const array a = tutti::ones({3}), b = tutti::ones({4});
  FAILS(value_error, adam.step({a}, {}), "1 parameters but 0 gradients");
  FAILS(shape_error, adam.step({a}, {b}), "shape [3], its gradient [4]");
  adam.step({a}, {a});
  FAILS(value_error, adam.step({a, a}, {a, a}), "state of 1");
  FAILS(shape_error, adam.step({b}, {b}), "its state [3]");
}

BOOST_AUTO_TEST_CASE(an_empty_state_starts_anew) {
  const list p{tutti::ones({3})};
  nn::adam used, fresh;
  used.step(p, p);
  used.load_state({}, 0);
  BOOST_TEST(used.steps() == 0);
  BOOST_TEST(used.state().empty());
  BOOST_TEST(used.step(p, p)[0].to_vector<float>() == fresh.step(p, p)[0].to_vector<float>());
}

BOOST_AUTO_TEST_CASE(state_that_cannot_be_is_refused) {
  const array a = tutti::ones({3}), b = tutti::ones({4}), wide = tutti::ones({3}, dtype::f64);
  const auto refuses = [&]<class E>(const E&, list state, std::int64_t steps, const char* text) {
    nn::adam adam;
    adam.load_state(list{a, a}, 7);
    BOOST_TEST(fails<E>([&] { adam.load_state(state, steps); }, text));
    BOOST_TEST(adam.steps() == 7);  // nothing has changed
  };
  const tutti::value_error value("");
  refuses(value, {a, a}, -1, "adam::load_state: -1 steps");
  refuses(value, {a, a}, std::numeric_limits<std::int64_t>::max(),
          "adam::load_state: 9223372036854775807 steps, expected 0 to 9007199254740992");
  refuses(value, {a, a}, 0, "2 arrays after 0 steps");
  refuses(value, {}, 3, "0 arrays after 3 steps");
  refuses(value, {a, a, a}, 1, "3 arrays, but each parameter has two moments");
  refuses(value, {a, array()}, 1, "state 1 is an array without a value");
  refuses(tutti::shape_error(""), {a, b}, 1, "parameter 0 have shapes [3] and [4]");
  refuses(tutti::dtype_error(""), {a, wide}, 1, "parameter 0 are f32 and f64");
  refuses(tutti::dtype_error(""), {a, tutti::arange(3)}, 1, "state 1 is i32, not floating");

  nn::sgd still, moving({.momentum = 0.5});
  FAILS(value_error, still.load_state(list{a}), "1 velocities, but momentum is 0");
  const auto after_loading = [&](const list& state) {
    moving.load_state(state);
    moving.step({a}, {a});
  };
  FAILS(value_error, after_loading({a, a}), "1 parameters, but state of 2");
  FAILS(shape_error, after_loading({b}), "shape [3], its state [4]");
  FAILS(dtype_error, after_loading({wide}), "parameter 0 is f32, its state f64");
}

BOOST_AUTO_TEST_SUITE_END()
