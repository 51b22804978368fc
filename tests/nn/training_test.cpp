// SPDX-License-Identifier: Apache-2.0
//
// What stands around a training step: gradients of layers with state, accumulation, clipping,
// averages, groups; the state of optimisers; and whether networks learn what only they can.
#include "networks.hpp"

namespace training_test {

namespace {

const tolerance tight{.relative = 1e-12, .absolute = 1e-14};

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_and_state_of_one_pass) {
  const nn::layer net =
      nn::sequential({nn::linear(3, 4, {1}, {}, dtype::f64), nn::batch_norm(4, {}, dtype::f64)});
  const array x = upload_as<double>(random_dense({6, 3}, -1, 1));
  const auto loss = [](const array& y) { return tutti::mean(tutti::square(y - 1.0)); };
  const nn::training_result r =
      nn::loss_and_gradients(net, net.parameters(), net.state(), x, nn::training({1}), loss);
  const auto expected = tutti::value_and_grad([&](const list& p) {
    return loss(net.apply(p, net.state(), x, nn::training({1})).value);
  })(net.parameters());
  BOOST_TEST(r.loss.item() == expected.first.item());
  for (std::size_t i = 0; i < r.gradients.size(); ++i)
    BOOST_TEST(matches(r.gradients[i], read(expected.second[i]), tight));
  const nn::applied plain = net.apply(net.parameters(), net.state(), x, nn::training({1}));
  BOOST_TEST(matches(r.output, read(plain.value), tight));
  BOOST_TEST(matches(r.state[0], read(plain.state[0]), tight));
  BOOST_TEST(r.state.size() == 2u);
  FAILS(value_error, nn::loss_and_gradients(net, net.parameters(), net.state(), x, {}, {}),
        "the loss is empty");
}

BOOST_AUTO_TEST_CASE(small_batches_add_up_to_a_large_one) {
  const nn::layer net = nn::linear(3, 2, {1}, {}, dtype::f64);
  const array x = upload_as<double>(random_dense({7, 3}, -1, 1));
  const auto gradients = [&](const array& rows) {
    return tutti::grad([&](const list& p) {
      return tutti::mean(tutti::square(net.apply(p, rows)));
    })(net.parameters());
  };
  nn::gradient_accumulator sum;
  FAILS(value_error, sum.mean(), "nothing was added");
  for (const auto& [from, to] : {std::pair{0, 3}, {3, 5}, {5, 7}})
    sum.add(gradients(x({{from, to}})), to - from);
  const list whole = gradients(x), mean = sum.mean();
  for (std::size_t i = 0; i < whole.size(); ++i)
    BOOST_TEST(matches(mean[i], read(whole[i]), tight));
  FAILS(value_error, sum.add({x}), "1 arrays, but 2 before");
  FAILS(value_error, sum.add(whole, 0), "weight = 0");
  sum.clear();
  sum.add({x});
  BOOST_TEST(sum.sums().size() == 1u);
}

BOOST_AUTO_TEST_CASE(clipping) {
  const list g{array::from<double>({3, 0}), array::from<double>({{4}})};
  const nn::clipped_gradients half = nn::clip_by_norm(g, 2.5);
  BOOST_TEST(half.norm.item() == 5);
  BOOST_TEST(half.gradients[0][0].item() == 1.5);
  BOOST_TEST(half.gradients[1].item() == 2);
  BOOST_TEST(nn::clip_by_norm(g, 10).gradients[1].item() == 4);
  const list zero{tutti::zeros({2})};
  BOOST_TEST(tutti::all(nn::clip_by_norm(zero, 1).gradients[0] == 0).item<bool>());
  const list broken{array::from<float>({INFINITY, 1})};
  BOOST_TEST(std::isnan(nn::clip_by_norm(broken, 1).gradients[0][1].item()));
  // Squares that an f16 does not hold.
  const list large{tutti::full({4}, 1000, dtype::f16)};
  BOOST_TEST(nn::clip_by_norm(large, 1).norm.item() == 2000);
  BOOST_TEST((nn::clip_by_norm(large, 1).gradients[0].dtype() == dtype::f16));
  // A factor of which an f16 would keep five bits.
  const list steep{array::from<float>({1000, 2000}).astype(dtype::f16)};
  BOOST_TEST(matches(nn::clip_by_norm(steep, 0.007).gradients[0].astype(dtype::f64),
                     read(array::from<double>({0.007 / std::sqrt(5.0), 0.014 / std::sqrt(5.0)})),
                     {.relative = 0x1p-11}));
  BOOST_TEST(nn::clip_by_value(g, 3.5)[1].item() == 3.5);
  FAILS(value_error, nn::clip_by_norm(g, 0), "most = 0");
  FAILS(value_error, nn::clip_by_norm({}, 1), "no gradients");
  FAILS(dtype_error, nn::clip_by_norm({tutti::arange(3)}, 1), "got i32");
}

BOOST_AUTO_TEST_CASE(averages_have_no_bias) {
  nn::exponential_average average(0.5);
  FAILS(value_error, average.parameters(), "no updates");
  average.update({array::from<double>({4})});
  BOOST_TEST(average.parameters()[0].item() == 4);
  average.update({array::from<double>({1})});
  // (4 / 4 + 1 / 2) / (3 / 4)
  BOOST_TEST(average.parameters()[0].item() == 2);
  nn::exponential_average again(0.5);
  again.load_state(average.state(), average.updates());
  for (nn::exponential_average* a : {&average, &again}) a->update({array::from<double>({8})});
  BOOST_TEST(again.parameters()[0].item() == average.parameters()[0].item());
  nn::exponential_average halves;
  halves.update({tutti::ones({2}, dtype::f16)});
  BOOST_TEST((halves.state()[0].dtype() == dtype::f32));
  BOOST_TEST((halves.parameters()[0].dtype() == dtype::f16));
  FAILS(value_error, again.load_state({}, 3), "0 arrays after 3");
}

BOOST_AUTO_TEST_CASE(groups_have_options_of_their_own) {
  const nn::sequential net = nn::perceptron({2, 3, 1}, {1}, tutti::relu, {}, dtype::f64);
  const auto is_bias = [](const std::string& name) { return name.ends_with("bias"); };
  const auto biases = nn::places_of(net.names(), is_bias);
  const auto weights =
      nn::places_of(net.names(), [&](const std::string& n) { return !is_bias(n); });
  nn::grouped<nn::sgd> both({{weights, nn::sgd({.learning_rate = 0.5, .momentum = 0.5})},
                             {biases, nn::sgd({.learning_rate = 0.25})}});
  const list p = net.parameters();
  list slopes;
  for (const array& a : p) slopes.push_back(tutti::ones_like(a));
  const list next = both.step(p, slopes);
  for (std::size_t i = 0; i < 4; ++i) {
    const double moved = tutti::max(tutti::abs(p[i] - next[i])).item();
    BOOST_TEST(std::abs(moved - (i % 2 == 0 ? 0.5 : 0.25)) < 1e-15);
  }
  BOOST_TEST(both.state().size() == 2u);
  nn::grouped<nn::sgd> some({{biases, nn::sgd()}});
  FAILS(value_error, some.step(p, slopes), "parameter 0 is in 0 groups");
}

BOOST_AUTO_TEST_CASE(state_of_optimisers) {
  const auto goes_on = [](auto&& used, auto&& fresh) {
    list p{upload_as<double>(random_dense({9}, -1, 1))}, q;
    const auto gradient = [](int i) { return upload_as<double>(random_dense({9}, -1, 1, i)); };
    for (int i = 0; i < 3; ++i) p = used.step(p, {gradient(i)});
    if constexpr (requires { used.steps(); })
      fresh.load_state(used.state(), used.steps());
    else
      fresh.load_state(used.state());
    q = p;
    for (int i = 3; i < 5; ++i) {
      p = used.step(p, {gradient(i)});
      q = fresh.step(q, {gradient(i)});
    }
    BOOST_TEST(tutti::all(p[0] == q[0]).item<bool>());
    for (std::size_t i = 0; i < used.state().size(); ++i)
      BOOST_TEST(matches(fresh.state()[i], read(used.state()[i])));
  };
  goes_on(nn::adam({.weight_decay = 0.01}), nn::adam({.weight_decay = 0.01}));
  goes_on(nn::sgd({.momentum = 0.9, .nesterov = true}),
          nn::sgd({.momentum = 0.9, .nesterov = true}));
  const auto check = [&](auto used, auto fresh) {
    goes_on(used, fresh);
    FAILS(shape_error, used.step({tutti::ones({3})}, {tutti::ones({4})}), "its gradient [4]");
    FAILS(dtype_error, fresh.load_state(list(used.state().size(), tutti::arange(3))),
          "not floating");
    list half{tutti::ones({2}, dtype::f16)};
    fresh.load_state({});
    half = fresh.step(half, half);
    BOOST_TEST((half[0].dtype() == dtype::f16));
    BOOST_TEST((fresh.state()[0].dtype() == dtype::f32));
  };
  check(nn::rmsprop({.momentum = 0.5, .centered = true}),
        nn::rmsprop({.momentum = 0.5, .centered = true}));
  check(nn::adagrad(), nn::adagrad());
  check(nn::lion({.weight_decay = 0.1}), nn::lion({.weight_decay = 0.1}));
  nn::rmsprop three({.momentum = 0.5, .centered = true});
  FAILS(value_error, three.load_state(list(2, tutti::ones({2}))),
        "2 arrays, but each parameter has 3");
  FAILS(value_error, nn::lion({.beta1 = 1}), "beta1 = 1");
  FAILS(value_error, nn::adagrad({.initial = -1}), "initial = -1");
  FAILS(value_error, nn::rmsprop({.decay = 1}), "decay = 1");
}

// Which of the first two numbers of eight was the larger.
BOOST_AUTO_TEST_CASE(a_recurrent_network_remembers) {
  const nn::layer net = nn::sequential({nn::gru(1, 8, {1}, {.last = true}), nn::linear(8, 2, {2})});
  const array x = tutti::random::uniform({3}, {32, 8, 1}, -1, 1);
  const array labels = (x({{}, 0, 0}) > x({{}, 1, 0})).astype(dtype::i32);
  tutti::eval(x, labels);
  list p = net.parameters();
  nn::adam optimizer({.learning_rate = 0.03});
  for (int i = 0; i < 60; ++i) {
    const auto gradients =
        tutti::grad([&](const list& q) { return nn::cross_entropy(net.apply(q, x), labels); })(p);
    p = optimizer.step(p, nn::clip_by_norm(gradients, 1).gradients);
    tutti::eval(p, optimizer.state());
  }
  BOOST_TEST(nn::accuracy(net.apply(p, x), labels).item() > 0.9);
}

// Rows or columns in stripes, by convolutions with what keeps state, adds and drops.
BOOST_AUTO_TEST_CASE(a_network_with_state_trains) {
  const nn::layer net = nn::sequential(
      {nn::conv2d(1, 4, 3, {1}, {.padding = 1}), nn::batch_norm(4), nn::activate(tutti::relu),
       nn::residual(nn::sequential({nn::conv2d(4, 4, 3, {2}, {.padding = 1}), nn::batch_norm(4)})),
       nn::global_avg_pool(), nn::dropout(0.1), nn::linear(4, 2, {3})});
  const array labels = tutti::random::bernoulli({4}, {32}).astype(dtype::i32);
  const array noise = tutti::random::normal({5}, {32, 1, 6, 6}, 0, 0.3);
  const array stripes = (tutti::arange(6) % 2).astype(dtype::f32);
  const array is_one = (labels == 1).reshape({32, 1, 1, 1});
  const array x = noise + tutti::where(is_one, stripes.reshape({6, 1}), stripes);
  tutti::eval(x, labels);
  list p = net.parameters(), state = net.state();
  nn::adam optimizer({.learning_rate = 0.02});
  const auto keys = tutti::random::split({6}, 40);
  for (const tutti::random::key& key : keys) {
    const nn::training_result r =
        nn::loss_and_gradients(net, p, state, x, nn::training(key),
                               [&](const array& y) { return nn::cross_entropy(y, labels); });
    p = optimizer.step(p, r.gradients);
    state = r.state;
    tutti::eval(p, optimizer.state(), state, r.loss);
  }
  BOOST_TEST(nn::accuracy(net.apply(p, state, x).value, labels).item() > 0.9);
}

}  // namespace training_test
